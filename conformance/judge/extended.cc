// Judges a result by its bounded semantics: element by element, and then as a whole.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "conformance/judge/judge.h"
#include "conformance/judge/text.h"
#include "core/numbers/convert.h"
#include "core/numbers/formats.h"

namespace touchstone::judge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double open_above =
    0x1p-6;  // relative to the tensor's largest |exact|: a larger bound proves nothing
constexpr double close_call = 0.02;   // distance of utilisation from 1 at which the arbiter decides
constexpr double most_of_a_lane = 3;  // six deviations, if a sum's own are half its aggregate bound
constexpr Index mistrust_from = 10;   // elements: fewer are often equal by chance
constexpr double mistrust_share = 0.9;

bool finite(const Bounded& b) { return std::isfinite(b.hi); }

double magnitude(const Bounded& b) { return std::abs(b.hi + b.lo); }

// Returns the widest single interval of b: a set of alternatives is as sharp as its members.
double sharpness(const Bounded& b) {
  if (b.e == infinity || !b.is_set()) return b.e;
  double widest = 0;
  for (const Bounded::Member* m = b.members_begin(); m != b.members_end(); ++m)
    widest = std::max(widest, m->e);
  return widest;
}

double difference(long double actual, double hi, double lo) {
  return static_cast<double>((actual - hi) - lo);
}

double ratio(double error, double bound) {
  return error == 0 ? 0 : bound == 0 ? infinity : error / bound;
}

struct Element {
  double utilisation = 0;
  double signed_error = 0;
  bool other = false;  // right only as an alternative of the exact value
};

bool special_allowed(const Bounded& b, long double a, const Format* format) {
  const std::uint8_t s = b.specials();
  if (std::isnan(a)) return (s & special::nan) != 0;
  if (std::isinf(a)) return (s & (a > 0 ? special::infinity : special::minus_infinity)) != 0;
  if (!format) return false;
  return ((s & special::largest) && a == format->largest) ||
         ((s & special::minus_largest) && a == -format->largest);
}

Element look(const Bounded& b, long double a, const Format* format) {
  const auto same = [&] {
    return std::isnan(a) ? std::isnan(b.hi) : a == static_cast<long double>(b.hi) && b.lo == 0;
  };
  if (same()) return {};
  if (special_allowed(b, a, format)) return {0, 0, true};
  if (!std::isfinite(a)) return {infinity, 0, false};
  Element best{infinity, 0, false};
  const auto consider = [&](const Bounded::Member& m) {
    const double d = difference(a, m.hi, m.lo), u = ratio(std::abs(d), m.e);
    const bool core = m.hi == b.hi && m.lo == b.lo;
    if (u < best.utilisation || best.utilisation == infinity) best = {u, d, !core};
  };
  if (b.is_set())
    std::for_each(b.members_begin(), b.members_end(), consider);
  else if (finite(b))
    consider({b.hi, b.lo, b.e});
  return best;
}

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Spread {  // exact values of a tensor, summarized
  double largest = 0, min_value = infinity, greatest_value = -infinity;
  double commonest_share = 0;
};

Spread spread_of(const std::vector<Bounded>& values) {
  Spread out;
  std::map<double, Index> counts;
  Index most = 0;
  for (const Bounded& b : values) {
    if (!finite(b)) continue;
    if (b.e != infinity) out.largest = std::max(out.largest, magnitude(b));
    out.min_value = std::min(out.min_value, b.hi);
    out.greatest_value = std::max(out.greatest_value, b.hi);
    most = std::max(most, ++counts[b.hi == 0 ? 0 : b.hi]);
  }
  out.commonest_share =
      values.empty() ? 0 : static_cast<double>(most) / static_cast<double>(values.size());
  return out;
}

// Applies the bound to the arbiter's value instead of Bounded's 104-bit value.
bool arbiter_accepts(const Bounded& b, const Exact& exact, long double a) {
  return std::abs(difference(a, exact.hi(), exact.lo())) <= b.e;
}

class Tally {
 public:
  Tally(const ExtendedOutput<Bounded>& expected, const Tensor& actual,
        const ExtendedOutput<Bounded>* aggregate, const ExtendedOutput<Exact>* arbiter)
      : expected_(expected),
        actual_(actual),
        aggregate_(aggregate),
        arbiter_(arbiter),
        spread_(spread_of(expected.values)),
        format_(facts(actual.type()).is_float ? &format_of(actual.type()) : nullptr) {}

  Comparison judge() {
    out_.elements = actual_.size();
    for (std::size_t k = 0; k < expected_.values.size(); ++k) one(k);
    if (out_.judged > 0) {
      out_.utilisation_mean = utilisation_sum_ / static_cast<double>(out_.judged);
      out_.bias = bias_sum_ / static_cast<double>(out_.judged);
    }
    out_.resolution_median = median(resolutions_);
    show(out_.where);
    decide();
    return std::move(out_);
  }

 private:
  Index position(std::size_t k) const {
    return expected_.at.empty() ? static_cast<Index>(k) : expected_.at[k];
  }

  bool is_open(const Bounded& b) const {
    if (b.e == infinity) return true;
    // Next to zero the last bit of the format is sharp enough, whatever the tensor holds.
    const double least = format_ ? format_->smallest_normal : 0;
    return sharpness(b) > std::max(open_above * spread_.largest, least);
  }

  void one(std::size_t k) {
    const Bounded& b = expected_.values[k];
    const long double a = number_at(actual_, position(k));
    if (expected_.unsure_choice && !(std::isfinite(b.hi) && std::isfinite(a))) {
      ++out_.open;
      return;
    }
    const bool open = is_open(b);
    ++(open ? out_.open : out_.judged);
    if (b.e == infinity) return;
    Element e = look(b, a, format_);
    // The arbiter has one value: a set of alternatives is judged by its members' own bounds.
    const bool close = !b.is_set() && std::abs(e.utilisation - 1) <= close_call;
    // It has none where an infinite number on the way was multiplied by 0.
    if (close && arbiter_ && k < arbiter_->values.size() &&
        std::isfinite(arbiter_->values[k].hi())) {
      if (arbiter_accepts(b, arbiter_->values[k], a))
        e.utilisation = std::min(e.utilisation, 1.0);
      else
        e.utilisation = std::max(e.utilisation, std::nextafter(1.0, 2.0));
    }
    add_to_aggregate(k, e);
    // A wide bound proves nothing, but an element outside of it is wrong.
    if (open && e.utilisation <= 1) return;
    bounds_exact_ = bounds_exact_ && b.e == 0 && b.plain();
    all_equal_ = all_equal_ && e.signed_error == 0 && !e.other && e.utilisation == 0;
    alternatives_ = alternatives_ || e.other;
    if (out_.where < 0 || e.utilisation > out_.utilisation_max) {
      out_.utilisation_max = e.utilisation;
      out_.where = position(k);
      shown_ = k;
    }
    utilisation_sum_ += e.utilisation;
    if (b.e > 0 && finite(b)) {
      bounds_.push_back(b.e);
      if (!b.is_set()) bias_sum_ += e.signed_error / b.e;
      if (magnitude(b) > 0) resolutions_.push_back(sharpness(b) / magnitude(b));
    }
  }

  void add_to_aggregate(std::size_t k, const Element& e) {
    const Bounded& b = expected_.values[k];
    if (!aggregate_ || b.is_set() || k >= aggregate_->values.size()) return;
    const double bound = aggregate_->values[k].e;
    if (bound > 0 && bound != infinity && finite(b)) {
      squares_ += (e.signed_error / bound) * (e.signed_error / bound);
      ++squared_;
      resolved_ += !is_open(aggregate_->values[k]);
    }
  }

  void show(Index where) {
    if (where < 0) return;
    out_.actual = element_text(actual_, where);
    out_.expected = bounded_text(expected_.values[shown_]);
  }

  void decide() {
    if (out_.utilisation_max > 1) {
      out_.verdict = Verdict::wrong_value;
      out_.detail = "element " + index_text(expected_.shape, out_.where) + " is " + out_.actual +
                    " for " + out_.expected;
      return;
    }
    if (!expected_.improbable.empty()) {
      out_.verdict = Verdict::wrong_value;
      out_.detail = "frequencies: " + expected_.improbable;
      return;
    }
    if (squared_ >= aggregate_from) {
      out_.aggregate = std::sqrt(squares_ / static_cast<double>(squared_)) / allowed();
      if (out_.aggregate > 1) {
        out_.verdict = Verdict::wrong_value;
        out_.detail = "aggregate: each element is inside its bound, all together are too far off";
        return;
      }
    }
    if (out_.judged == 0 && resolved_ >= aggregate_from) {
      // Long sums: worst-case bounds are too wide for single elements, the aggregate bound is not.
      out_.judged = resolved_;
      out_.open -= resolved_;
      out_.verdict = Verdict::within;
      out_.detail = "judged as a whole: the bound of each element alone is too wide";
      return;
    }
    if (out_.judged == 0 && expected_.drawn > 0) {
      out_.judged = expected_.drawn;
      out_.open -= expected_.drawn;
      out_.verdict = Verdict::within;
      out_.detail = "judged as a whole: draws occur as often as their distribution says";
      return;
    }
    if (out_.judged == 0 && out_.elements > 0) {
      out_.verdict = Verdict::open;
      out_.detail = "no element has a bound that says something";
      return;
    }
    if (bounds_exact_) {
      out_.verdict = Verdict::exact;
      return;
    }
    if (mistrusted()) return;
    out_.verdict = alternatives_ ? Verdict::in_set : all_equal_ ? Verdict::exact : Verdict::within;
  }

  // Root mean square of errors over aggregate bounds that chance may reach: elements of a lane
  // share the errors of its sums, so few lanes are few draws.
  double allowed() const {
    if (expected_.lanes == 0) return 1;
    return std::max(1.0, most_of_a_lane / std::sqrt(static_cast<double>(expected_.lanes)));
  }

  bool mistrusted() {
    if (static_cast<Index>(expected_.values.size()) < mistrust_from || !format_) return false;
    if (spread_.commonest_share > mistrust_share) {
      out_.detail = "over 90 % of the expected elements are equal";
    } else if (median(bounds_) > spread_.greatest_value - spread_.min_value) {
      out_.detail = "the bound is wider than the output's own range";
    } else {
      return false;
    }
    out_.verdict = Verdict::mistrusted;
    return true;
  }

  const ExtendedOutput<Bounded>& expected_;
  const Tensor& actual_;
  const ExtendedOutput<Bounded>* aggregate_;
  const ExtendedOutput<Exact>* arbiter_;
  Spread spread_;
  const Format* format_;
  Comparison out_;
  std::size_t shown_ = 0;
  double utilisation_sum_ = 0, bias_sum_ = 0, squares_ = 0;
  Index squared_ = 0;
  Index resolved_ = 0;  // elements among these with a useful aggregate bound
  bool bounds_exact_ = true, all_equal_ = true, alternatives_ = false;
  std::vector<double> bounds_, resolutions_;
};

}  // namespace

Comparison judge_extended(const ExtendedOutput<Bounded>& expected, const Tensor& actual,
                          const ExtendedOutput<Bounded>* aggregate,
                          const ExtendedOutput<Exact>* arbiter) {
  Comparison out;
  out.elements = actual.size();
  if (actual.type() != expected.type) {
    out.verdict = Verdict::wrong_type;
    out.detail = std::string(touchstone::name(actual.type())) + " for " +
                 std::string(touchstone::name(expected.type));
    return out;
  }
  if (!(actual.shape() == expected.shape)) {
    out.verdict = Verdict::wrong_shape;
    out.detail = text(actual.shape()) + " for " + text(expected.shape);
    return out;
  }
  return Tally(expected, actual, aggregate, arbiter).judge();
}

}  // namespace touchstone::judge
