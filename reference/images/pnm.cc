// Portable bitmaps, graymaps and pixmaps: a few numbers as text, then samples as text or as bytes.
#include <algorithm>
#include <cctype>

#include "reference/images/images.h"

namespace touchstone {
namespace {

struct Damaged {};

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}

  std::uint8_t byte() {
    if (at_ >= file_.size()) throw Damaged{};
    return file_[at_++];
  }
  // Reads a number as text, after comments and white space.
  Index number(Index most) {
    skip();
    Index value = 0;
    bool any = false;
    while (at_ < file_.size() && std::isdigit(file_[at_]) != 0) {
      value = value * 10 + (file_[at_++] - '0'), any = true;
      if (value > most) throw Damaged{};
    }
    if (!any) throw Damaged{};
    return value;
  }
  Index left() const { return static_cast<Index>(file_.size() - at_); }
  // Reads a bit as text: no white space is needed between bits.
  Index digit() {
    skip();
    const std::uint8_t c = byte();
    if (c != '0' && c != '1') throw Damaged{};
    return c - '0';
  }

 private:
  void skip() {
    for (; at_ < file_.size(); ++at_) {
      if (file_[at_] == '#')
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      else if (std::isspace(file_[at_]) == 0)
        return;
    }
  }

  Bytes file_;
  std::size_t at_ = 2;
};

Image read(Bytes file) {
  constexpr Index max_size = Index{1} << 31;
  const int kind = file[1] - '0';  // bits, grays, colors as text, then the same as bytes
  const bool as_text = kind <= 3, bits = kind % 3 == 1, colours = kind % 3 == 0;
  Reader reader(file);
  const Index width = reader.number(max_size), height = reader.number(max_size),
              most = bits ? 1 : reader.number(65535);
  if (width == 0 || height == 0 || most == 0) throw Damaged{};
  if (!as_text && std::isspace(reader.byte()) == 0) throw Damaged{};
  // As text a sample takes a digit and, except for bits, a separator.
  const Index samples = width * (colours ? 3 : 1),
              row = bits ? (as_text ? width : (width + 7) / 8)
                         : samples * (as_text || most > 255 ? 2 : 1);
  if (height > (reader.left() + 1) / row) throw Damaged{};
  Image image(height, width);
  const auto sample = [&]() -> std::uint8_t {
    Index value = as_text ? reader.number(most) : reader.byte();
    if (!as_text && most > 255) value = value * 256 + reader.byte();
    return static_cast<std::uint8_t>((std::min(value, most) * 255 + most / 2) / most);
  };
  for (Index y = 0; y < height; ++y) {
    std::uint8_t* out = image.row(y);
    std::uint8_t packed = 0;
    for (Index x = 0; x < width; ++x, out += 3) {
      if (bits) {
        if (!as_text && x % 8 == 0) packed = reader.byte();
        const bool black = as_text ? reader.digit() == 1 : (packed >> (7 - x % 8) & 1) != 0;
        std::fill_n(out, 3, static_cast<std::uint8_t>(black ? 0 : 255));
      } else if (colours) {
        for (int c = 0; c < 3; ++c) out[c] = sample();
      } else {
        std::fill_n(out, 3, sample());
      }
    }
  }
  return image;
}

}  // namespace

std::optional<Image> decode_pnm(Bytes file) {
  try {
    return read(file);
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

}  // namespace touchstone
