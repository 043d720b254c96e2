// Compares timed outputs with the reference's. Distances are computed as in `touchstone compare`.
#include "tools/bench/output_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/compare/distance.h"
#include "core/error.h"
#include "core/types.h"

namespace touchstone::bench {
namespace {

constexpr double tolerated = 0x1p-10;      // share of the output's largest element
constexpr double roundings = 64;           // per node, accumulated: see output_checker.h
constexpr double rounding = 0x1p-24;       // unit roundoff of float32
constexpr double share_of_apart = 0x1p-4;  // share of the distance to another input's output
constexpr double told_apart = 0x1p-20;     // min. distance of outputs that float32 distinguishes

bool is_float(const Value& value) {
  if (!value.is_tensor()) return false;
  const Type type = value.tensor().type();
  return type != Type::boolean && type != Type::string && !facts(type).is_integer;
}

Value value_of(const Outputs& outputs, const std::string& name) {
  const auto found = outputs.find(name);
  return found == outputs.end() ? Value{} : found->second;
}

}  // namespace

OutputChecker::OutputChecker(std::vector<ValueInfo> outputs, std::vector<Outputs> expected,
                             const Outputs& moved, Index nodes)
    : outputs_(std::move(outputs)), expected_(std::move(expected)) {
  if (expected_.size() < 2) BUG("one input cannot be told from itself");
  for (const ValueInfo& output : outputs_) {
    double apart = HUGE_VAL;
    for (std::size_t left = 0; left < expected_.size(); ++left) {
      for (std::size_t right = left + 1; right < expected_.size(); ++right) {
        const compare::Distance one =
            compare::distance(output.name, value_of(expected_[left], output.name),
                              value_of(expected_[right], output.name));
        apart = std::min(apart, one.relative());
      }
    }
    apart_[output.name] = apart;
    const double moves = compare::distance(output.name, value_of(moved, output.name),
                                           value_of(expected_.front(), output.name))
                             .relative();
    const double rounded = roundings * std::sqrt(static_cast<double>(std::max<Index>(nodes, 1))) *
                           std::max(moves, rounding);
    const double most = std::min(tolerated, rounded), near = apart * share_of_apart;
    allowed_[output.name] = near < told_apart ? most : std::min(most, near);
  }
}

OutputChecker::Ruling OutputChecker::hold(Index set, const Outputs& given) const {
  const Outputs& expected = expected_.at(static_cast<std::size_t>(set));
  Ruling ruling;
  for (const ValueInfo& output : outputs_) {
    const Value right = value_of(expected, output.name), came = value_of(given, output.name);
    const std::string what = "output '" + output.name + "' ";
    if (came.absent() && !right.absent()) {
      return {HUGE_VAL, what + "is missing"};
    }
    const compare::Distance one = compare::distance(output.name, came, right);
    ruling.distance = std::max(ruling.distance, one.relative());
    if (!one.unlike.empty()) {
      ruling.fault = what + "is " + one.unlike + " (expected)";
    } else if (!is_float(right) && !one.same()) {
      ruling.fault = fmt::format("{}differs in {} of {} elements: {} for {} at {}", what,
                                 one.different, one.elements, one.left, one.right, one.place);
    } else if (const double allowed = allowed_.at(output.name); !(one.relative() <= allowed)) {
      ruling.fault =
          fmt::format("{}is {:.2g} of its largest element away, {:.2g} is allowed: {} for {} at {}",
                      what, one.relative(), allowed, one.left, one.right, one.place);
    }
    if (!ruling.fault.empty()) return ruling;
  }
  return ruling;
}

std::string OutputChecker::indistinguishable() const {
  double most = 0;
  for (const auto& [output, apart] : apart_) most = std::max(most, apart);
  if (most * share_of_apart >= told_apart) return "";
  return fmt::format("the outputs for other inputs are {:.2g} apart: no comparison could fail",
                     most);
}

}  // namespace touchstone::bench
