// Models that a library holds (touchstone bundle).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace touchstone {

#ifdef TOUCHSTONE_BUNDLE
inline constexpr bool is_bundle = true;
#else
inline constexpr bool is_bundle = false;
#endif

struct BundledModel {
  std::string_view name;
  std::span<const std::byte> bytes;  // as compact() makes them
};

std::span<const BundledModel> bundled_models();

}  // namespace touchstone
