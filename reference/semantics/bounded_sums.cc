// Bounds of sums and products of n terms in any order and grouping.
#include "reference/semantics/bounded_sums.h"

#include "reference/semantics/alternatives.h"

namespace touchstone {

using bounded::infinity;
using bounded::least_squared;
using bounded::up;

void Sum<Bounded>::add_slowly(const Bounded& x) {
  const std::uint8_t specials = x.specials();
  specials_ |= specials & (special::infinity | special::minus_infinity | special::nan);
  if (specials & (special::largest | special::minus_largest)) error_ = infinity;
  if (!std::isfinite(x.hi)) {
    special_ = has_special_ ? special_ + x.hi : x.hi;
    has_special_ = true;
    exact_ = false;
    // Alternatives next to a certain infinity or NaN: finite ones, and infinities.
    const int infinities = special::infinity | special::minus_infinity;
    if (x.is_set() || (specials & infinities)) error_ = infinity;
    if (x.e == infinity) error_ = infinity;
    return;
  }
  if (!(std::abs(x.hi) + x.e < 0x1p900)) {
    const dd::Pair s = dd::two_sum(hi_, x.hi);
    if (std::isfinite(s.hi))
      hi_ = s.hi, lo_ += (std::isfinite(s.lo) ? s.lo : 0) + x.lo;
    else
      error_ = infinity, specials_ |= s.hi > 0 ? special::infinity : special::minus_infinity;
    size_ += std::abs(x.hi) + x.e;
    error_ += x.e;
    ++count_;
    if (x.e == 0 && x.lo == 0)
      note_last_bit(x.hi);
    else
      exact_ = false;
    return;
  }
  add(x.without_extra());  // a set is replaced by its hull
}

// Estimates the number of distinct term values, by linear counting (Whang, Vander-Zanden and Taylor
// 1990).
double Sum<Bounded>::distinct() const {
  int free = 0;
  for (const std::uint64_t marks : marks_) free += 64 - std::popcount(marks);
  return free == 0 ? std::numeric_limits<double>::infinity() : 256 * std::log(256.0 / free);
}

// Root mean square of a sum's error, over u. An addition errs by at most u of its partial sum, and
// independent errors add up as squares. Takes the largest of three orders: as written, backwards,
// and the mean over all permutations of the terms. Equal terms give equal errors within a binade of
// partial sums, so there are no more independent errors than distinct values.
double Sum<Bounded>::random_walk() const {
  const auto n = static_cast<double>(count_);
  const double backwards = n * hi_ * hi_ - 2 * hi_ * partials_ + partial_squares_;
  const double permuted = n * hi_ * hi_ / 3 + std::max(0.0, n * squares_ - hi_ * hi_) / 6;
  return std::sqrt(std::max({partial_squares_, backwards, permuted}) *
                   std::max(1.0, n / distinct()));
}

Bounded Sum<Bounded>::get() const {
  const SemanticsContext& c = semantics_context;
  if (has_special_) {
    Bounded out = Bounded::raw(special_, 0, error_ == infinity ? infinity : 0);
    // A term that may have overflowed with the other sign turns an infinity into NaN.
    if (specials_ && std::isinf(special_)) {
      const std::uint8_t other = special_ > 0 ? special::minus_infinity : special::infinity;
      if (specials_ & (other | special::nan)) out.add_specials(special::nan);
    }
    // Finite terms do so too, if some order of them overflows to the other infinity first.
    const double against = (special_ > 0 ? size_ - hi_ : size_ + hi_) / 2 + error_;
    if (std::isinf(special_) &&
        against * (1 + static_cast<double>(count_) * c.sum_u) * up >= c.limit)
      out.add_specials(special::nan);
    return out;
  }
  const dd::Pair v = dd::quick_two_sum(hi_, lo_);
  const double steps = static_cast<double>(std::max<Index>(0, count_ - 1));
  const double size = size_ * (1 + 0x1p-51 * steps) * up;
  double e = error_ * (1 + 0x1p-51 * steps) * up;
  const bool whole = exact_ && last_bit_ > -1075 &&
                     size < std::ldexp(1.0, std::min(1023, last_bit_ + c.sum_precision)) &&
                     (!c.flush || std::ldexp(1.0, last_bit_) >= c.normal);
  if (count_ > 1 && !whole) {
    const double reach = count_ == 2 ? std::abs(v.hi) + e : size;
    const bool fits =
        count_ == 2 && error_ == 0 && c.precision == c.sum_precision && bounded::fits(v.hi, v.lo);
    if (!fits) {
      double grown = steps * reach;
      if (c.sums == Sums::aggregate && size >= least_squared) {
        const double walk = 2 * random_walk();
        if (walk < grown) grown = walk;  // NaN: a partial sum was too large to be squared
      }
      e += grown * c.sum_u;
      if (c.flush) e += steps * c.h;
      e *= up;
    }
  }
  if (std::isnan(e) || !std::isfinite(v.hi)) e = infinity;
  Bounded out = Bounded::raw(v.hi, v.lo, e);
  std::uint8_t bits = specials_;
  if (size + e >= c.limit) {
    const double high = (size + v.hi) / 2 + e, low = (size - v.hi) / 2 + e;
    if (high >= c.limit) bits |= special::infinity;
    if (low >= c.limit) bits |= special::minus_infinity;
  }
  if ((bits & special::infinity) && (bits & special::minus_infinity)) bits |= special::nan;
  out.add_specials(bits);
  return out;
}

namespace {

int significant_bits(double x) {
  int exponent = 0;
  auto m = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), 53));
  return m == 0 ? 0 : 53 - std::countr_zero(m);
}

}  // namespace

void Prod<Bounded>::add(const Bounded& x) {
  const bool one = x.plain() && x.e == 0 && x.lo == 0 && std::abs(x.hi) == 1;
  if (!one) ++count_;
  nan_ = nan_ || std::isnan(x.hi) || !x.plain() || (x.e != 0 && x.e >= std::abs(x.hi));
  infinite_ = infinite_ || std::isinf(x.hi);
  negative_ = negative_ != std::signbit(x.hi);
  if (x.e != 0 || x.lo != 0 || !std::isfinite(x.hi))
    exact_ = false;
  else
    bits_ += significant_bits(x.hi);
  if (x.e == 0 && x.hi == 0) {
    zero_ = true;
  } else if (std::isfinite(x.hi)) {
    peak_ *= std::max(1.0, std::abs(x.hi) + x.e);
    trough_ *= std::min(1.0, std::max(0.0, std::abs(x.hi) - x.e));
  }
  const auto tame = [](const Bounded& a) {
    return a.plain() && std::abs(a.hi) < 0x1p400 && a.e < 0x1p400;
  };
  if (!tame(value_) || !tame(x)) {
    value_ = value_ * x;
    return;
  }
  const dd::Pair v = dd::multiply({value_.hi, value_.lo}, {x.hi, x.lo});
  const double e = (std::abs(value_.hi) * x.e + std::abs(x.hi) * value_.e + value_.e * x.e) * up;
  value_ = Bounded::raw(v.hi, v.lo, e);
}

Bounded Prod<Bounded>::get() const {
  const SemanticsContext& c = semantics_context;
  // An order that underflows before it meets an infinity is NaN, others are infinite.
  if (std::isnan(value_.hi) && infinite_ && !nan_ && !zero_) {
    Bounded out = Bounded::raw(negative_ ? -infinity : infinity, 0, 0);
    out.add_specials(special::nan);
    return out;
  }
  // Some order of the factors overflows midway, with the sign of the factors so far; another
  // underflows to zero.
  const bool overflows = !(peak_ < c.limit), vanishes = trough_ < (c.flush ? c.normal : c.tiny);
  if (overflows && vanishes && !std::isnan(value_.hi))
    return Bounded::anything(value_.hi, value_.lo);
  Bounded out = value_;
  if (overflows) {
    out.add_specials(special::infinity | special::minus_infinity);
    if (zero_) out.add_specials(special::nan);
  }
  if (std::isinf(value_.hi) && vanishes) out.add_specials(special::nan);
  if (!std::isfinite(value_.hi) || !value_.plain()) return out;
  const bool zero = zero_ && value_.hi == 0;
  const bool whole = exact_ && bits_ <= c.sum_precision && peak_ < c.limit && trough_ >= c.normal;
  if (count_ > 1 && !whole && !zero) {
    const double growth = std::expm1(static_cast<double>(count_ - 1) * std::log1p(c.sum_u));
    const double small = static_cast<double>(count_) * c.h * peak_;
    out.e = (out.e + growth * (std::abs(out.hi) + out.e) + small) * up;
  }
  if (std::isnan(out.e)) out.e = infinity;
  return out;
}

}  // namespace touchstone
