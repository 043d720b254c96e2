// FIPS 180-4, section 6.1, over a file in chunks.
#include "core/sha1.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace touchstone {
namespace {

constexpr std::size_t block_bytes = 64;

class Sha1 {
 public:
  void add_block(const std::byte* block) {
    std::array<std::uint32_t, 80> w;
    for (std::size_t t = 0; t < 16; ++t) {
      w[t] = 0;
      for (std::size_t k = 0; k < 4; ++k)
        w[t] = w[t] << 8 | std::to_integer<std::uint32_t>(block[4 * t + k]);
    }
    for (std::size_t t = 16; t < 80; ++t)
      w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    auto [a, b, c, d, e] = state_;
    for (std::size_t t = 0; t < 80; ++t) {
      const auto [f, k] = round(t, b, c, d);
      const std::uint32_t next = sum(std::rotl(a, 5), f, e, k, w[t]);
      e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    const std::array<std::uint32_t, 5> made{a, b, c, d, e};
    for (std::size_t k = 0; k < 5; ++k) state_[k] = sum(state_[k], made[k]);
  }

  std::string text() const {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const std::uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) out += digits[word >> shift & 15];
    }
    return out;
  }

 private:
  // Addition modulo 2^32, as in FIPS 180-4.
  template <class... Words>
  static std::uint32_t sum(Words... words) {
    return static_cast<std::uint32_t>((std::uint64_t{words} + ...));
  }
  static std::pair<std::uint32_t, std::uint32_t> round(std::size_t t, std::uint32_t b,
                                                       std::uint32_t c, std::uint32_t d) {
    if (t < 20) return {(b & c) | (~b & d), 0x5a827999};
    if (t < 40) return {b ^ c ^ d, 0x6ed9eba1};
    if (t < 60) return {(b & c) | (b & d) | (c & d), 0x8f1bbcdc};
    return {b ^ c ^ d, 0xca62c1d6};
  }

  std::array<std::uint32_t, 5> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

}  // namespace

std::string sha1(const OpenFile& file) {
  constexpr Index piece = Index{1} << 20;  // a multiple of a block
  Sha1 digest;
  std::vector<std::byte> bytes;
  for (Index at = 0;; at += piece) {
    const Index here = std::min(piece, file.size() - at);
    bytes.resize(static_cast<std::size_t>(here));
    file.read_into(at, bytes);
    const bool is_last = here < piece;
    if (is_last) {  // Padding: a one, zeros, and the number of bits
      bytes.push_back(std::byte{0x80});
      while (bytes.size() % block_bytes != block_bytes - 8) bytes.push_back(std::byte{0});
      const auto bits = 8 * static_cast<std::uint64_t>(file.size());
      for (int shift = 56; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<std::byte>(bits >> shift & 255));
    }
    for (std::size_t k = 0; k < bytes.size(); k += block_bytes) digest.add_block(&bytes[k]);
    if (is_last) return digest.text();
  }
}

}  // namespace touchstone
