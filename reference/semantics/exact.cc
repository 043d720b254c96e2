// Implements Exact on Boost.Multiprecision: the only file that includes it.
#include "reference/semantics/exact.h"

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <new>

#include "core/error.h"
#include "core/numbers/convert.h"

namespace touchstone {
namespace {

namespace mp = boost::multiprecision;
using Real = mp::number<mp::cpp_bin_float<237, mp::digit_base_2>, mp::et_off>;
static_assert(sizeof(Real) == 64 && alignof(Real) <= 16);
static_assert(std::is_trivially_destructible_v<Real>);

const Real& real_of(const Exact& x) {
  return *std::launder(reinterpret_cast<const Real*>(x.bytes()));
}

Exact exact(const Real& r) {
  Exact out;
  *std::launder(reinterpret_cast<Real*>(out.bytes())) = r;
  return out;
}

Real not_a_number() { return std::numeric_limits<Real>::quiet_NaN(); }
Real infinity() { return std::numeric_limits<Real>::infinity(); }
bool finite(const Real& x) { return !mp::isnan(x) && !mp::isinf(x); }

// Infinities and NaN as in IEEE; the rest by f.
template <class F, class Ieee>
Exact unary(const Exact& x, F f, Ieee ieee) {
  const Real& v = real_of(x);
  if (!finite(v)) return Exact(ieee(static_cast<double>(v)));
  return exact(f(v));
}

// Past this argument exp is out of every format's range, and Boost's becomes slow.
constexpr int huge = 2000;

Real exp_of(const Real& x) {
  if (x > huge * 1000) return infinity();
  return mp::exp(x);
}
Real sigmoid_of(const Real& x) {
  const Real t = exp_of(-mp::abs(x));
  return x >= 0 ? Real(1 / (1 + t)) : Real(t / (1 + t));
}
Real softplus_of(const Real& x) {
  const Real t = exp_of(-mp::abs(x));
  return (x > 0 ? x : Real(0)) + (t < 1e-60 ? t : Real(mp::log1p(t)));
}
Real round_even_of(const Real& x) {
  const Real below = mp::floor(x), rest = x - below;
  const bool odd = mp::floor(below / 2) * 2 != below;
  return rest > 0.5 || (rest == 0.5 && odd) ? Real(below + 1) : below;
}

}  // namespace

Exact::Exact(Index i) { new (bytes_) Real(i); }
Exact::Exact(double x) { new (bytes_) Real(x); }
Exact Exact::of(long double x) { return exact(Real(x)); }
double Exact::hi() const { return static_cast<double>(real_of(*this)); }
double Exact::lo() const {
  const double h = hi();
  return std::isfinite(h) ? static_cast<double>(Real(real_of(*this) - h)) : 0;
}
long double Exact::extended() const { return static_cast<long double>(real_of(*this)); }

Exact operator+(const Exact& a, const Exact& b) { return exact(real_of(a) + real_of(b)); }
Exact operator-(const Exact& a, const Exact& b) { return exact(real_of(a) - real_of(b)); }
Exact operator*(const Exact& a, const Exact& b) { return exact(real_of(a) * real_of(b)); }
Exact operator/(const Exact& a, const Exact& b) {
  const Real &x = real_of(a), &y = real_of(b);
  if (!finite(x) || !finite(y) || y == 0)
    return Exact(static_cast<double>(x) / static_cast<double>(y));
  return exact(x / y);
}
Exact operator-(const Exact& a) { return exact(-real_of(a)); }

bool less(const Exact& a, const Exact& b) { return real_of(a) < real_of(b); }
bool less_equal(const Exact& a, const Exact& b) { return real_of(a) <= real_of(b); }
bool equal(const Exact& a, const Exact& b) { return real_of(a) == real_of(b); }
bool is_nan(const Exact& a) { return mp::isnan(real_of(a)); }
bool is_inf(const Exact& a) { return mp::isinf(real_of(a)); }

namespace {

Index index_of(const Real& x) {
  constexpr double most = 0x1p53;
  if (mp::isnan(x)) return 0;
  return x > most    ? static_cast<Index>(most)
         : x < -most ? -static_cast<Index>(most)
                     : static_cast<Index>(x);
}

}  // namespace

Index floor_index(const Exact& x) { return index_of(mp::floor(real_of(x))); }
Index ceil_index(const Exact& x) { return index_of(mp::ceil(real_of(x))); }

Exact convert(const Exact& x, Type to, bool saturate) {
  // Bounded rounds by the same rules; without an error its result is unique.
  const Bounded b = convert(Bounded::raw(x.hi(), x.lo(), 0), to, saturate);
  return exact(Real(b.hi) + b.lo);
}

namespace prim {

#define TOUCHSTONE_UNARY(name)                                \
  Exact name(const Exact& x) {                                \
    return unary(                                             \
        x, [](const Real& v) -> Real { return mp::name(v); }, \
        [](double v) { return std::name(v); });               \
  }
TOUCHSTONE_UNARY(tanh)
TOUCHSTONE_UNARY(sin)
TOUCHSTONE_UNARY(cos)
TOUCHSTONE_UNARY(tan)
TOUCHSTONE_UNARY(atan)
TOUCHSTONE_UNARY(sinh)
TOUCHSTONE_UNARY(cosh)
TOUCHSTONE_UNARY(asinh)
TOUCHSTONE_UNARY(floor)
TOUCHSTONE_UNARY(ceil)
TOUCHSTONE_UNARY(abs)
#undef TOUCHSTONE_UNARY

namespace {
// Boost throws or returns arbitrary values outside a domain.
template <class F>
Exact within(const Exact& x, double least, double most, F f) {
  const Real& v = real_of(x);
  if (mp::isnan(v) || v < least || v > most) return exact(not_a_number());
  return f(v);
}
constexpr double endless = std::numeric_limits<double>::infinity();
}  // namespace

Exact exp(const Exact& x) {
  return unary(x, exp_of, [](double v) { return std::exp(v); });
}
Exact log(const Exact& x) {
  return within(x, 0, endless, [](const Real& v) {
    return v == 0 ? exact(-infinity()) : mp::isinf(v) ? exact(v) : exact(mp::log(v));
  });
}
Exact sqrt(const Exact& x) {
  return within(x, 0, endless,
                [](const Real& v) { return mp::isinf(v) ? exact(v) : exact(mp::sqrt(v)); });
}
Exact asin(const Exact& x) {
  return within(x, -1, 1, [](const Real& v) { return exact(mp::asin(v)); });
}
Exact acos(const Exact& x) {
  return within(x, -1, 1, [](const Real& v) { return exact(mp::acos(v)); });
}
Exact acosh(const Exact& x) {
  return within(x, 1, endless,
                [](const Real& v) { return mp::isinf(v) ? exact(v) : exact(mp::acosh(v)); });
}
Exact atanh(const Exact& x) {
  return within(x, -1, 1, [](const Real& v) {
    return v == 1 ? exact(infinity()) : v == -1 ? exact(-infinity()) : exact(mp::atanh(v));
  });
}
Exact erf(const Exact& x) {
  return unary(
      x,
      [](const Real& v) -> Real {
        return mp::abs(v) > 20 ? Real(v > 0 ? 1 : -1) : Real(boost::math::erf(v));
      },
      [](double v) { return std::erf(v); });
}
Exact sigmoid(const Exact& x) {
  return unary(x, sigmoid_of, [](double v) { return std::isnan(v) ? v : v > 0 ? 1.0 : 0.0; });
}
Exact softplus(const Exact& x) {
  return unary(x, softplus_of, [](double v) { return std::isnan(v) || v > 0 ? v : 0.0; });
}
Exact truncate(const Exact& x) { return less(x, Exact(0.0)) ? ceil(x) : floor(x); }
Exact round_even(const Exact& x) {
  return unary(x, round_even_of, [](double v) { return v; });
}
Exact sign(const Exact& x) {
  if (is_nan(x)) return x;
  return Exact(less(x, Exact(0.0)) ? -1.0 : less(Exact(0.0), x) ? 1.0 : 0.0);
}
Exact reciprocal(const Exact& x) { return Exact(1.0) / x; }

Exact pow(const Exact& base, const Exact& exponent) {
  const Real &a = real_of(base), &b = real_of(exponent);
  const bool whole = finite(b) && mp::floor(b) == b;
  if (!finite(a) || !finite(b) || a == 0 || b == 0 || (a < 0 && !whole)) {
    return Exact::of(std::pow(base.extended(), exponent.extended()));
  }
  if (mp::abs(b * mp::log(mp::abs(a))) > huge * 10)
    return Exact::of(std::pow(base.extended(), exponent.extended()));
  if (a > 0) return exact(mp::pow(a, b));
  const bool odd = mp::floor(b / 2) * 2 != b;
  const Real size = mp::pow(-a, b);
  return exact(odd ? Real(-size) : size);
}
Exact fmod(const Exact& a, const Exact& b) {
  const Real &x = real_of(a), &y = real_of(b);
  if (!finite(x) || mp::isnan(y) || y == 0) return exact(not_a_number());
  if (mp::isinf(y)) return a;
  return exact(mp::fmod(x, y));
}
Exact maximum(const Exact& a, const Exact& b) {
  return is_nan(a) ? a : is_nan(b) ? b : less(a, b) ? b : a;
}
Exact minimum(const Exact& a, const Exact& b) {
  return is_nan(a) ? a : is_nan(b) ? b : less(b, a) ? b : a;
}

}  // namespace prim
}  // namespace touchstone
