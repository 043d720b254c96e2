// Models that a library holds (touchstone bundle).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace touchstone {

struct BundledModel {
  std::string_view name;
  std::span<const std::byte> bytes;  // as compact() makes them
};

std::span<const BundledModel> bundled_models();

}  // namespace touchstone
