// Image files: bytes in, red, green and blue out. Each format is read by the library that everybody
// reads it by, where Debian has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/budget.h"

namespace touchstone {

using Bytes = std::span<const std::uint8_t>;

struct Image {
  Index height = 0, width = 0;
  Charge charge;
  std::vector<std::uint8_t> rgb;  // row by row, three bytes a pixel

  Image() = default;
  // Black. `decoder`: bytes a pixel that a decoder takes beside it while it works. Throws Error
  // (limit) where the size passes a limit, before anything is allocated.
  Image(Index height, Index width, Index decoder = 0);
  std::uint8_t* row(Index y) { return rgb.data() + y * width * 3; }
};

// None where the bytes are no image of a known format, or a damaged one. Throws Error: unsupported
// for an image that is sound but of a kind that is not read here, limit for one that is too large.
std::optional<Image> decode_image(Bytes file);

// One format each; called where the file begins as that format does.
std::optional<Image> decode_bmp(Bytes file);
std::optional<Image> decode_jpeg(Bytes file);
std::optional<Image> decode_jpeg2000(Bytes file);
std::optional<Image> decode_png(Bytes file);
std::optional<Image> decode_pnm(Bytes file);
std::optional<Image> decode_tiff(Bytes file);
std::optional<Image> decode_webp(Bytes file);

}  // namespace touchstone
