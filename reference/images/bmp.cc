// Windows bitmaps: palettes of 1, 4 and 8 bits, colors of 16, 24 and 32 bits, run lengths,
// bottom-up and top-down rows.
#include <algorithm>
#include <array>
#include <bit>

#include "core/error.h"
#include "reference/images/images.h"

namespace touchstone {
namespace {

struct Damaged {};
using Colour = std::array<std::uint8_t, 3>;
enum Compression : std::uint32_t {
  plain = 0,
  runs_of_8 = 1,
  runs_of_4 = 2,
  fields = 3,
  fields_with_alpha = 6
};

class Bitmap {
 public:
  explicit Bitmap(Bytes file) : file_(file) {
    const std::uint32_t header = u32(14);
    const bool old = header == 12;  // OS/2: sizes of 16 bits
    if (!old && header < 40) throw Damaged{};
    width_ = old ? u16(18) : static_cast<std::int32_t>(u32(18));
    height_ = old ? u16(20) : static_cast<std::int32_t>(u32(22));
    down_ = height_ < 0;
    if (down_) height_ = -height_;
    bits_ = u16(old ? 24 : 28);
    compression_ = old ? plain : u32(30);
    pixels_ = u32(10);
    const bool masks = compression_ == fields || compression_ == fields_with_alpha;
    if (width_ <= 0 || height_ <= 0) throw Damaged{};
    if (compression_ > fields && !masks)
      throw Error(ErrorKind::unsupported, "unsupported: a bitmap that wraps another format");
    for (std::size_t c = 0; c < 3; ++c)
      mask_[c] = masks ? u32(54 + 4 * c) : bits_ == 16 ? 0x7C00U >> 5 * c : 0xFF0000U >> 8 * c;
    if (bits_ <= 8) read_palette(14 + header, old);
  }

  Image read() {
    const bool runs = compression_ == runs_of_8 || compression_ == runs_of_4;
    if (!runs && !holds_rows()) throw Damaged{};
    Image image(height_, width_);
    if (runs) {
      if (bits_ != (compression_ == runs_of_8 ? 8 : 4)) throw Damaged{};
      read_runs(image);
      return image;
    }
    const Index stride = row_bytes();
    for (Index y = 0; y < height_; ++y) {
      for (Index x = 0; x < width_; ++x)
        put(image, x, y, colour(pixels_ + static_cast<std::size_t>(y * stride), x));
    }
    return image;
  }

 private:
  Index row_bytes() const { return (width_ * bits_ + 31) / 32 * 4; }
  // True if the file holds every row; the last need not be padded.
  bool holds_rows() const {
    const Index left = static_cast<Index>(file_.size()) - static_cast<Index>(pixels_);
    return left > 0 && height_ - 1 <= left / std::max<Index>(row_bytes(), 1) &&
           (height_ - 1) * row_bytes() + (width_ * bits_ + 7) / 8 <= left;
  }

  std::uint32_t u8(std::size_t at) const {
    if (at >= file_.size()) throw Damaged{};
    return file_[at];
  }
  std::uint32_t u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) const { return u16(at) | u16(at + 2) << 16; }

  void read_palette(std::size_t at, bool old) {
    if (bits_ != 1 && bits_ != 2 && bits_ != 4 && bits_ != 8) throw Damaged{};
    const std::uint32_t said = old ? 0 : u32(46),
                        count = said == 0 || said > 256 ? 1U << bits_ : said;
    for (std::size_t k = 0; k < count && at + 3 <= file_.size(); ++k, at += old ? 3 : 4) {
      palette_[k] = {static_cast<std::uint8_t>(u8(at + 2)), static_cast<std::uint8_t>(u8(at + 1)),
                     static_cast<std::uint8_t>(u8(at))};
    }
  }

  // Scales the bits of a mask to 8 bits.
  static std::uint8_t field(std::uint32_t pixel, std::uint32_t mask) {
    if (mask == 0) return 0;
    const std::uint64_t most = mask >> std::countr_zero(mask),
                        value = (pixel & mask) >> std::countr_zero(mask);
    return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
  }

  Colour colour(std::size_t row, Index x) const {
    const auto k = static_cast<std::size_t>(x);
    switch (bits_) {
      case 1:
      case 2:
      case 4:
      case 8: {
        const std::size_t bit = k * bits_;
        return palette_[u8(row + bit / 8) >> (8 - bits_ - bit % 8) & ((1U << bits_) - 1)];
      }
      case 24:
        return {static_cast<std::uint8_t>(u8(row + k * 3 + 2)),
                static_cast<std::uint8_t>(u8(row + k * 3 + 1)),
                static_cast<std::uint8_t>(u8(row + k * 3))};
      case 16:
      case 32: {
        const std::uint32_t pixel = bits_ == 16 ? u16(row + k * 2) : u32(row + k * 4);
        return {field(pixel, mask_[0]), field(pixel, mask_[1]), field(pixel, mask_[2])};
      }
      default:
        throw Damaged{};
    }
  }

  void put(Image& image, Index x, Index y, const Colour& colour) const {
    if (x >= width_ || y >= height_) return;
    std::copy(colour.begin(), colour.end(), image.row(down_ ? y : height_ - 1 - y) + x * 3);
  }

  // Pairs of a length and an index (or two of 4 bits); a length of 0 starts an escape.
  void read_runs(Image& image) const {
    const auto index = [&](std::uint32_t value, std::uint32_t k) {
      return compression_ == runs_of_8 ? value : k % 2 == 0 ? value >> 4 : value & 15;
    };
    Index x = 0, y = 0;
    for (std::size_t at = pixels_; y < height_;) {
      const std::uint32_t length = u8(at), second = u8(at + 1);
      at += 2;
      for (std::uint32_t k = 0; k < length; ++k) put(image, x++, y, palette_[index(second, k)]);
      if (length > 0) continue;
      if (second == 1) return;
      if (second == 0) {
        x = 0, ++y;
      } else if (second == 2) {
        x += u8(at), y += u8(at + 1);
        at += 2;
      } else {
        // Literal indices, padded to an even number of bytes.
        const bool wide = compression_ == runs_of_8;
        for (std::uint32_t k = 0; k < second; ++k)
          put(image, x++, y, palette_[index(u8(at + (wide ? k : k / 2)), k)]);
        at += ((wide ? second : (second + 1) / 2) + 1) / 2 * 2;
      }
    }
  }

  Bytes file_;
  Index width_ = 0, height_ = 0;
  std::uint32_t bits_ = 0, compression_ = plain;
  bool down_ = false;
  std::size_t pixels_ = 0;
  std::array<std::uint32_t, 3> mask_{};
  std::array<Colour, 256> palette_{};
};

}  // namespace

std::optional<Image> decode_bmp(Bytes file) {
  try {
    return Bitmap(file).read();
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

}  // namespace touchstone
