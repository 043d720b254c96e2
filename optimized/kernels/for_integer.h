// Dispatch by an integer type. Static, as in element_loops.h.
#pragma once

#include <cstdint>

#include "core/types.h"

namespace touchstone::optimized {

// Calls `with` with a zero of the C++ type of an integer; returns {} for other types.
template <class F>
static inline auto for_integer(Type type, F with) -> decltype(with(std::int8_t{})) {
  switch (type) {
    case Type::int8:
      return with(std::int8_t{});
    case Type::uint8:
      return with(std::uint8_t{});
    case Type::int16:
      return with(std::int16_t{});
    case Type::uint16:
      return with(std::uint16_t{});
    case Type::int32:
      return with(std::int32_t{});
    case Type::uint32:
      return with(std::uint32_t{});
    case Type::int64:
      return with(std::int64_t{});
    case Type::uint64:
      return with(std::uint64_t{});
    default:
      return {};
  }
}

}  // namespace touchstone::optimized
