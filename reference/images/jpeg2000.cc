// JPEG 2000, in its file format or as a bare codestream, by OpenJPEG.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/checked.h"
#include "core/error.h"
#include "core/limits.h"
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

// Scales a sample to 8 bits.
std::uint8_t sample(const opj_image_comp_t& part, std::size_t k) {
  const std::int64_t most = (std::int64_t{1} << part.prec) - 1;
  const std::int64_t value =
      part.data[k] + (part.sgnd != 0 ? std::int64_t{1} << (part.prec - 1) : 0);
  return static_cast<std::uint8_t>((std::clamp<std::int64_t>(value, 0, most) * 255 + most / 2) /
                                   most);
}

// Sizes in the SIZ marker at the codestream's start.
struct Sizes {
  Index width = 0, height = 0, tiles = 0, parts = 0;
};

Index number_at(Bytes file, std::size_t at, int bytes) {
  Index number = 0;
  for (int k = 0; k < bytes; ++k, ++at) number = number * 256 + (at < file.size() ? file[at] : 0);
  return number;
}

// Offset of the codestream: the file's start, or the contents of the box jp2c.
std::size_t codestream_of(Bytes file) {
  if (file[0] == 0xff) return 0;
  constexpr Index box = 0x6a703263;  // "jp2c"
  for (std::size_t at = 0; at + 8 <= file.size();) {
    const Index length = number_at(file, at, 4);
    const std::size_t head = length == 1 ? 16 : 8;
    if (number_at(file, at + 4, 4) == box) return at + head;
    // An extended length has eight bytes, of which a file that fits in memory fills seven at most.
    if (length == 1 && number_at(file, at + 8, 1) != 0) break;
    const auto whole = static_cast<std::size_t>(length == 1 ? number_at(file, at + 9, 7) : length);
    if (whole < head || whole > file.size() - at) break;
    at += whole;
  }
  return file.size();
}

std::optional<Sizes> sizes_of(Bytes file) {
  constexpr Index max_tiles = 65535;
  const std::size_t at = codestream_of(file);
  if (number_at(file, at, 4) != 0xff4fff51) return std::nullopt;
  const auto field = [&](std::size_t k) { return number_at(file, at + 8 + 4 * k, 4); };
  const Index x1 = field(0), y1 = field(1), x0 = field(2), y0 = field(3), tile_width = field(4),
              tile_height = field(5), tile_x = field(6), tile_y = field(7);
  if (x1 <= x0 || y1 <= y0 || tile_width == 0 || tile_height == 0 || tile_x > x0 || tile_y > y0)
    return std::nullopt;
  const Index across = (x1 - tile_x + tile_width - 1) / tile_width,
              down = (y1 - tile_y + tile_height - 1) / tile_height;
  if (across > max_tiles || down > max_tiles / across) return std::nullopt;
  return Sizes{x1 - x0, y1 - y0, across * down, number_at(file, at + 40, 2)};
}

// Charges the codec's memory: each sample twice, decoded and returned, and a record per component
// of each tile.
Charge charge_codec(const Sizes& sizes) {
  constexpr Index bytes_of_sample = 8, bytes_of_part = 1200;
  check_size(Type::int32, Shape{sizes.height, sizes.width, sizes.parts}, current_limits());
  return Charge((Checked(sizes.height) * sizes.width * sizes.parts * bytes_of_sample +
                 Checked(sizes.tiles) * sizes.parts * bytes_of_part)
                    .value());
}

bool is_alike(const opj_image_comp_t& a, const opj_image_comp_t& b) {
  return a.w == b.w && a.h == b.h && b.data != nullptr;
}

}  // namespace

std::optional<Image> decode_jpeg2000(Bytes file) {
  const std::optional<Sizes> sizes = sizes_of(file);
  if (!sizes) return std::nullopt;
  const Charge charge = charge_codec(*sizes);
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
              Index{decoded->x1} - decoded->x0);  // allocated before the codec takes as much
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
