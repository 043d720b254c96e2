// Post-processing of the scores of classical machine learning models: one of five transforms, and
// the label of the best class. The same code serves native numbers and extended precision.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/kernel.h"

namespace touchstone {

enum class Transform { none, softmax, logistic, softmax_zero, probit };

inline std::vector<std::string> transform_names() {
  return {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
}
// `name` must be one of them.
inline Transform transform_called(std::string_view name) {
  const std::vector<std::string> names = transform_names();
  return static_cast<Transform>(std::find(names.begin(), names.end(), name) - names.begin());
}

template <class S>
S exactly(const Tensor& tensor, Index k);  // defined for extended precision

// An element as a number that computes in float or double. Extended precision keeps the possible
// loss of rounding to `computing`.
template <class S>
S element(const Tensor& tensor, Index k, [[maybe_unused]] Type computing = Type::float32) {
  if constexpr (std::is_floating_point_v<S>)
    return static_cast<S>(number_at(tensor, k));
  else
    return round_number(exactly<S>(tensor, k), computing);
}

namespace detail {

// With `zeros_out` a score of zero stays zero and is excluded from the sum.
template <class S>
void softmax(std::span<S> scores, bool zeros_out) {
  const S zero = constant<S>(0);
  Max<S> largest;
  for (const S& score : scores) largest.add(score);
  Sum<S> whole;
  for (S& score : scores) {
    const S power = prim::exp(score - largest.get());
    score = zeros_out ? select(equal(score, zero), zero, power) : power;
    whole.add(score);
  }
  for (S& power : scores)
    power = zeros_out ? select(equal(whole.get(), zero), zero, power / whole.get())
                      : power / whole.get();
}

// Closed-form approximation of the normal distribution's quantile.
template <class S>
S probit(const S& score) {
  const S one = constant<S>(1), q = constant<S>(2) * score - one;
  const S l = prim::log((one - q) * (one + q));
  const S v = constant<S>(4.330746750799873) + l / constant<S>(2);
  return constant<S>(1.41421356) * prim::sign(q) *
         prim::sqrt(prim::sqrt(v * v - l / constant<S>(0.147)) - v);
}

}  // namespace detail

template <class S>
void transform_scores(std::span<S> scores, Transform how) {
  switch (how) {
    case Transform::softmax:
      return detail::softmax(scores, false);
    case Transform::softmax_zero:
      return detail::softmax(scores, true);
    case Transform::logistic:
      for (S& score : scores) score = prim::sigmoid(score);
      return;
    case Transform::probit:
      for (S& score : scores) score = detail::probit(score);
      return;
    case Transform::none:
      break;
  }
}
template <class S>
std::vector<S> transformed(std::vector<S> scores, Transform how) {
  transform_scores(std::span<S>(scores), how);
  return scores;
}

// A row of a classifier: the votes that decide its label, and the scores that the node outputs.
template <class S>
struct Scored {
  std::vector<S> votes, shown;

  // The first of the largest; NaN wins, as in ArgMax.
  Index top() const {
    FirstLargest<S, Index> best;
    for (std::size_t e = 0; e < votes.size(); ++e) best.add(votes[e], static_cast<Index>(e));
    return best.at;
  }
};

// Labels of the classes: integers or strings.
struct Labels {
  IndexVector integers;
  std::vector<std::string> texts;

  Labels() = default;
  Labels(const Facts& facts, std::string_view of_integers, std::string_view of_texts)
      : integers(facts.integers(of_integers)), texts(facts.texts(of_texts)) {}
  Index size() const { return integers.empty() ? touchstone::size(texts) : integers.size(); }
  Type type() const { return integers.empty() ? Type::string : Type::int64; }
  Tensor of(const std::vector<Index>& classes) const {
    Tensor made(type(), Shape{touchstone::size(classes)});
    for (Index n = 0; n < made.size(); ++n) {
      const Index e = item(classes, n);
      if (integers.empty())
        made.data<std::string>()[n] = item(texts, e);
      else
        made.data<std::int64_t>()[n] = item(integers, e);
    }
    return made;
  }
  // True if element n of the target's labels is that of class e.
  bool is(const Tensor& given, Index n, Index e) const {
    return integers.empty() ? given.data<std::string>()[n] == item(texts, e)
                            : given.data<std::int64_t>()[n] == item(integers, e);
  }
};

// Runs a classifier. Its plan has labels, rows, columns (of the output scores), and row<S>(n),
// which returns a Scored<S>.
template <class Plan>
void run_classifier(const Plan& plan, Call& call) {
  Tensor shown(Type::float32, Shape{plan.rows, plan.columns});
  std::vector<Index> tops;
  for (Index n = 0; n < plan.rows; ++n) {
    const Scored<float> scored = plan.template row<float>(n);
    tops.push_back(scored.top());
    std::copy(scored.shown.begin(), scored.shown.end(), shown.data<float>() + n * plan.columns);
  }
  if (call.wanted[0]) call.outputs[0] = plan.labels.of(tops);
  if (call.wanted.size() > 1 && call.wanted[1]) call.outputs[1] = std::move(shown);
}

template <class Plan>
Inferred infer_classifier(const Facts& facts) {
  return inferred<Plan>(facts, [](const Plan& plan, Inferred& known) {
    known.add(plan.labels.type(), Shape{plan.rows});
    known.add(Type::float32, Shape{plan.rows, plan.columns});
  });
}

}  // namespace touchstone
