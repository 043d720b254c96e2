// The table of float formats generated from spec/types.yaml, and the facts derived from it.
#include "core/numbers/formats.h"

#include <array>
#include <cmath>

#include "core/error.h"

namespace touchstone {
namespace {

using Nan = Format::Nan;
constexpr std::array table = {
#define TOUCHSTONE_FLOAT(enumerator, bits, precision, bias, is_signed, has_infinity, nan_kind, \
                         nan_code, overflow, has_zero, largest, normal, subnormal)             \
  Format{Type::enumerator, bits,     precision,          bias,     is_signed, has_infinity,    \
         Nan::nan_kind,    nan_code, Overflow::overflow, has_zero, largest,   normal,          \
         subnormal},
#include "core/type_table.inc"
};

// Row of each code in the table, or -1.
constexpr auto rows = [] {
  std::array<int, 29> found{};
  found.fill(-1);
  for (std::size_t k = 0; k < table.size(); ++k)
    found[static_cast<std::size_t>(table[k].type)] = static_cast<int>(k);
  return found;
}();

const TypeFacts& integer(Type type) {
  const TypeFacts& row = facts(type);
  if (!row.is_integer) BUG("integer limits of a type that is none");
  return row;
}

}  // namespace

const Format& format_of(Type type) {
  const auto code = static_cast<std::size_t>(type);
  if (code >= rows.size() || rows[code] < 0) BUG("the float format of a type that has none");
  return table[static_cast<std::size_t>(rows[code])];
}

double Format::unit_roundoff() const { return std::ldexp(1.0, -precision); }

long double least_integer(Type type) {
  const TypeFacts& row = integer(type);
  return row.is_signed ? -std::ldexp(1.0L, row.bits - 1) : 0.0L;
}

long double greatest_integer(Type type) {
  const TypeFacts& row = integer(type);
  return std::ldexp(1.0L, row.is_signed ? row.bits - 1 : row.bits) - 1.0L;
}

}  // namespace touchstone
