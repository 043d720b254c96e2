// Runs the node on the reference with inputs that are moved at random.
#include "fuzz/graph/conditioning.h"

#include <cmath>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "fuzz/graph/judge_hidden.h"
#include "fuzz/random.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

constexpr int trials = 8;
constexpr Index most_units = 4;     // in the last place
constexpr int nodes_of_a_body = 8;  // each rounds as far as the inputs are moved

// Moves each finite element that is not zero by up to most_units units in the last place.
Value moved(const Value& value, Random& random) {
  if (!value.is_tensor()) return value;
  const Tensor& from = value.tensor();
  if (from.type() == Type::string || !facts(from.type()).is_float || facts(from.type()).bits < 16)
    return value;
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < from.size(); ++k) {
    const std::uint64_t code = code_at(from, k);
    const auto units = static_cast<std::uint64_t>(random.below(2 * most_units + 1) - most_units);
    const long double number = number_at(from, k);
    set_code(made, k, code);
    if (number == 0 || !std::isfinite(number)) continue;
    set_code(made, k, code + units);
    const long double near = number_at(made, k);
    if (!std::isfinite(near) || std::signbit(near) != std::signbit(number)) set_code(made, k, code);
  }
  return made;
}

// Distance of two numbers: 0 for two NaN, infinite for a NaN and a number.
long double apart(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : HUGE_VALL;
  return a == b ? 0 : std::fabs(a - b);
}

// Raises each reach to the distance of two outputs. Returns false if their shapes or types differ.
bool extend(std::vector<long double>& reach, const Value& expected, const Value& found) {
  if (!expected.is_tensor() || !found.is_tensor()) return false;
  const Tensor &a = expected.tensor(), &b = found.tensor();
  if (a.type() != b.type() || a.shape() != b.shape() || a.type() == Type::string ||
      facts(a.type()).is_complex)
    return false;
  reach.resize(static_cast<std::size_t>(a.size()));
  for (std::size_t k = 0; k < reach.size(); ++k) {
    const auto element = static_cast<Index>(k);
    reach[k] = std::max(reach[k], apart(number_at(a, element), number_at(b, element)));
  }
  return true;
}

}  // namespace

bool moves_as_far(const Node& node, const std::function<Value(const std::string&)>& value_of,
                  const std::vector<Value>& expected, const std::vector<Value>& actual) {
  std::vector<std::vector<long double>> reaches(expected.size());
  for (int trial = 0; trial < trials; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    std::vector<Value> found;
    try {
      found =
          run_node(node, [&](const std::string& name) { return moved(value_of(name), random); });
    } catch (const Error&) {
      return true;  // roundings decide whether it runs
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (!node.outputs[k].empty() && !same_value(expected[k], actual[k]) &&
          !extend(reaches[k], expected[k], found[k]))
        return expected[k].is_tensor() && found[k].is_tensor();
    }
  }
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (node.outputs[k].empty() || same_value(expected[k], actual[k])) continue;
    std::vector<long double> distances;
    if (!extend(distances, expected[k], actual[k])) return false;
    std::size_t lost = 0, far = 0;
    for (std::size_t at = 0; at < distances.size(); ++at) {
      const long double size = std::fabs(number_at(expected[k].tensor(), static_cast<Index>(at)));
      const long double reach = reaches[k][at];
      if (reach > 0 && 2 * reach >= size)
        ++lost;
      else if (distances[at] > nodes_of_a_body * reach)
        ++far;
    }
    if (far > 0 && lost * 8 < distances.size()) return false;
  }
  return true;
}

}  // namespace touchstone::fuzz
