// Checks the model and runs it within limits. A case beyond a limit is neither valid nor refused.
#include "fuzz/op/trial.h"

#include "core/budget.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

constexpr Index bytes_per_element = 16;

Limits limits_of(const Bounds& bounds) {
  Limits limits = Limits::trusted();
  limits.elements = bounds.elements;
  limits.bytes = bounds.elements * bytes_per_element;
  limits.loop_iterations = 1000;
  limits.work = bounds.work;
  return limits;
}

Index elements_of(const Value& value) {
  if (value.is_tensor()) return value.tensor().size();
  Index all = 1;
  if (const auto* sequence = std::get_if<Sequence>(&value.is))
    for (const Value& item : sequence->items) all += elements_of(item);
  return all;
}

}  // namespace

Trial try_case(const suites::LineModel& made, const Bounds& bounds) {
  Trial found;
  const Limits limits = limits_of(bounds);
  const LimitsScope scope(limits);
  try {
    Model model = made.model;
    require_valid(model, limits);
    std::map<std::string, Value> feeds;
    for (std::size_t k = 0; k < made.feeds.size(); ++k)
      feeds[model.graph.inputs[k].name] = made.feeds[k];
    Index all = 0;
    for (const auto& [name, value] : run(model, std::move(feeds), RunOptions{limits, {}}))
      all += elements_of(value);
    found.small = all <= bounds.elements;
    found.valid = found.small;
  } catch (const Error& error) {
    found.small = error.kind != ErrorKind::limit && error.kind != ErrorKind::out_of_memory;
    found.rule = error.rule;
    found.why = error.message;
  }
  return found;
}

}  // namespace touchstone::fuzz
