// Slow paths of Bounded: alternatives, infinities, NaN, overflow, and results out of double's
// range.
#include "reference/semantics/bounded.h"

#include <algorithm>

#include "reference/primitives_table.h"
#include "reference/semantics/alternatives.h"

namespace touchstone {

using namespace bounded;  // NOLINT: its own namespace

Bounded::Bounded(Index i) {
  // An Index has up to 63 bits, which two doubles hold.
  hi = static_cast<double>(i);
  lo = hi == 0x1p63 ? static_cast<double>(i - std::numeric_limits<Index>::max()) - 1
                    : static_cast<double>(i - static_cast<Index>(hi));
  *this = rounded(hi, lo, 0);
}

Bounded Bounded::of(double x) {
  if (!std::isfinite(x)) return raw(x, 0, 0);
  return rounded(x, 0, 0);
}

Bounded Bounded::anything(double hi, double lo) { return raw(hi, lo, infinity); }

bool Bounded::is_set() const { return extra_ && extra_->count > 0; }
std::uint8_t Bounded::specials() const { return extra_ ? extra_->specials : 0; }
const Bounded::Member* Bounded::members_begin() const {
  return extra_ ? extra_->members.data() : nullptr;
}
const Bounded::Member* Bounded::members_end() const {
  return extra_ ? extra_->members.data() + std::max(0, extra_->count) : nullptr;
}
void Bounded::copy_extra() { extra_ = new Extra(*extra_); }
void Bounded::drop_extra() {
  delete extra_;
  extra_ = nullptr;
}
Extra& Bounded::extra() {
  if (!extra_) extra_ = new Extra;
  return *extra_;
}
void Bounded::add_specials(std::uint8_t bits) {
  if (bits) extra().specials |= bits;
}

namespace {

double distance(const Bounded& a, double hi, double lo) {
  return std::abs((hi - a.hi) + (lo - a.lo)) * up;
}

bool contains(const Bounded::Member& outer, const Bounded::Member& inner) {
  return (std::abs((inner.hi - outer.hi) + (inner.lo - outer.lo)) + inner.e) * up <= outer.e ||
         (inner.hi == outer.hi && inner.lo == outer.lo && inner.e <= outer.e);
}

std::uint8_t special_bit(double x) {
  return std::isnan(x) ? special::nan : x > 0 ? special::infinity : special::minus_infinity;
}

std::uint8_t overflow_bits(bool up_high, bool down_low) {
  std::uint8_t bits = up_high ? special::infinity : 0;
  if (down_low) bits |= special::minus_infinity;
  return bits;
}

}  // namespace

void Bounded::admit(const Member& m) {
  const bool finite = std::isfinite(hi);
  if (extra_ == nullptr || extra_->count == 0) {
    if (finite && contains({hi, lo, e}, m)) return;
    Extra& x = extra();
    if (finite) x.members[static_cast<std::size_t>(x.count++)] = {hi, lo, e};
  }
  Extra& x = extra();
  if (x.count > 0) {
    Member* end = x.members.data() + x.count;
    if (std::any_of(x.members.data(), end, [&](const Member& o) { return contains(o, m); })) return;
    end = std::remove_if(x.members.data(), end, [&](const Member& o) { return contains(m, o); });
    x.count = static_cast<int>(end - x.members.data());
  }
  if (x.count >= 0 && x.count < 4)
    x.members[static_cast<std::size_t>(x.count++)] = m;
  else
    x.count = -1;
  if (finite)
    e = std::max(e, distance(*this, m.hi, m.lo) + m.e);
  else if (x.count < 0)
    e = infinity;
}

namespace bounded {

std::vector<Bounded> alternatives(const Bounded& a) {
  std::vector<Bounded> all;
  if (a.is_set()) {
    for (const Bounded::Member* m = a.members_begin(); m != a.members_end(); ++m)
      all.push_back(Bounded::raw(m->hi, m->lo, m->e));
    if (!std::isfinite(a.hi)) all.push_back(a.without_extra());
  } else {
    all.push_back(a.without_extra());
  }
  const std::uint8_t s = a.specials();
  if (s & special::infinity) all.push_back(Bounded::raw(infinity, 0, 0));
  if (s & special::minus_infinity) all.push_back(Bounded::raw(-infinity, 0, 0));
  if (s & special::nan) all.push_back(Bounded::raw(not_a_number, 0, 0));
  // The format of `largest` was known when the value was stored; within one node nothing computes
  // on with it.
  if (s & (special::largest | special::minus_largest)) all.push_back(Bounded::anything(0));
  return all;
}

Bounded join(const Bounded& v, const std::vector<Bounded>& results) {
  std::vector<Bounded::Member> members;
  std::uint8_t specials = v.specials();
  for (const Bounded& r : results) {
    specials |= r.specials();
    if (r.e == infinity) return Bounded::anything(v.hi, v.lo);
    if (!std::isfinite(r.hi)) {
      if (!(r.hi == v.hi || (std::isnan(r.hi) && std::isnan(v.hi)))) specials |= special_bit(r.hi);
    } else if (r.is_set()) {
      members.insert(members.end(), r.members_begin(), r.members_end());
    } else {
      members.push_back({r.hi, r.lo, r.e});
    }
  }
  Bounded out = Bounded::raw(v.hi, v.lo, 0);
  if (!members.empty() && std::isfinite(v.hi)) {
    // The exact value is in one of the members. Starting with that one avoids a separate point in
    // the set.
    const auto home = std::find_if(members.begin(), members.end(), [&](const Bounded::Member& m) {
      return m.hi == v.hi && m.lo == v.lo;
    });
    if (home != members.end()) out.e = home->e;
  }
  for (const Bounded::Member& m : members) out.admit(m);
  out.add_specials(specials);
  return out;
}

bool fits_small(double hi) {
  const SemanticsContext& c = semantics_context;
  if (hi == 0) return true;
  if (c.flush) return false;
  const double steps = hi / c.tiny;
  return c.type == Type::float64 || steps == std::nearbyint(steps);
}

Bounded overflowed(double hi, double lo, double e) {
  const SemanticsContext& c = semantics_context;
  if (std::isnan(hi) || std::isnan(lo) || std::isnan(e) || e == infinity || !std::isfinite(hi)) {
    return Bounded::anything(hi, std::isfinite(lo) ? lo : 0);
  }
  Bounded out = Bounded::raw(hi, lo, e);
  out.add_specials(overflow_bits(hi + e >= c.limit, hi - e <= -c.limit));
  return out;
}

namespace {

bool reaches_zero(const Bounded& a) { return a.e > 0 && std::abs(a.hi) <= a.e; }

bool within_half(const Bounded& a) { return a.e <= std::abs(a.hi) / 2; }

// A finite result of a and b beyond double's range. In a narrower format it is certainly that
// format's overflow value, unless an operand is uncertain by more than half its size.
Bounded past_double(double sign, const Bounded& a, const Bounded& b) {
  const double last = std::copysign(std::numeric_limits<double>::max(), sign);
  if (!within_half(a) || !within_half(b)) return Bounded::anything(last);
  Bounded out = Bounded::raw(last, 0, semantics_context.type == Type::float64 ? infinity : 0);
  out.add_specials(overflow_bits(sign > 0, sign < 0));
  return out;
}

Bounded add_members(const Bounded& a, const Bounded& b) {
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi)) {
    if (a.e == infinity || b.e == infinity) return Bounded::anything(a.hi + b.hi);
    return Bounded::raw(a.hi + b.hi, 0, 0);
  }
  if (!std::isfinite(a.hi + b.hi)) return past_double(a.hi, a, b);
  const dd::Pair v = dd::add({a.hi, a.lo}, {b.hi, b.lo});
  const double hi = v.hi == 0 ? a.hi + b.hi : v.hi;
  // A sum of exact terms is rounded once, which overflows from the limit on and not before.
  if (a.e == 0 && b.e == 0 && std::abs(hi + v.lo) < semantics_context.limit)
    return Bounded::raw(hi, v.lo, grown(hi, v.lo, 0));
  return rounded(hi, v.lo, a.e + b.e);
}

struct Scaled {
  dd::Pair v;
  int exponent;
};
Scaled scaled(const Bounded& a) {
  int exponent = 0;
  const double hi = std::frexp(a.hi, &exponent);
  return {{hi, std::ldexp(a.lo, -exponent)}, exponent};
}

// v * 2^exponent, computed from a and b, with the error e plus the loss of scaling.
Bounded unscaled(dd::Pair v, int exponent, const Bounded& a, const Bounded& b, double e,
                 double ulps) {
  const double hi = std::ldexp(v.hi, exponent), lo = std::ldexp(v.lo, exponent);
  if (!std::isfinite(hi)) return past_double(v.hi, a, b);
  const bool lossy = std::ldexp(hi, -exponent) != v.hi || std::ldexp(lo, -exponent) != v.lo;
  return rounded(hi, lo, lossy ? e + 0x1p-1073 : e, ulps);
}

Bounded multiply_members(const Bounded& a, const Bounded& b) {
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi)) {
    if (a.e == infinity || b.e == infinity || reaches_zero(a) || reaches_zero(b)) {
      return Bounded::anything(a.hi * b.hi);
    }
    return Bounded::raw(a.hi * b.hi, 0, 0);
  }
  if (a.e == infinity || b.e == infinity) return Bounded::anything(a.hi * b.hi);
  if ((a.hi == 0 && a.e == 0) || (b.hi == 0 && b.e == 0)) return Bounded::raw(a.hi * b.hi, 0, 0);
  const Scaled x = scaled(a), y = scaled(b);
  const double e = std::abs(a.hi) * b.e + std::abs(b.hi) * a.e + a.e * b.e;
  return unscaled(dd::multiply(x.v, y.v), x.exponent + y.exponent, a, b, e, 0.5);
}

Bounded divide_members(const Bounded& a, const Bounded& b) {
  const double ieee = a.hi / b.hi;
  if (a.e == infinity || b.e == infinity) return Bounded::anything(ieee);
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi)) {
    return reaches_zero(b) ? Bounded::anything(ieee) : Bounded::raw(ieee, 0, 0);
  }
  if (b.hi == 0 && b.e == 0)
    return reaches_zero(a) ? Bounded::anything(ieee) : Bounded::raw(ieee, 0, 0);
  if (std::abs(b.hi) <= b.e * up) return Bounded::anything(ieee);
  // A power of two has an exact reciprocal, so every faithful division by it is exact.
  int exponent = 0;
  const bool power = b.e == 0 && b.lo == 0 && std::abs(std::frexp(b.hi, &exponent)) == 0.5;
  const PrimitiveFacts& k = facts(Primitive::divide);
  const double ulps = semantics_context.cls == Class::strict || power ? k.strict : k.fast;
  if (a.hi == 0 && a.e == 0) return Bounded::raw(ieee, 0, 0);
  const double e = (a.e + std::abs(ieee) * b.e * up) / (std::abs(b.hi) - b.e * up) * up;
  const Scaled x = scaled(a), y = scaled(b);
  return unscaled(dd::divide(x.v, y.v), x.exponent - y.exponent, a, b, e, ulps);
}

}  // namespace

Bounded add_slowly(const Bounded& a, const Bounded& b) {
  if (a.plain() && b.plain()) return add_members(a, b);
  return spread(add_members, a, b);
}

Bounded multiply_slowly(const Bounded& a, const Bounded& b) {
  if (a.plain() && b.plain()) return multiply_members(a, b);
  return spread(multiply_members, a, b);
}

Bounded divide(const Bounded& a, const Bounded& b) {
  if (a.plain() && b.plain()) return divide_members(a, b);
  return spread(divide_members, a, b);
}

Bounded negate_slowly(const Bounded& a) {
  return spread([](const Bounded& x) { return Bounded::raw(-x.hi, -x.lo, x.e); }, a);
}

}  // namespace bounded

Bounded hull(const Bounded& a, const Bounded& b) {
  if (a.e == infinity || b.e == infinity) return Bounded::anything(a.hi, a.lo);
  Bounded out = a.without_extra();
  std::uint8_t specials = a.specials() | b.specials();
  if (!std::isfinite(b.hi)) {
    if (a.hi != b.hi) specials |= special_bit(b.hi);
  } else if (!std::isfinite(a.hi)) {
    out.admit({b.hi, b.lo, b.e});
  } else {
    out.e = std::max(a.e, distance(a, b.hi, b.lo) + b.e);
  }
  out.add_specials(specials);
  return out;
}

Bounded either_of(const Bounded& a, const Bounded& b) {
  std::vector<Bounded> all = alternatives(a);
  for (const Bounded& x : alternatives(b)) all.push_back(x);
  return join(point(a), all);
}

}  // namespace touchstone
