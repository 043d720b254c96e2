// Runs the node on the reference with inputs that are moved at random, and the nodes of its body
// with outputs drawn from their bounds.
#include "fuzz/graph/conditioning.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "conformance/judge/forms.h"
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

// Returns a number within the bound of an element, or its own if it has none. Where the bound is
// infinite, overflow inside of the node may have made anything of it: also NaN, of 0 and infinity.
// An infinity that is exact may be NaN: where a finite product overflows before it is added. A
// number may be an infinity or NaN where the bound names them: 0 after an overflow.
long double drawn_from(const Bounded& bound, long double own, Random& random) {
  if (std::isinf(bound.hi)) return random.below(2) == 0 ? own : static_cast<long double>(bound.hi);
  constexpr int not_finite = special::nan | special::infinity | special::minus_infinity;
  if (const int named = bound.specials() & not_finite; named != 0) {
    std::vector<long double> all{own};
    if ((named & special::nan) != 0) all.push_back(std::numeric_limits<long double>::quiet_NaN());
    if ((named & special::infinity) != 0) all.push_back(HUGE_VALL);
    if ((named & special::minus_infinity) != 0) all.push_back(-HUGE_VALL);
    return all[static_cast<std::size_t>(random.below(static_cast<Index>(all.size())))];
  }
  if (!std::isfinite(bound.hi) || bound.e <= 0) return own;
  if (!std::isfinite(bound.e)) {
    const auto exact = static_cast<long double>(bound.hi);
    const std::array anything{own, exact, std::copysign(HUGE_VALL, exact),
                              std::numeric_limits<long double>::quiet_NaN()};
    return anything[static_cast<std::size_t>(random.below(anything.size()))];
  }
  const auto share = static_cast<double>(static_cast<std::int64_t>(random.bits())) * 0x1p-63;
  return static_cast<long double>(bound.hi) + static_cast<long double>(share * bound.e);
}

// Replaces the float elements of a node's outputs by others that its definition admits.
void round_otherwise(Call& call, Random& random) {
  const ExtendedEntry* entry = call.signature ? find_extended(*call.signature) : nullptr;
  if (entry == nullptr || entry->bounded == nullptr) return;
  const BoundedScope scope(Type::float32, Class::fast);
  ExtendedCall<Bounded> extended;
  extended.node = call.node;
  extended.signature = call.signature;
  extended.inputs = call.inputs;
  extended.observed = call.outputs;
  extended.wanted = call.wanted;
  extended.outputs.resize(call.outputs.size());
  const std::vector<ExtendedOutput<Bounded>> bounds =
      judge::bounded_outputs(*entry, extended, Class::fast);
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    if (!call.wanted[k] || !bounds[k].present || !facts(bounds[k].type).is_float) continue;
    const Tensor& ours = call.outputs[k].tensor();
    Tensor made(ours.type(), ours.shape());
    for (Index at = 0; at < made.size(); ++at)
      set_number(
          made, at,
          drawn_from(bounds[k].values[static_cast<std::size_t>(at)], number_at(ours, at), random));
    call.outputs[k] = std::move(made);
  }
}

// Distance of two numbers: 0 for two NaN, infinite for a NaN and a number.
long double apart(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : HUGE_VALL;
  return a == b ? 0 : std::fabs(a - b);
}

// The tensors of a value: its own, those of a sequence's items and of an optional's.
void collect(const Value& value, std::vector<Tensor>& tensors) {
  if (value.is_tensor()) tensors.push_back(value.tensor());
  if (const auto* const sequence = std::get_if<Sequence>(&value.is)) {
    for (const Value& item : sequence->items) collect(item, tensors);
  }
  if (const auto* const optional = std::get_if<Optional>(&value.is)) {
    if (optional->item) collect(*optional->item, tensors);
  }
}
std::vector<Tensor> tensors_of(const Value& value) {
  std::vector<Tensor> tensors;
  collect(value, tensors);
  return tensors;
}

// Raises each reach to the distance of two outputs' elements. Returns false if their shapes or
// types differ, or are not of real numbers.
bool extend(std::vector<long double>& reach, const Value& expected, const Value& found) {
  const std::vector<Tensor> all = tensors_of(expected), others = tensors_of(found);
  if (all.empty() || all.size() != others.size()) return false;
  std::size_t at = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Tensor &a = all[k], &b = others[k];
    if (a.type() != b.type() || a.shape() != b.shape() || a.type() == Type::string ||
        facts(a.type()).is_complex)
      return false;
    reach.resize(std::max(reach.size(), at + static_cast<std::size_t>(a.size())));
    for (Index element = 0; element < a.size(); ++element, ++at)
      reach[at] = std::max(reach[at], apart(number_at(a, element), number_at(b, element)));
  }
  return true;
}

// Sizes of all elements.
std::vector<long double> sizes_of(const Value& value) {
  std::vector<long double> sizes;
  for (const Tensor& tensor : tensors_of(value)) {
    for (Index k = 0; k < tensor.size(); ++k) sizes.push_back(std::fabs(number_at(tensor, k)));
  }
  return sizes;
}

// Elements of outputs: those that roundings change by half of their size, and those further from
// the reference's than roundings move them.
struct Share {
  std::size_t elements = 0, lost = 0, far = 0;
  bool explains() const { return far == 0 || lost * 8 >= elements; }
};

// Returns nothing if the shapes or types differ.
std::optional<Share> share_of(const std::vector<long double>& reaches, const Value& expected,
                              const Value& actual) {
  std::vector<long double> distances;
  if (!extend(distances, expected, actual)) return std::nullopt;
  const std::vector<long double> sizes = sizes_of(expected);
  Share share{distances.size()};
  for (std::size_t at = 0; at < distances.size(); ++at) {
    const long double reach = reaches[at];
    if (reach > 0 && 2 * reach >= sizes[at])
      ++share.lost;
    else if (distances[at] > nodes_of_a_body * reach)
      ++share.far;
  }
  return share;
}

// Float values that the nodes of a body make, in the order of their calls, and how far trials move
// them. States that an output adds to larger numbers show here alone.
class BodyValues {
 public:
  explicit BodyValues(const Node& owner) : owner_(owner) {}

  // Keeps a call of the reference's own run.
  void keep(const Call& call) {
    if (call.node == &owner_) return;
    iterates_ = iterates_ || !nodes_.insert(call.node).second;
    Kept kept{call.node, {}};
    for (const Value& made : call.outputs) {
      const bool floats = made.is_tensor() && facts(made.tensor().type()).is_float;
      elements_ += floats ? static_cast<std::size_t>(made.tensor().size()) : 0;
      kept.values.push_back(floats ? made : Value());
    }
    if (elements_ > most_elements) return;
    kept.reaches.resize(kept.values.size());
    calls_.push_back(std::move(kept));
  }

  void begin_trial() { next_ = 0; }
  void compare(const Call& call) {
    if (next_ >= calls_.size() || call.node == &owner_) return;
    Kept& kept = calls_[next_++];
    if (kept.node != call.node) {  // another branch
      next_ = calls_.size();
      return;
    }
    for (std::size_t k = 0; k < kept.values.size(); ++k) {
      if (kept.values[k].is_tensor()) extend(kept.reaches[k], kept.values[k], call.outputs[k]);
    }
  }

  // True if the body runs more than once, and trials change an eighth of what it makes by half.
  bool lost() const {
    Share all;
    for (const Kept& kept : calls_) {
      for (std::size_t k = 0; k < kept.values.size(); ++k) {
        if (kept.reaches[k].empty()) continue;
        const Share share = *share_of(kept.reaches[k], kept.values[k], kept.values[k]);
        all.elements += share.elements, all.lost += share.lost;
      }
    }
    return iterates_ && all.lost > 0 && all.lost * 8 >= all.elements;
  }

 private:
  static constexpr std::size_t most_elements = 1 << 20;
  struct Kept {
    const Node* node;
    std::vector<Value> values;
    std::vector<std::vector<long double>> reaches;
  };
  const Node& owner_;
  std::set<const Node*> nodes_;
  std::vector<Kept> calls_;
  std::size_t elements_ = 0, next_ = 0;
  bool iterates_ = false;
};

}  // namespace

bool moves_as_far(const Node& node, const std::function<Value(const std::string&)>& value_of,
                  const std::vector<Value>& expected, const std::vector<Value>& actual) {
  std::vector<std::vector<long double>> reaches(expected.size());
  BodyValues body(node);
  RunOptions own;
  own.change = [&](Call& call) { body.keep(call); };
  run_node(node, value_of, own);
  for (int trial = 0; trial < trials; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    std::vector<Value> found;
    try {
      RunOptions options;
      options.change = [&](Call& call) {
        if (call.node != &node) round_otherwise(call, random);
        body.compare(call);
      };
      body.begin_trial();
      found = run_node(
          node, [&](const std::string& name) { return moved(value_of(name), random); }, options);
    } catch (const Error&) {
      return true;  // roundings decide whether it runs
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (!node.outputs[k].empty() && !same_value(expected[k], actual[k]) &&
          !extend(reaches[k], expected[k], found[k]))
        return !tensors_of(expected[k]).empty() && !tensors_of(found[k]).empty();
    }
  }
  Share all;
  bool each = true;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (node.outputs[k].empty() || same_value(expected[k], actual[k])) continue;
    const std::optional<Share> share = share_of(reaches[k], expected[k], actual[k]);
    if (!share) return false;
    each = each && share->explains();
    all.elements += share->elements, all.lost += share->lost, all.far += share->far;
  }
  return each || all.explains() || body.lost();
}

}  // namespace touchstone::fuzz
