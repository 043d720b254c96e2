// Lowering of quantized models, node by node in the order of the graph. A node that only selects
// elements moves before the DequantizeLinear that it reads. What is quantized after a sum of
// products becomes QLinearConv or QLinearMatMul; a sum that stays a float is MatMulInteger times
// its scales.
#include "optimized/lowering/quantised_graph.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_set>

#include "core/numbers/convert.h"
#include "optimized/lowering/integer_product.h"
#include "optimized/lowering/quantised_values.h"
#include "optimized/problems/float_attribute.h"
#include "reference/facts.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

using Place = transform::MutableGraph::Place;

// Each element of their results is an element of their first input, or of any input of Concat.
constexpr std::string_view selections[] = {"Concat",    "Flatten",  "Gather", "Identity",
                                           "MaxPool",   "Reshape",  "Slice",  "Squeeze",
                                           "Transpose", "Unsqueeze"};

// Limits of a clamp between a sum of products and its rounding.
struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

class QuantisedLowering {
 public:
  QuantisedLowering(Model model, const transform::PassOptions& options)
      : graph_(std::move(model), options), values_(graph_), draws_(options.draws) {}

  Model lowered() {
    for (const Node& node : graph_.nodes()) {
      for (const std::string& input : node.inputs) users_[input].push_back(&node);
    }
    for (Place at = graph_.nodes().begin(); at != graph_.nodes().end();) {
      const Place next = std::next(at);
      if (at->signature != nullptr && at->signature->domain.empty()) lower(at);
      at = next;
    }
    // Readers come first, so that what they alone read is erased too.
    for (auto place = left_.rbegin(); place != left_.rend(); ++place) {
      const std::vector<std::string>& made = (*place)->outputs;
      if (std::all_of(made.begin(), made.end(),
                      [&](const std::string& output) { return graph_.uses(output) == 0; }))
        graph_.erase(*place);
    }
    return graph_.finish();
  }

 private:
  void lower(Place at) {
    const std::string_view op = at->signature->op;
    if (op == "DequantizeLinear") {
      left_.push_back(at);
    } else if (op == "QuantizeLinear") {
      round(at);
    } else if (op == "Conv" || op == "Relu" || op == "Clip") {
      left_.push_back(at);
    } else if (op == "MatMul" || op == "Gemm") {
      left_.push_back(at);
      if (!is_rounded(at)) scale(at);
    } else if (std::find(std::begin(selections), std::end(selections), op) !=
               std::end(selections)) {
      select(at);
    }
  }

  // True if all that read a value may read integers instead. `value` is one of the model as given.
  bool is_read_as_integers(const std::string& value) {
    const auto found = users_.find(value);
    if (found == users_.end() || graph_.is_output(value) || graph_.is_captured(value)) return false;
    return std::all_of(found->second.begin(), found->second.end(), [&](const Node* user) {
      for (const std::string_view op : {"QuantizeLinear", "Conv", "MatMul", "Gemm"}) {
        if (is_standard(*user, op)) return true;
      }
      return std::any_of(std::begin(selections), std::end(selections),
                         [&](std::string_view op) { return is_standard(*user, op); }) &&
             is_read_as_integers(user->outputs[0]);
    });
  }

  static bool takes_bytes(const Signature& signature, Type type) {
    const std::string wanted = type == Type::uint8 ? "tensor(uint8)" : "tensor(int8)";
    const std::string_view constraint = signature.inputs[0].type;
    return std::any_of(signature.types.begin(), signature.types.end(), [&](const auto& spec) {
      return spec.name == constraint &&
             std::find(spec.types.begin(), spec.types.end(), wanted) != spec.types.end();
    });
  }

  // Moves a selection before the node that dequantizes its input.
  void select(Place at) {
    if (at->outputs.size() != 1) return;
    const std::optional<QuantisedValue> x = values_.dequantised(at->inputs[0]);
    if (!x || !takes_bytes(*at->signature, x->type) || !is_read_as_integers(at->outputs[0])) return;
    Node node = *at;
    const bool joins = at->signature->op == "Concat";
    for (std::size_t k = 0; k < (joins ? node.inputs.size() : 1); ++k) {
      const std::optional<QuantisedValue> each = values_.dequantised(node.inputs[k]);
      if (!each || !each->same_grid(*x)) return;
      node.inputs[k] = each->integers;
    }
    const std::string floats = at->outputs[0];
    node.outputs[0] = graph_.fresh(floats + "_integers");
    values_.note_type(node.outputs[0], x->type);
    Node back = added("DequantizeLinear", {node.outputs[0], x->scale}, floats);
    if (!x->zero.empty()) back.inputs.push_back(x->zero);
    const Place after = graph_.erase(at);
    graph_.insert(after, std::move(node));
    left_.push_back(graph_.insert(after, std::move(back)));
  }

  // Lowers what is computed right before a QuantizeLinear.
  void round(Place at) {
    const std::optional<QuantisedValue> y = values_.quantised(*at);
    if (!y) return;
    if (const auto x = values_.dequantised(at->inputs[0]); x && x->same_grid(*y)) {
      if (graph_.replace_value(y->integers, x->integers)) graph_.erase(at);
      return;
    }
    const std::optional<Place> made = graph_.maker(at->inputs[0]);
    if (!made) return;
    Clamp clamp;
    std::optional<Place> sum = made;
    if (reads_clamp(**made, clamp)) {
      if (graph_.uses(at->inputs[0]) != 1) return;
      sum = graph_.maker((*made)->inputs[0]);
    }
    if (!sum || graph_.uses((*sum)->outputs[0]) != 1) return;
    const auto [low, high] = rounded(clamp, *y);
    if ((low > y->least() || high < y->greatest()) && graph_.opset("") < first_to_clamp) return;
    std::optional<Node> node;
    if (is_standard(**sum, "Conv")) node = convolution(**sum, *y);
    if (is_standard(**sum, "MatMul")) node = matmul(**sum, *y);
    if (!node) return;
    node->name = at->name;
    node->metadata = at->metadata;
    const Place after = graph_.erase(at);
    std::string value = y->integers;
    const auto limit = [&](const char* op, int by) {  // the last limit first
      Node held = added(op, {graph_.fresh(value + "_unlimited"), byte(y->type, by)}, value);
      value = held.inputs[0];
      return held;
    };
    Place before = after;
    if (high < y->greatest()) before = graph_.insert(before, limit("Min", high));
    if (low > y->least()) before = graph_.insert(before, limit("Max", low));
    node->outputs = {value};
    graph_.insert(before, *std::move(node));
  }

  bool reads_clamp(const Node& node, Clamp& clamp) {
    if (is_standard(node, "Relu")) {
      clamp.low = 0;
      return true;
    }
    if (!is_standard(node, "Clip")) return false;
    const Facts facts{node, *node.signature, {}, {}};
    clamp.low = static_cast<float>(float_attribute(facts, "min", clamp.low));
    clamp.high = static_cast<float>(float_attribute(facts, "max", clamp.high));
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      if (k >= node.inputs.size() || node.inputs[k].empty()) continue;
      const Tensor* const bound = graph_.constant(node.inputs[k]);
      if (bound == nullptr || bound->type() != Type::float32 || bound->size() != 1) return false;
      (k == 1 ? clamp.low : clamp.high) = *bound->data<float>();
    }
    return clamp.low <= clamp.high;
  }

  // Rounding is monotonic: numbers between limits are rounded to integers between these.
  static std::pair<int, int> rounded(const Clamp& clamp, const QuantisedValue& y) {
    const auto of = [&](float limit) {
      const float whole = std::nearbyint(limit / y.step) + static_cast<float>(y.zero_point);
      return static_cast<int>(
          std::clamp(whole, static_cast<float>(y.least()), static_cast<float>(y.greatest())));
    };
    return {of(clamp.low), of(clamp.high)};
  }

  std::optional<Node> convolution(const Node& conv, const QuantisedValue& y) {
    const auto x = values_.dequantised(conv.inputs[0]);
    const auto w = values_.weights(conv.inputs[1], 0);
    if (!x || !w || graph_.constant(x->integers) != nullptr) return std::nullopt;
    const Shape& shape = w->values->shape();
    if (shape.size() < 3 || w->values->size() == 0 || !is_lowered(count(tail(shape, 1))))
      return std::nullopt;
    Node node = added("QLinearConv",
                      {x->integers, x->scale, zero_of(*x), w->integers, w->scale, zero_of(*w),
                       y.scale, zero_of(y)},
                      y.integers);
    node.attributes = conv.attributes;
    if (conv.inputs.size() > 2 && !conv.inputs[2].empty()) {
      const std::optional<std::string> bias = whole_bias(conv.inputs[2], *x, *w, shape[0]);
      if (!bias) return std::nullopt;
      node.inputs.push_back(*bias);
    }
    return node;
  }

  // Returns the bias as integers of the scales' product, which must be within four roundings of it.
  std::optional<std::string> whole_bias(const std::string& bias, const QuantisedValue& x,
                                        const QuantisedWeights& w, Index filters) {
    constexpr double near = 0x1p-22, most = 1e9;
    const std::optional<std::vector<double>> given = values_.bias(bias, filters);
    if (!given) return std::nullopt;
    Tensor made(Type::int32, {filters});
    for (Index k = 0; k < filters; ++k) {
      const double product = static_cast<double>(x.step) * static_cast<double>(w.step(k));
      const double steps = (*given)[static_cast<std::size_t>(k)] / product;
      const double whole = std::nearbyint(steps);
      if (!(std::abs(steps - whole) <= near * std::abs(steps)) || std::abs(whole) > most)
        return std::nullopt;
      made.data<std::int32_t>()[k] = static_cast<std::int32_t>(whole);
    }
    const std::string name = graph_.fresh(bias + "_integers");
    graph_.add_constant(name, std::move(made));
    return name;
  }

  std::optional<Node> matmul(const Node& product, const QuantisedValue& y) {
    const auto a = values_.dequantised(product.inputs[0]);
    if (!a) return std::nullopt;
    std::vector<std::string> inputs{a->integers, a->scale, zero_of(*a)};
    if (const auto w = values_.weights(product.inputs[1], 1)) {
      const Shape& shape = w->values->shape();
      if (shape.size() != 2 || !is_lowered(shape[0])) return std::nullopt;
      inputs.insert(inputs.end(), {w->integers, w->scale, zero_of(*w)});
    } else if (const auto b = values_.dequantised(product.inputs[1])) {
      inputs.insert(inputs.end(), {b->integers, b->scale, zero_of(*b)});
    } else {
      return std::nullopt;
    }
    inputs.insert(inputs.end(), {y.scale, zero_of(y)});
    return added("QLinearMatMul", std::move(inputs), y.integers);
  }

  // True if the only reader of a matmul rounds it, so that it is lowered there.
  bool is_rounded(Place at) {
    if (!is_standard(*at, "MatMul") || graph_.uses(at->outputs[0]) != 1) return false;
    const auto found = users_.find(at->outputs[0]);
    return found != users_.end() && found->second.size() == 1 &&
           is_standard(*found->second.front(), "QuantizeLinear") &&
           values_.quantised(*found->second.front());
  }

  // Lowers a product of dequantized rows and constant weights that stays a float.
  void scale(Place at) {
    const bool gemm = is_standard(*at, "Gemm");
    const Facts facts{*at, *at->signature, {}, {}};
    const bool transposed = gemm && facts.integer("transB") != 0;
    if (gemm && (facts.integer("transA") != 0 || facts.number("alpha", 1) != 1 ||
                 facts.number("beta", 1) != 1))
      return;
    const auto a = values_.dequantised(at->inputs[0]);
    const auto w = values_.weights(at->inputs[1], transposed ? 0 : 1);
    if (!a || !w || graph_.constant(a->integers) != nullptr) return;
    // Factors that are outputs, too, are multiplied as these floats.
    if (graph_.is_output(at->inputs[0]) || graph_.is_output(at->inputs[1])) return;
    const Shape& shape = w->values->shape();
    const bool biased = at->inputs.size() > 2 && !at->inputs[2].empty();
    if (shape.size() != 2 || w->values->size() == 0 || !is_lowered(shape[transposed ? 1 : 0]) ||
        (gemm && !is_matrix(at->inputs[0])) ||
        (biased && !values_.is_of_columns(at->inputs[2], shape[transposed ? 0 : 1])))
      return;
    const std::string y = at->outputs[0];
    Tensor steps(Type::float32, w->scales->size() == 1 ? Shape{} : w->scales->shape());
    for (Index k = 0; k < steps.size(); ++k) steps.data<float>()[k] = a->step * w->step(k);
    const std::string weights = transposed ? transpose(*w) : w->integers;
    const std::string by = graph_.fresh(y + "_scale");
    graph_.add_constant(by, std::move(steps));
    const std::string sums = graph_.fresh(y + "_sums"), floats = graph_.fresh(y + "_floats");
    const std::string product = biased ? graph_.fresh(y + "_product") : y;
    Node multiply = added("MatMulInteger", {a->integers, weights, zero_of(*a), zero_of(*w)}, sums);
    Node cast = added("Cast", {sums}, floats);
    cast.attributes["to"] = {static_cast<Index>(Type::float32), ""};
    Node last = added("Mul", {floats, by}, product);
    graph_.insert(at, std::move(multiply));
    graph_.insert(at, std::move(cast));
    if (biased) {
      graph_.insert(at, std::move(last));
      last = added("Add", {product, at->inputs[2]}, y);
    }
    last.name = at->name;
    last.metadata = at->metadata;
    left_.pop_back();
    graph_.insert(graph_.erase(at), std::move(last));
  }

  // Sums of a few products have bounds below the error of the product of rounded scales; longer
  // ones than the most may wrap.
  static bool is_lowered(Index depth) {
    constexpr Index least = 8;
    return depth >= least && depth <= most_rounded_depth;
  }
  // True if the declared inputs determine that a value is a matrix. No node after the lowering
  // verifies that rule of Gemm.
  bool is_matrix(const std::string& value) {
    const transform::KnownValue* const known = graph_.known(value);
    return known != nullptr && known->rank == 2 &&
           (!draws_ || std::any_of(known->drawn.begin(), known->drawn.end(),
                                   [](const auto& shape) { return shape.has_value(); }));
  }

  std::string transpose(const QuantisedWeights& w) {
    const Index rows = w.values->shape()[0], columns = w.values->shape()[1];
    Tensor made(w.values->type(), {columns, rows});
    const auto* const from = w.values->data<std::uint8_t>();
    auto* const to = made.data<std::uint8_t>();
    for (Index m = 0; m < rows; ++m) {
      for (Index n = 0; n < columns; ++n) to[n * rows + m] = from[m * columns + n];
    }
    const std::string name = graph_.fresh(w.integers + "_transposed");
    graph_.add_constant(name, std::move(made));
    return name;
  }

  static Node added(const std::string& op, std::vector<std::string> inputs,
                    const std::string& output) {
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    return node;
  }

  std::string byte(Type type, int number) {
    Tensor made(type, {});
    set_number(made, 0, number);
    const std::string name = graph_.fresh("limit");
    graph_.add_constant(name, std::move(made));
    return name;
  }
  std::string zero_of(const QuantisedValue& x) { return x.zero.empty() ? byte(x.type, 0) : x.zero; }
  std::string zero_of(const QuantisedWeights& w) {
    if (!w.zero.empty()) return w.zero;
    const std::string name = graph_.fresh(w.integers + "_zero");
    graph_.add_constant(name, Tensor(w.values->type(), w.scales->shape()));
    return name;
  }

  static constexpr Index first_to_clamp = 12;  // the first opset whose Max and Min take bytes

  transform::MutableGraph graph_;
  QuantisedValues values_;
  const bool draws_;                                                 // the inputs leave sizes open
  std::unordered_map<std::string, std::vector<const Node*>> users_;  // of the model as given
  std::vector<Place> left_;  // in the order of the graph; erased if nothing reads them
};

}  // namespace

bool integers_are_faster() {
  return chosen_isa() == Isa::sse41 || processor_has(IntegerDots::vectors, chosen_isa());
}

bool has_quantised(const Model& model) {
  return std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                     [](const Node& node) { return is_standard(node, "DequantizeLinear"); });
}

Model lower_quantised(Model model, const transform::PassOptions& options) {
  transform::PassOptions own = options;
  own.checked = false;  // what is read depends on no size
  return QuantisedLowering(std::move(model), own).lowered();
}

}  // namespace touchstone::optimized
