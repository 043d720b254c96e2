// JPEG by libjpeg-turbo, with the exact integer transform and smooth chroma upsampling that the
// standard requires.
#include <csetjmp>
#include <cstdio>
// jpeglib.h needs the headers above.
#include <jpeglib.h>

#include "reference/images/images.h"

namespace touchstone {
namespace {

// The library reports failure by a longjmp over its own C frames; no frame of ours with a
// destructor is in between.
struct Failure {
  jpeg_error_mgr base;
  std::jmp_buf back;
};

void fail(j_common_ptr info) { std::longjmp(reinterpret_cast<Failure*>(info->err)->back, 1); }
void ignore(j_common_ptr) {}
// A warning (a level below 0) means damaged data.
void judge(j_common_ptr info, int level) {
  if (level < 0) fail(info);
}

bool read_header(jpeg_decompress_struct& info, Failure& failure, Bytes file) {
  if (setjmp(failure.back) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  if (jpeg_read_header(&info, TRUE) != JPEG_HEADER_OK) return false;
  info.out_color_space = info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  return true;
}

bool read_rows(jpeg_decompress_struct& info, Failure& failure, std::uint8_t* rows,
               std::size_t stride) {
  if (setjmp(failure.back) != 0) return false;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = rows + info.output_scanline * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

// Bytes per pixel that the library holds for a progressive image and for CMYK.
constexpr Index coefficients = 12;

// Converts CMYK, which Adobe's programs store inverted.
void mix_inks(const std::vector<std::uint8_t>& inks, bool inverted, Image& image) {
  for (std::size_t k = 0; k < image.rgb.size() / 3; ++k) {
    const auto light = [&](std::size_t ink) {
      return inverted ? inks[k * 4 + ink] : 255 - inks[k * 4 + ink];
    };
    for (std::size_t c = 0; c < 3; ++c)
      image.rgb[k * 3 + c] = static_cast<std::uint8_t>((light(c) * light(3) + 127) / 255);
  }
}

}  // namespace

std::optional<Image> decode_jpeg(Bytes file) {
  jpeg_decompress_struct info{};
  Failure failure{};
  info.err = jpeg_std_error(&failure.base);
  failure.base.error_exit = fail;
  failure.base.emit_message = judge;
  failure.base.output_message = ignore;
  const struct Release {
    jpeg_decompress_struct& info;
    ~Release() { jpeg_destroy_decompress(&info); }
  } release{info};
  if (!read_header(info, failure, file)) return std::nullopt;
  Image image(static_cast<Index>(info.image_height), static_cast<Index>(info.image_width),
              coefficients);
  if (info.num_components != 4) {
    return read_rows(info, failure, image.rgb.data(), static_cast<std::size_t>(image.width) * 3)
               ? std::optional(std::move(image))
               : std::nullopt;
  }
  std::vector<std::uint8_t> inks(image.rgb.size() / 3 * 4);
  if (!read_rows(info, failure, inks.data(), static_cast<std::size_t>(image.width) * 4))
    return std::nullopt;
  mix_inks(inks, info.saw_Adobe_marker != 0, image);
  return image;
}

}  // namespace touchstone
