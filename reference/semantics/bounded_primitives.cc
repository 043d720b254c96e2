// Transcendental primitives of Bounded, computed in 113-bit floats. They cost ten times more, which
// is negligible next to a contraction's sums.
#include "reference/semantics/bounded_primitives.h"

#include <quadmath.h>

#include <algorithm>
#include <array>

#include "reference/primitives_table.h"
#include "reference/semantics/alternatives.h"
#include "reference/semantics/slopes.h"

namespace touchstone::prim {
namespace {

using bounded::infinity;
using bounded::up;
using Quad = __float128;

Quad quad(const Bounded& x) { return static_cast<Quad>(x.hi) + x.lo; }

double double_of(Quad q) { return static_cast<double>(q); }

// Result q of primitive p with the propagated argument error e.
Bounded finish(Primitive p, Quad q, double e, std::uint8_t specials = 0) {
  const SemanticsContext& c = semantics_context;
  if (e == infinity || std::isnan(e)) {
    Bounded out = Bounded::anything(double_of(q));
    out.add_specials(specials);
    return out;
  }
  if (isnanq(q) || isinfq(q)) {
    Bounded out = Bounded::raw(double_of(q), 0, 0);
    // Out of the domain or at a pole; with an error, the near side is valid as well, and unbounded.
    return e == 0 ? out : Bounded::anything(out.hi);
  }
  double hi = double_of(q);
  if (std::isinf(hi)) {  // finite, but past double
    if (c.type == Type::float64) {
      Bounded out = Bounded::anything(std::copysign(std::numeric_limits<double>::max(), hi));
      out.add_specials(hi > 0 ? special::infinity : special::minus_infinity);
      return out;
    }
    hi = std::copysign(std::numeric_limits<double>::max(), hi);
    q = hi;
    e = 0;
  }
  const double lo = double_of(q - hi);
  const PrimitiveFacts& f = facts(p);
  Bounded out;
  if (c.cls == Class::strict) {
    out = bounded::rounded(hi, lo, e, f.strict);
  } else {
    const double magnitude = std::abs(hi) + e;
    const double own = std::max(2 * f.fast * magnitude, f.floor) * c.u;
    out = bounded::rounded(hi, lo, (e + own + c.h) * up, 0);
  }
  out.add_specials(specials);
  return out;
}

// f at infinities and NaN, in double arithmetic.
template <class Ieee>
Bounded at_special(const Bounded& x, Ieee ieee) {
  const double v = ieee(x.hi);
  if (x.e == infinity) return Bounded::anything(v);
  // A limit such as pi/2 is rounded like any other value; 0 and 1 are not.
  return std::isfinite(v) && !bounded::fits(v, 0) ? bounded::rounded(v, 0, 0, 1)
                                                  : Bounded::raw(v, 0, 0);
}

template <class Exact, class Ieee, class Slope>
Bounded unary(Primitive p, const Bounded& x, Exact exact, Ieee ieee, Slope slope) {
  const auto member = [&](const Bounded& m) {
    if (!std::isfinite(m.hi)) return at_special(m, ieee);
    if (m.e == 0) return finish(p, exact(quad(m)), 0);
    slopes::Carried carried = slope(m.hi, m.e * up);
    if (m.e == infinity) carried.specials |= special::nan;  // which the range of f lacks
    return finish(p, exact(quad(m)), carried.e * up, carried.specials);
  };
  if (x.plain()) [[likely]]
    return member(x);
  return bounded::spread(member, x);
}

Quad sigmoid_quad(Quad x) {
  const Quad t = expq(-fabsq(x));
  return x >= 0 ? 1 / (1 + t) : t / (1 + t);
}
Quad softplus_quad(Quad x) { return (x > 0 ? x : static_cast<Quad>(0)) + log1pq(expq(-fabsq(x))); }
double sigmoid_ieee(double x) { return std::isnan(x) ? x : x > 0 ? 1.0 : 0.0; }
double softplus_ieee(double x) { return std::isnan(x) || x > 0 ? x : 0.0; }

bool is_integer(const Bounded& b) { return b.e == 0 && b.lo == 0 && b.hi == std::nearbyint(b.hi); }

// pow is monotone in each argument while the base keeps its sign. Its extremes over a box are at
// the corners, and at base 0 if the base crosses it.
Bounded pow_members(const Bounded& a, const Bounded& b) {
  const double ieee = std::pow(a.hi, b.hi);
  if (a.e == infinity || b.e == infinity) return Bounded::anything(ieee);
  // The parity of a power that is not known to the last unit is undecidable.
  if (a.hi == -infinity && b.e != 0) return Bounded::anything(ieee);
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi)) return Bounded::raw(ieee, 0, 0);
  if (b.hi == 0 && b.e == 0) return Bounded(Index{1});  // for any base: C requires it (F.10.4.4)
  // A zero keeps its sign, which the quad numbers below would lose.
  if (a.hi == 0 && a.e == 0 && b.e == 0) return Bounded::raw(ieee, 0, 0);
  const Quad base = quad(a), exponent = quad(b), v = powq(base, exponent);
  if (a.e == 0 && b.e == 0) return finish(Primitive::pow, v, 0);
  Quad left = base - a.e;
  const Quad right = base + a.e;
  std::uint8_t specials = 0;
  const bool whole = is_integer(b);
  if (left <= 0 && right >= 0 && b.hi - b.e <= 0 && !(whole && b.hi == 0))
    return Bounded::anything(ieee);
  if (!whole && left < 0) {
    if (right < 0) return Bounded::raw(ieee, 0, b.e == 0 ? 0 : infinity);
    specials = special::nan;
    left = 0;
  }
  Quad worst = 0;
  const auto corner = [&](Quad x, Quad y) {
    const Quad d = fabsq(powq(x, y) - v);
    if (d > worst || isnanq(d)) worst = d;
  };
  for (const Quad y : {exponent - b.e, exponent + b.e}) {
    corner(left, y);
    corner(right, y);
    if (left < 0 && right > 0) corner(0, y);
    if (b.e == 0) break;
  }
  const double e = double_of(worst) * up + std::abs(double_of(v)) * 0x1p-100 + 0x1p-1070;
  if (isnanq(v)) return Bounded::anything(ieee);
  return finish(Primitive::pow, v, e, specials);
}

Bounded fmod_members(const Bounded& a, const Bounded& b) {
  const double ieee = std::fmod(a.hi, b.hi);
  if (a.e == infinity || b.e == infinity) return Bounded::anything(ieee);
  if (!std::isfinite(a.hi) || !std::isfinite(b.hi)) {
    const bool exact = std::isinf(b.hi) && std::isfinite(a.hi);
    return exact ? a.without_extra() : Bounded::raw(ieee, 0, 0);
  }
  const Quad v = fmodq(quad(a), quad(b));
  if (a.e == 0 && b.e == 0) {
    return isnanq(v) ? Bounded::raw(ieee, 0, 0)
                     : bounded::rounded(double_of(v), double_of(v - double_of(v)), 0);
  }
  if (std::abs(b.hi) <= b.e) return Bounded::anything(ieee);
  // Within one quotient the remainder moves with a and with the quotient times b; across quotients
  // it jumps.
  const Quad quotient = truncq(quad(a) / quad(b));
  const double carried = (a.e + double_of(fabsq(quotient)) * b.e) * up;
  const Quad inside = fabsq(v), past = fabsq(quad(b)) - b.e - inside;
  const double size = (std::abs(b.hi) + b.e) * up;
  const bool jumps = inside <= carried || past <= carried;
  const double hi = double_of(v);
  return bounded::rounded(hi, double_of(v - hi), jumps ? size + std::abs(hi) : carried);
}

}  // namespace

#define TOUCHSTONE_UNARY(name)                                                             \
  Bounded name(const Bounded& x) {                                                         \
    return unary(                                                                          \
        Primitive::name, x, name##q, [](double v) { return std::name(v); }, slopes::name); \
  }
TOUCHSTONE_UNARY(exp)
TOUCHSTONE_UNARY(sqrt)
TOUCHSTONE_UNARY(tanh)
TOUCHSTONE_UNARY(erf)
TOUCHSTONE_UNARY(sin)
TOUCHSTONE_UNARY(cos)
TOUCHSTONE_UNARY(tan)
TOUCHSTONE_UNARY(atan)
TOUCHSTONE_UNARY(sinh)
TOUCHSTONE_UNARY(cosh)
TOUCHSTONE_UNARY(asinh)
TOUCHSTONE_UNARY(acosh)
TOUCHSTONE_UNARY(atanh)
#undef TOUCHSTONE_UNARY

Bounded log(const Bounded& x) {
  if (x.plain() && x.hi == 1 && x.lo == 0 && x.e == 0)
    return Bounded(Index{0});  // C requires it (F.10.3.7)
  return unary(
      Primitive::log, x, logq, [](double v) { return std::log(v); }, slopes::log);
}
Bounded asin(const Bounded& x) {
  return unary(
      Primitive::asin, x, asinq, [](double v) { return std::asin(v); }, slopes::arc);
}
Bounded acos(const Bounded& x) {
  return unary(
      Primitive::acos, x, acosq, [](double v) { return std::acos(v); }, slopes::arc);
}
Bounded sigmoid(const Bounded& x) {
  return unary(Primitive::sigmoid, x, sigmoid_quad, sigmoid_ieee, slopes::sigmoid);
}
Bounded softplus(const Bounded& x) {
  return unary(Primitive::softplus, x, softplus_quad, softplus_ieee, slopes::softplus);
}

Bounded reciprocal(const Bounded& x) { return Bounded::of(1) / x; }

Bounded pow(const Bounded& base, const Bounded& exponent) {
  if (base.plain() && exponent.plain()) return pow_members(base, exponent);
  return bounded::spread(pow_members, base, exponent);
}

Bounded fmod(const Bounded& a, const Bounded& b) {
  if (a.plain() && b.plain()) return fmod_members(a, b);
  return bounded::spread(fmod_members, a, b);
}

}  // namespace touchstone::prim
