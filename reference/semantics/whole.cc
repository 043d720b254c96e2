// Conversion of a bounded real to the integers of a type, modulo 2^n.
#include "reference/semantics/whole.h"

#include <cmath>

#include "core/numbers/convert.h"
#include "reference/semantics/alternatives.h"

namespace touchstone {
namespace {

using dd::Pair;

Pair plus(Pair a, Pair b) { return dd::add(a, b); }
Pair minus(Pair a, Pair b) { return dd::add(a, {-b.hi, -b.lo}); }
bool before(Pair a, Pair b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

// The integers from `low` to `high`, both included, as a member of a set.
Bounded::Member between(Pair low, Pair high) {
  const Pair width = minus(high, low);
  const double e = (width.hi + width.lo) / 2;
  const Pair middle = plus(low, {std::floor(e), 0});
  return {middle.hi, middle.lo, std::ceil(e)};
}

// One alternative, an interval of integers, cut to the low bits of the type.
Bounded wrapped(const Bounded& x, Type to) {
  if (!std::isfinite(x.hi) || !std::isfinite(x.e)) return Bounded::anything(0);
  const auto value = static_cast<long double>(x.hi) + static_cast<long double>(x.lo);
  const long double kept = decode(to, encode(to, value, Saturate::no));
  const auto hi = static_cast<double>(kept);
  Bounded out = Bounded::raw(hi, static_cast<double>(kept - hi), 0);
  if (x.e == 0) return out;
  const auto least = static_cast<double>(least_integer(to));
  const auto past = static_cast<double>(greatest_integer(to) + 1);  // a power of two
  const double period = past - least;
  if (2 * x.e >= period) return Bounded::anything(out.hi, out.lo);
  const Pair low = plus({out.hi, out.lo}, {-x.e, 0}), high = plus({out.hi, out.lo}, {x.e, 0});
  const Pair first{least, 0}, last = dd::two_sum(past, -1);
  if (before(low, first)) {
    out.admit(between(first, high));
    out.admit(between(plus(low, {period, 0}), last));
  } else if (before(last, high)) {
    out.admit(between(low, last));
    out.admit(between(first, minus(high, {period, 0})));
  } else {
    out.e = x.e;
  }
  return out;
}

}  // namespace

Bounded convert_whole(const Bounded& x, Type to, bool saturate) {
  if (saturate) return convert(x, to, true);
  return bounded::spread([to](const Bounded& m) { return wrapped(m, to); }, prim::truncate(x));
}

}  // namespace touchstone
