// Chooses the sizes substituted for a model's symbols: pseudo-random with a fixed seed, so that two
// symbols rarely have equal sizes.
#pragma once

#include <array>
#include <map>
#include <set>

#include "core/shape.h"

namespace touchstone {

// Sizes low, low + step ... up to high.
struct Range {
  Index low, high, step;
  const char* what;
};
inline constexpr Range size_ranges[] = {{50, 500, 1, "from 50 to 500"},
                                        {500, 4000, 1, "of 500 and more"},
                                        {128, 2048, 64, "that are multiples of 64"},
                                        {3072, 8192, 64, "that are multiples of 64 and large"}};

// Selects how symbols get their sizes.
struct Choice {
  Range range = size_ranges[0];
  std::map<std::size_t, std::size_t> same_as;  // the later symbol of a pair to the first
  std::set<std::size_t> one;                   // symbols fixed to 1
  // A symbol to the two that it is the sum of: the length of a cache and of what is new.
  std::map<std::size_t, std::array<std::size_t, 2>> sum_of;

  std::size_t stands_for(std::size_t symbol) const {
    const auto found = same_as.find(symbol);
    return found == same_as.end() ? symbol : found->second;
  }
  bool is_free(std::size_t symbol) const {
    return !same_as.contains(symbol) && !one.contains(symbol) && !sum_of.contains(symbol);
  }

  // Size of a symbol where `of_free` gives those of the free ones.
  template <class OfFree>
  Index size_by(std::size_t symbol, OfFree&& of_free) const {
    const std::size_t s = stands_for(symbol);
    if (one.contains(s)) return 1;
    if (const auto found = sum_of.find(s); found != sum_of.end())
      return size_by(found->second[0], of_free) + size_by(found->second[1], of_free);
    return of_free(s);
  }

  Index size(std::size_t symbol, std::uint64_t draw) const {
    return size_by(symbol, [&](std::size_t s) {
      std::uint64_t z = (draw * 0x100000001b3 + s + 1) * 0x9e3779b97f4a7c15;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
      z = (z ^ z >> 27) * 0x94d049bb133111eb;
      z ^= z >> 31;
      const auto count = static_cast<std::uint64_t>((range.high - range.low) / range.step + 1);
      return range.low + range.step * static_cast<Index>(z % count);
    });
  }

  // Size in draw 0 with the symbols of `changed` of another size.
  Index changed_size(const std::set<std::size_t>& changed, std::size_t symbol) const {
    constexpr std::uint64_t other_draw = 1'000;
    return size_by(symbol, [&](std::size_t s) {
      const Index before = size(s, 0);
      if (!changed.contains(s)) return before;
      const Index other = size(s, other_draw);
      return other == before ? other + range.step : other;
    });
  }
};

}  // namespace touchstone
