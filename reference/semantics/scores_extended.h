// reference/scores.h in extended precision: scores with their bounds, and labels that follow the
// target if two classes are too close for faithful arithmetic to separate.
#pragma once

#include <utility>

#include "reference/semantics/extended.h"

#include "reference/scores.h"

namespace touchstone {

// Passes an output of extended precision numbers to the judge, if the node has it.
template <class S>
void present(ExtendedCall<S>& call, Index output, Type type, Shape shape, std::vector<S> values) {
  if (output >= size(call.outputs)) return;
  ExtendedOutput<S>& to = call.outputs[static_cast<std::size_t>(output)];
  for (S& value : values) value = store(value, type);
  to.shape = std::move(shape), to.type = type, to.present = true, to.values = std::move(values);
}

// True if a faithful evaluation could rank class e best: the first NaN, or else the first of the
// largest.
inline bool may_be_top(const Scored<Bounded>& scored, Index e) {
  const Bounded& own = item(scored.votes, e);
  bool may_be_first_nan = is_nan(own).can_be_true();
  for (Index other = 0; other < e; ++other)
    may_be_first_nan = may_be_first_nan && is_nan(item(scored.votes, other)).can_be_false();
  if (may_be_first_nan) return true;
  if (!is_nan(own).can_be_false()) return false;
  for (Index other = 0; other < size(scored.votes); ++other) {
    const Bounded& its = item(scored.votes, other);
    if (!is_nan(its).can_be_false()) return false;
    if (is_nan(its).can_be_true() || other == e) continue;
    if (other < e ? !less(its, own).can_be_true() : !less(own, its).can_be_false()) return false;
  }
  return true;
}

template <class S, class Plan>
void extended_classifier(const Plan& plan, ExtendedCall<S>& call) {
  const ExtendedScope<S> scope(Type::float32);
  std::vector<S> shown;
  for (Index n = 0; n < plan.rows; ++n) {
    const Scored<S> scored = plan.template row<S>(n);
    shown.insert(shown.end(), scored.shown.begin(), scored.shown.end());
  }
  present(call, 1, Type::float32, Shape{plan.rows, plan.columns}, std::move(shown));
}

template <class Plan>
std::vector<Value> follow_classifier(const Plan& plan, const ExtendedCall<Bounded>& call) {
  const BoundedScope scope(Type::float32, Class::fast);
  const Value given = call.observed.empty() ? Value() : call.observed[0];
  const bool fits = given.is_tensor() && given.tensor().type() == plan.labels.type() &&
                    given.tensor().shape() == Shape{plan.rows};
  std::vector<Index> classes;
  for (Index n = 0; n < plan.rows; ++n) {
    const Scored<Bounded> scored = plan.template row<Bounded>(n);
    Index chosen = scored.top();
    for (Index e = 0; fits && e < size(scored.votes); ++e) {
      if (plan.labels.is(given.tensor(), n, e) && may_be_top(scored, e)) chosen = e;
    }
    classes.push_back(chosen);
  }
  return {plan.labels.of(classes), Value()};
}

}  // namespace touchstone
