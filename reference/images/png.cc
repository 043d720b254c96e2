// PNG by libpng: palettes and grays become RGB, 16 bits are truncated to 8, transparency and gamma
// are ignored.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "reference/images/images.h"

namespace touchstone {
namespace {

struct Source {
  Bytes file;
  std::size_t at = 0;
};

void take(png_structp png, png_bytep to, std::size_t size) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (size > source.file.size() - source.at) png_error(png, "the file ends");
  std::memcpy(to, source.file.data() + source.at, size);
  source.at += size;
}
[[noreturn]] void fail(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void ignore(png_structp, png_const_charp) {}

bool read_header(png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  png_set_gray_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  return png_get_rowbytes(png, info) == std::size_t{png_get_image_width(png, info)} * 3;
}

bool read_rows(png_structp png, png_bytep* rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

std::optional<Image> decode_png(Bytes file) {
  Source source{file};
  struct Reader {
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, ignore);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  } reader;
  if (!reader.info) return std::nullopt;
  png_set_read_fn(reader.png, &source, take);
  if (!read_header(reader.png, reader.info)) return std::nullopt;
  Image image(static_cast<Index>(png_get_image_height(reader.png, reader.info)),
              static_cast<Index>(png_get_image_width(reader.png, reader.info)));
  std::vector<png_bytep> rows;
  for (Index y = 0; y < image.height; ++y) rows.push_back(image.row(y));
  return read_rows(reader.png, rows.data()) ? std::optional(std::move(image)) : std::nullopt;
}

}  // namespace touchstone
