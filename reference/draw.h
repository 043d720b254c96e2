// Random draws that do not depend on machine or order: Philox 4x32-10, a counter-based generator
// (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). Draw k is a
// function of k and the key.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "reference/facts.h"

namespace touchstone {

using DrawBlock = std::array<std::uint32_t, 4>;

inline DrawBlock philox(DrawBlock counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0],
                        b = std::uint64_t{0xCD9E8D57} * counter[2];
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return counter;
}

// Random numbers of one node.
class Draws {
 public:
  // Seeds from the node's attribute `seed`, else from its position in the graph, so that repeated
  // runs of a model agree.
  explicit Draws(const Facts& facts) : key_{static_cast<std::uint32_t>(facts.node().index), 1} {
    if (!facts.given("seed")) return;
    const auto held = facts.node().attributes.at("seed").is;
    if (const auto* whole = std::get_if<Index>(&held))
      key_ = {static_cast<std::uint32_t>(*whole), static_cast<std::uint32_t>(*whole >> 32) + 2};
    else
      key_ = {std::bit_cast<std::uint32_t>(facts.number("seed")), 0};
  }

  // Uniform in [0, 1), a multiple of 2^-53.
  double even(Index k) const { return even_of(block(k), 0); }
  // Normal with mean 0 and standard deviation 1, by the Box-Muller method.
  double normal(Index k) const {
    const DrawBlock two = block(k);  // independent draws
    return std::sqrt(-2 * std::log1p(-even_of(two, 0))) *
           std::cos(2 * std::numbers::pi * even_of(two, 2));
  }

 private:
  DrawBlock block(Index k) const {
    const auto position = static_cast<std::uint64_t>(k);
    return philox(
        {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), 0, 0},
        key_);
  }
  static double even_of(const DrawBlock& block, std::size_t from) {
    const std::uint64_t bits = std::uint64_t{block[from]} << 32 | block[from + 1];
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

  std::array<std::uint32_t, 2> key_;
};

}  // namespace touchstone
