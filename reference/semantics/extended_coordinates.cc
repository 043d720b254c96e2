// Cosine and sine of fractions of a turn, in extended precision.
#include "reference/semantics/extended_coordinates.h"

#include "core/error.h"

namespace touchstone {
namespace {

// j reduced modulo n, for j n-ths of a turn.
Index part_of(Index j, Index n) {
  if (n <= 0)
    throw Error(ErrorKind::invalid_input, "a turn has no " + std::to_string(n) + " parts");
  return mod(j, n);
}

// 2 pi part / n, computed with rounding.
Bounded angle(Index part, Index n) {
  constexpr double hi = 6.283185307179586, lo = 2.4492935982947064e-16;  // 2 pi, to 106 bits
  return Bounded::raw(hi, lo, bounded::grown(hi, lo, 0)) * Bounded(part) / Bounded(n);
}

// `value`, or the exact cosine at quarter turns, with the same error.
Bounded at_quarters(const Bounded& value, Index part, Index n) {
  const Index quarters = multiply(4, part);
  return quarters % n == 0 ? Bounded::raw(Turn<double>::quarter(quarters / n), 0, value.e) : value;
}

}  // namespace

Bounded cosine_of_turn(Index j, Index n) {
  const Index part = part_of(j, n);
  return part == 0 ? Bounded(Index{1}) : at_quarters(prim::cos(angle(part, n)), part, n);
}

Bounded sine_of_turn(Index j, Index n) {
  const Index part = part_of(j, n);
  return part == 0
             ? Bounded(Index{0})
             : at_quarters(prim::sin(angle(part, n)),
                           part_of(subtract(multiply(4, part), n), multiply(4, n)), multiply(4, n));
}

Exact exact_cosine_of_turn(Index j, Index n) {
  const Index part = part_of(j, n), quarters = multiply(4, part);
  if (quarters % n == 0) return Exact(static_cast<Index>(Turn<double>::quarter(quarters / n)));
  const Exact half_turn = prim::acos(Exact(Index{-1}));
  return prim::cos(half_turn * Exact(2 * part) / Exact(n));
}

}  // namespace touchstone
