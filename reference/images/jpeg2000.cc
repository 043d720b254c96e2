// JPEG 2000, in its file format or as a bare codestream, by OpenJPEG.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/error.h"
#include "reference/images/images.h"

namespace touchstone {
namespace {

struct Source {
  Bytes file;
  std::size_t at = 0;
};
OPJ_SIZE_T take(void* to, OPJ_SIZE_T size, void* user) {
  auto& source = *static_cast<Source*>(user);
  const std::size_t taken = std::min(size, source.file.size() - source.at);
  if (taken == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, source.file.data() + source.at, taken);
  source.at += taken;
  return taken;
}
OPJ_OFF_T skip(OPJ_OFF_T size, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (size < 0) return -1;
  const std::size_t skipped =
      std::min(static_cast<std::size_t>(size), source.file.size() - source.at);
  source.at += skipped;
  return static_cast<OPJ_OFF_T>(skipped);
}
OPJ_BOOL go_to(OPJ_OFF_T position, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (position < 0 || static_cast<std::size_t>(position) > source.file.size()) return OPJ_FALSE;
  source.at = static_cast<std::size_t>(position);
  return OPJ_TRUE;
}

template <class T, void (*release)(T*)>
struct Releaser {
  void operator()(T* held) const { release(held); }
};
using Stream = std::unique_ptr<opj_stream_t, Releaser<opj_stream_t, opj_stream_destroy>>;
using Codec = std::unique_ptr<opj_codec_t, Releaser<opj_codec_t, opj_destroy_codec>>;
using Decoded = std::unique_ptr<opj_image_t, Releaser<opj_image_t, opj_image_destroy>>;

// A sample as 8 bits.
std::uint8_t sample(const opj_image_comp_t& part, std::size_t k) {
  const std::int64_t most = (std::int64_t{1} << part.prec) - 1;
  const std::int64_t value =
      part.data[k] + (part.sgnd != 0 ? std::int64_t{1} << (part.prec - 1) : 0);
  return static_cast<std::uint8_t>((std::clamp<std::int64_t>(value, 0, most) * 255 + most / 2) /
                                   most);
}

bool is_alike(const opj_image_comp_t& a, const opj_image_comp_t& b) {
  return a.w == b.w && a.h == b.h && b.data != nullptr;
}

}  // namespace

std::optional<Image> decode_jpeg2000(Bytes file) {
  Source source{file};
  const Stream stream(opj_stream_default_create(OPJ_TRUE));
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), take);
  opj_stream_set_skip_function(stream.get(), skip);
  opj_stream_set_seek_function(stream.get(), go_to);
  const Codec codec(opj_create_decompress(file[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE) return std::nullopt;
  opj_image_t* header = nullptr;
  const bool begun = opj_read_header(stream.get(), codec.get(), &header) != OPJ_FALSE;
  const Decoded decoded(header);
  if (!begun || decoded->numcomps == 0 || decoded->x1 <= decoded->x0 || decoded->y1 <= decoded->y0)
    return std::nullopt;
  Image image(Index{decoded->y1} - decoded->y0,
              Index{decoded->x1} - decoded->x0);  // before the codec takes as much
  if (opj_decode(codec.get(), stream.get(), decoded.get()) == OPJ_FALSE ||
      opj_end_decompress(codec.get(), stream.get()) == OPJ_FALSE)
    return std::nullopt;
  const opj_image_comp_t* parts = decoded->comps;
  const std::size_t colours = decoded->numcomps < 3 ? 1 : 3;
  const bool same = std::all_of(parts, parts + colours, [&](const opj_image_comp_t& part) {
    return is_alike(parts[0], part) && part.prec >= 1 && part.prec <= 31;
  });
  if (!same || decoded->color_space == OPJ_CLRSPC_SYCC || decoded->color_space == OPJ_CLRSPC_EYCC ||
      decoded->color_space == OPJ_CLRSPC_CMYK) {
    throw Error(ErrorKind::unsupported,
                "unsupported: a JPEG 2000 image whose parts are not red, green and blue or gray of "
                "one size");
  }
  if (Index{parts[0].h} != image.height || Index{parts[0].w} != image.width) return std::nullopt;
  for (std::size_t k = 0; k < image.rgb.size(); ++k)
    image.rgb[k] = sample(parts[colours == 1 ? 0 : k % 3], k / 3);
  return image;
}

}  // namespace touchstone
