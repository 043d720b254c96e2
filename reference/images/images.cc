// Detects an image file's format by its first bytes.
#include "reference/images/images.h"

#include <algorithm>
#include <string_view>

#include "core/checked.h"
#include "core/error.h"
#include "core/limits.h"

namespace touchstone {
namespace {

bool holds(Bytes file, std::size_t at, std::string_view text) {
  return file.size() >= at + text.size() &&
         std::equal(text.begin(), text.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

}  // namespace

Image::Image(Index height, Index width, Index decoder)
    : height(height),
      width(width),
      charge(check_size(Type::uint8, Shape{height, width, 3}, current_limits()) +
             (Checked(height) * width * decoder).value()) {
  charge_work(height * width);
  rgb.resize(static_cast<std::size_t>(height * width * 3));
}

std::optional<Image> decode_image(Bytes file) {
  using namespace std::string_view_literals;
  if (holds(file, 0, "BM")) return decode_bmp(file);
  if (holds(file, 0, "\xff\xd8\xff")) return decode_jpeg(file);
  if (holds(file, 0, "\xff\x4f\xff\x51") || holds(file, 0, "\0\0\0\x0cjP  \r\n\x87\n"sv))
    return decode_jpeg2000(file);
  if (holds(file, 0, "\x89PNG\r\n\x1a\n")) return decode_png(file);
  if (holds(file, 0, "II*\0"sv) || holds(file, 0, "MM\0*"sv) || holds(file, 0, "II+\0"sv) ||
      holds(file, 0, "MM\0+"sv))
    return decode_tiff(file);
  if (holds(file, 0, "RIFF") && holds(file, 8, "WEBP")) return decode_webp(file);
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6')
    return decode_pnm(file);
  return std::nullopt;
}

}  // namespace touchstone
