// Discontinuous operations of Bounded: floor and similar functions, signs, comparisons, and
// conversions to narrower types. If an interval straddles a jump, the result is the set of
// reachable values. Also maximum, minimum and abs, which are continuous.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"
#include "reference/semantics/alternatives.h"
#include "reference/semantics/bounded.h"
#include "reference/semantics/overflow.h"

namespace touchstone {

using bounded::infinity;
using bounded::up;

namespace {

using dd::Pair;

Pair ends_low(const Bounded& a) { return dd::add({a.hi, a.lo}, {-a.e, 0}); }
Pair ends_high(const Bounded& a) { return dd::add({a.hi, a.lo}, {a.e, 0}); }

bool before(Pair a, Pair b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
bool same(Pair a, Pair b) { return a.hi == b.hi && a.lo == b.lo; }

// The reachable values of a monotone, integer-valued f.
template <class F>
Bounded step(F f, const Bounded& a) {
  const Pair v = f({a.hi, a.lo});
  if (!std::isfinite(a.hi))
    return a.e == infinity ? Bounded::anything(v.hi) : Bounded::raw(v.hi, 0, 0);
  if (a.e == 0) return Bounded::raw(v.hi, v.lo, 0);
  if (a.e == infinity) return Bounded::anything(v.hi, v.lo);
  const Pair low = f(ends_low(a)), high = f(ends_high(a));
  const Pair width = dd::add(high, {-low.hi, -low.lo});
  if (width.hi > 3) {
    const double below = (v.hi - low.hi) + (v.lo - low.lo),
                 above = (high.hi - v.hi) + (high.lo - v.lo);
    return Bounded::raw(v.hi, v.lo, std::max(below, above));
  }
  Bounded out = Bounded::raw(v.hi, v.lo, 0);
  for (double k = 0; k <= width.hi; ++k) {
    const Pair m = dd::add(low, {k, 0});
    out.admit({m.hi, m.lo, 0});
  }
  return out;
}

Pair floor_of(Pair x) {
  const double f = std::floor(x.hi);
  return f == x.hi ? dd::quick_two_sum(f, std::floor(x.lo)) : Pair{f, 0};
}
Pair ceil_of(Pair x) {
  const double f = std::ceil(x.hi);
  return f == x.hi ? dd::quick_two_sum(f, std::ceil(x.lo)) : Pair{f, 0};
}
Pair truncate_of(Pair x) { return x.hi < 0 ? ceil_of(x) : floor_of(x); }
Pair round_even_of(Pair x) {
  if (!std::isfinite(x.hi)) return {x.hi, 0};
  const Pair below = floor_of(x);
  const Pair rest = dd::add(x, {-below.hi, -below.lo});
  const bool odd = std::fmod(std::abs(below.hi) + std::abs(below.lo), 2) == 1;
  const bool raise = rest.hi > 0.5 || (rest.hi == 0.5 && (rest.lo > 0 || (rest.lo == 0 && odd)));
  const Pair r = raise ? dd::add(below, {1, 0}) : below;
  return r.hi == 0 ? Pair{std::copysign(0.0, x.hi), 0} : r;
}
Pair sign_of(Pair x) { return {x.hi > 0 ? 1.0 : x.hi < 0 ? -1.0 : x.hi, 0}; }

template <class F>
Bounded jump(F f, const Bounded& a) {
  if (a.plain()) return step(f, a);
  return bounded::spread([&](const Bounded& m) { return step(f, m); }, a);
}

bool undecided(const Bounded& a, const Bounded& b) {
  return a.e == infinity || b.e == infinity || a.specials() || b.specials() ||
         (a.is_set() && !std::isfinite(a.hi)) || (b.is_set() && !std::isfinite(b.hi));
}

}  // namespace

namespace prim {

Bounded floor(const Bounded& x) { return jump(floor_of, x); }
Bounded ceil(const Bounded& x) { return jump(ceil_of, x); }
Bounded truncate(const Bounded& x) { return jump(truncate_of, x); }
Bounded round_even(const Bounded& x) { return jump(round_even_of, x); }
Bounded sign(const Bounded& x) { return jump(sign_of, x); }

Bounded abs(const Bounded& x) {
  const auto member = [](const Bounded& m) {
    return std::signbit(m.hi) ? Bounded::raw(-m.hi, -m.lo, m.e) : m;
  };
  return x.plain() ? member(x) : bounded::spread(member, x);
}

Bounded maximum(const Bounded& a, const Bounded& b) {
  const auto member = [](const Bounded& x, const Bounded& y) {
    if (std::isnan(x.hi) || std::isnan(y.hi)) {
      const bool sure = (std::isnan(x.hi) && x.e == 0) || (std::isnan(y.hi) && y.e == 0);
      return Bounded::raw(bounded::not_a_number, 0, sure ? 0 : infinity);
    }
    const bool second = before({x.hi, x.lo}, {y.hi, y.lo});
    Bounded out = second ? y : x;
    if (x.e == infinity || y.e == infinity) return Bounded::anything(out.hi, out.lo);
    const Bounded& other = second ? x : y;
    if (!std::isfinite(out.hi) || !std::isfinite(other.hi)) return out;
    // The loser matters only if its interval reaches the winner's.
    if ((out.hi - other.hi) + (out.lo - other.lo) <= (out.e + other.e) * up)
      out.e = std::max(out.e, other.e);
    return out;
  };
  if (a.plain() && b.plain()) return member(a, b);
  return bounded::spread(member, a, b);
}

Bounded minimum(const Bounded& a, const Bounded& b) { return -maximum(-a, -b); }

}  // namespace prim

TriBool less(const Bounded& a, const Bounded& b) {
  const bool exact = before({a.hi, a.lo}, {b.hi, b.lo});
  if (undecided(a, b)) return {exact, false};
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi)) return exact;
  if (a.e == 0 && b.e == 0) return exact;
  return {exact,
          exact == before(ends_high(a), ends_low(b)) && exact == before(ends_low(a), ends_high(b))};
}

TriBool less_equal(const Bounded& a, const Bounded& b) {
  if (std::isnan(a.hi) || std::isnan(b.hi)) return {false, !undecided(a, b)};
  return negate(less(b, a));
}

TriBool equal(const Bounded& a, const Bounded& b) {
  const bool exact = same({a.hi, a.lo}, {b.hi, b.lo});
  if (undecided(a, b)) return {exact, false};
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi) || (a.e == 0 && b.e == 0)) return exact;
  return {exact, before(ends_high(a), ends_low(b)) || before(ends_high(b), ends_low(a))};
}

TriBool is_nan(const Bounded& a) {
  const bool exact = std::isnan(a.hi);
  return {exact, a.e != infinity && (exact ? a.plain() : (a.specials() & special::nan) == 0)};
}

TriBool is_inf(const Bounded& a) {
  const bool exact = std::isinf(a.hi);
  const bool other = (a.specials() & (special::infinity | special::minus_infinity)) != 0;
  return {exact, a.e != infinity && (exact ? a.plain() : !other)};
}

namespace {

// hi + lo as a long double whose last bit is odd if it is inexact. Rounding it to any narrower
// format then gives the same as rounding hi + lo.
long double sticky(double hi, double lo) {
  const long double a = hi, b = lo, s = a + b;
  if (!std::isfinite(hi)) return a;
  const long double t = s - a, rest = (a - (s - t)) + (b - t);
  std::uint64_t mantissa = 0;
  std::memcpy(&mantissa, &s, sizeof mantissa);
  if (rest == 0 || (mantissa & 1)) return s;
  return std::nextafter(s, rest > 0 ? HUGE_VALL : -HUGE_VALL);
}

double nearest(Type type, double hi, double lo, Saturate saturate) {
  return static_cast<double>(decode(type, encode(type, sticky(hi, lo), saturate)));
}

Bounded store_member(const Bounded& x, const Format& f) {
  if (!std::isfinite(x.hi)) {
    if (x.e == infinity) return x;
    const double stored = nearest(f.type, x.hi, 0, Saturate::no);
    return Bounded::raw(stored, 0, 0);
  }
  if (x.e == infinity) return x;
  if (x.e == 0 && nearest(f.type, x.hi, x.lo, Saturate::no) == x.hi && x.lo == 0) return x;
  const double u = f.unit_roundoff();
  const double least = semantics_context.flush ? f.smallest_normal : f.smallest_subnormal;
  Bounded out = Bounded::raw(x.hi, x.lo, (x.e + u * (std::abs(x.hi) + x.e) + least) * up);
  const double limit = overflow_threshold(f);
  const bool high = x.hi + x.e >= limit, low = x.hi - x.e <= -limit;
  switch (f.overflow) {
    case Overflow::infinity:
      out.add_specials((high ? special::infinity : 0) | (low ? special::minus_infinity : 0));
      break;
    case Overflow::nan:
      out.add_specials(high || low ? special::nan : 0);
      break;
    case Overflow::largest:
      out.add_specials((high ? special::largest : 0) | (low ? special::minus_largest : 0));
      break;
  }
  return out;
}

Bounded to_integer(const Bounded& x, Type to, bool saturate) {
  const auto least = static_cast<double>(least_integer(to));
  const auto past = static_cast<double>(greatest_integer(to) + 1);  // a power of two
  const auto in_range = [&](const Bounded& m) {
    if (std::isnan(m.hi) || m.e == infinity) return Bounded::anything(0);
    const bool low = m.hi - m.e < least, high = m.hi + m.e >= past;
    if (!low && !high) return m;
    if (!saturate) return Bounded::anything(0);
    if (m.e != 0) {  // a hull: clamped at both ends, it cannot grow
      return prim::maximum(prim::minimum(m, Bounded::raw(past, -1, 0)), Bounded::raw(least, 0, 0));
    }
    return low                             ? Bounded::raw(least, 0, 0)
           : dd::two_sum(past, -1).lo == 0 ? Bounded::raw(past - 1, 0, 0)
                                           : Bounded::raw(past, -1, 0);
  };
  return bounded::spread(in_range, prim::truncate(x));
}

Bounded to_boolean(const Bounded& x) {
  const TriBool zero = equal(x, Bounded::raw(0, 0, 0));
  return select(zero, Bounded::raw(0, 0, 0), Bounded::raw(1, 0, 0));
}

Bounded to_float(const Bounded& x, const Format& f, Saturate saturate) {
  const double v = nearest(f.type, x.hi, x.lo, saturate);
  if (x.e == 0) return Bounded::raw(v, 0, 0);
  if (x.e == infinity || !std::isfinite(x.hi)) return Bounded::anything(v);
  if (f.bits > 8) return store_member(x, f);
  const Pair low = ends_low(x), high = ends_high(x);
  const double from = nearest(f.type, low.hi, low.lo, saturate),
               until = nearest(f.type, high.hi, high.lo, saturate);
  const double first = std::isfinite(from) ? from : -f.largest,
               last = std::isfinite(until) ? until : f.largest;
  Bounded out = Bounded::raw(v, 0, 0);
  for (std::uint64_t code = 0; code < std::uint64_t{1} << f.bits; ++code) {
    const auto m = static_cast<double>(decode(f.type, code));
    if (m >= first && m <= last) out.admit({m, 0, 0});
  }
  for (const double end : {from, until}) {
    if (std::isnan(end)) out.add_specials(special::nan);
    if (std::isinf(end)) out.add_specials(end > 0 ? special::infinity : special::minus_infinity);
  }
  return out;
}

}  // namespace

Bounded store(const Bounded& x, Type type) {
  const TypeFacts& t = facts(type);
  if (!t.is_float) return x;
  const Format& f = format_of(type);
  // Arithmetic has rounded already; a copied input may be finer than the compute format.
  const bool read = x.plain() && x.e == 0 && !bounded::fits(x.hi, x.lo);
  if (f.precision >= semantics_context.sum_precision && !read) return x;
  const auto member = [&](const Bounded& m) { return store_member(m, f); };
  return x.plain() ? member(x) : bounded::spread(member, x);
}

Bounded convert(const Bounded& x, Type to, bool saturate) {
  const TypeFacts& t = facts(to);
  if (to == Type::boolean) return to_boolean(x);
  if (t.is_integer) return to_integer(x, to, saturate);
  if (!t.is_float || to == Type::float8e8m0) {
    throw Error(ErrorKind::unsupported, "no bounded conversion to " + std::string(t.name));
  }
  const Format& f = format_of(to);
  return bounded::spread(
      [&](const Bounded& m) { return to_float(m, f, cast_saturation(to, saturate)); }, x);
}

}  // namespace touchstone
