// Sums of two dequantized tensors that are quantized again, with a Relu between or not: one pass
// over 8-bit integers.
#include <algorithm>
#include <cmath>

#include "core/numbers/convert.h"
#include "optimized/lowering/fused.h"
#include "optimized/lowering/quantise_kernels.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

struct Sum {
  QuantisedSum by;
  Index a, b;  // values: the integers
  FusedNodes fused;
};

const AnalyzedValue* input(const AnalyzedGraph& graph, const AnalyzedNode& fact, std::size_t k) {
  return k < fact.inputs.size() && fact.inputs[k] != no_value ? &graph.value(fact.inputs[k])
                                                              : nullptr;
}

// Reads the scale and zero point of a node for integers of 8 bits.
std::optional<QuantisedSum::Operand> operand_of(const AnalyzedGraph& graph,
                                                const AnalyzedNode& fact,
                                                const AnalyzedValue& integers) {
  const AnalyzedValue *const scale = input(graph, fact, 1), *const zero = input(graph, fact, 2);
  if ((!integers.is(Type::uint8) && !integers.is(Type::int8)) || !scale->is(Type::float32) ||
      scale->constant == nullptr || scale->constant->size() != 1 ||
      scale->constant->shape().size() > 1)
    return std::nullopt;
  const float step = *scale->constant->data<float>();
  if (!(step > 1e-12F && step < 1e12F)) return std::nullopt;
  if (zero != nullptr && (zero->constant == nullptr || zero->constant->size() != 1))
    return std::nullopt;
  return QuantisedSum::Operand{
      step, zero == nullptr ? 0.0F : static_cast<float>(number_at(*zero->constant, 0)),
      integers.is(Type::int8)};
}

bool is_read_once(const AnalyzedValue& value) { return value.users.size() == 1 && !value.output; }

std::optional<Sum> sum_of(const AnalyzedGraph& graph, Index last) {
  const AnalyzedNode& rounding = graph.node(last);
  if (!is_standard(rounding, "QuantizeLinear") || rounding.outputs[0] == no_value)
    return std::nullopt;
  const Index precision = rounding.attributes().integer("precision");
  if (precision != 0 && precision != static_cast<Index>(Type::float32)) return std::nullopt;
  const AnalyzedValue& made = graph.value(rounding.outputs[0]);
  const auto y = operand_of(graph, rounding, made);
  if (!y) return std::nullopt;
  Sum found{};
  found.by.y = *y;
  found.by.low = y->is_signed ? -128.0F : 0.0F;
  found.by.high = y->is_signed ? 127.0F : 255.0F;
  found.fused.nodes = {last};
  Index value = rounding.inputs[0];
  const auto maker = [&]() -> const AnalyzedNode* {
    const AnalyzedValue& fact = graph.value(value);
    if (!is_read_once(fact) || fact.producer == no_value || !fact.floats()) return nullptr;
    found.fused.nodes.insert(found.fused.nodes.begin(), fact.producer);
    return &graph.node(fact.producer);
  };
  const AnalyzedNode* add = maker();
  if (add != nullptr && is_standard(*add, "Relu")) {
    found.by.low = std::max(found.by.low, y->zero);
    value = add->inputs[0];
    add = maker();
  }
  if (add == nullptr || !is_standard(*add, "Add") || add->node->signature->since < 7)
    return std::nullopt;
  const Shape& shape = *graph.value(add->outputs[0]).shape;
  for (const bool first : {true, false}) {
    const AnalyzedValue& real = graph.value(add->inputs[first ? 0 : 1]);
    if (!real.floats() || *real.shape != shape || real.producer == no_value) return std::nullopt;
    const AnalyzedNode& back = graph.node(real.producer);
    if (!is_standard(back, "DequantizeLinear")) return std::nullopt;
    const auto operand = operand_of(graph, back, graph.value(back.inputs[0]));
    if (!operand) return std::nullopt;
    (first ? found.by.a : found.by.b) = *operand;
    (first ? found.a : found.b) = back.inputs[0];
    std::vector<Index>& nodes = found.fused.nodes;
    if (is_read_once(real) && std::find(nodes.begin(), nodes.end(), real.producer) == nodes.end())
      nodes.push_back(real.producer);
  }
  std::sort(found.fused.nodes.begin(), found.fused.nodes.end());
  found.fused.reads = {found.a, found.b};
  return found;
}

class QuantisedSumStep : public TensorStep {
 public:
  QuantisedSumStep(const AnalyzedGraph& graph, Index last, std::vector<Index> buffers)
      : TensorStep(graph, last, std::move(buffers)), sum_(*sum_of(graph, last)) {
    kernel = "quantized sum " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::pointwise;
  }
  void run(RunState& state) override {
    const auto tensor = [&](Index value) -> const Tensor& {
      return state.values[static_cast<std::size_t>(value)].tensor();
    };
    const Tensor &a = tensor(sum_.a), &b = tensor(sum_.b);
    if (a.shape() != b.shape()) BUG("operands of a quantized sum have other shapes");
    Tensor& y = output(state, 0, sum_.by.y.is_signed ? Type::int8 : Type::uint8, a.shape());
    constexpr Index piece = 8192;
    const Index size = y.size(), pieces = ceil_div(size, piece);
    const Index parts = std::min(pieces, parts_for(state.pool.size()));
    state.each(parts, static_cast<double>(size) * nanoseconds_an_element, [&](Index part, Index) {
      const Index from = pieces * part / parts * piece;
      const Index end = std::min(size, pieces * (part + 1) / parts * piece);
      quantise_kernels(chosen_isa())
          .add(sum_.by, a.data<std::uint8_t>() + from, b.data<std::uint8_t>() + from, end - from,
               y.data<std::uint8_t>() + from);
    });
  }

 private:
  const Sum sum_;
};

std::optional<FusedNodes> takes(const AnalyzedGraph& graph, Index last) {
  std::optional<Sum> found = sum_of(graph, last);
  return found ? std::optional(std::move(found->fused)) : std::nullopt;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index last, std::vector<Index> buffers) {
  return std::make_unique<QuantisedSumStep>(graph, last, std::move(buffers));
}

}  // namespace

const FusedFamily quantised_sum_family{takes, step};

}  // namespace touchstone::optimized
