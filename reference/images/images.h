// Decodes image files to RGB bytes. Each format uses its most common library, if Debian packages
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/budget.h"

namespace touchstone {

using Bytes = std::span<const std::uint8_t>;

// An RGB image of 8 bits per channel.
struct Image {
  Index height = 0, width = 0;
  Charge charge;
  std::vector<std::uint8_t> rgb;  // row by row, three bytes per pixel

  Image() = default;
  // A black image. `decoder`: further bytes per pixel that the decoder uses while it runs. Throws
  // Error (limit) if the size exceeds a limit, before anything is allocated.
  Image(Index height, Index width, Index decoder = 0);
  std::uint8_t* row(Index y) { return rgb.data() + y * width * 3; }
};

// Returns nothing if the bytes are no image of a known format, or a damaged one. Throws Error:
// unsupported for a valid image of an unsupported kind, limit for one that is too large.
std::optional<Image> decode_image(Bytes file);

// Decoder of one format each, called if the file starts with that format's signature.
std::optional<Image> decode_bmp(Bytes file);
std::optional<Image> decode_jpeg(Bytes file);
std::optional<Image> decode_jpeg2000(Bytes file);
std::optional<Image> decode_png(Bytes file);
std::optional<Image> decode_pnm(Bytes file);
std::optional<Image> decode_tiff(Bytes file);
std::optional<Image> decode_webp(Bytes file);

}  // namespace touchstone
