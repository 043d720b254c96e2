// Family `elements`: elementwise nodes on integers, bools and float64, comparisons, extremes, and
// selections of any type. Shapes broadcast, and may be unknown before the run.
#include <atomic>

#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/problems/collapse.h"
#include "reference/lists.h"

namespace touchstone {
namespace {

constexpr int first_to_broadcast = 7;  // earlier versions broadcast by attributes

Type element(const AnalyzedGraph& graph, Index value) {
  if (value == no_value) return Type::undefined;
  const std::optional<ValueType>& type = graph.value(value).type;
  return type && type->kind == ValueType::Kind::tensor ? type->element : Type::undefined;
}

ElementLoop loop_of(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.size() != 1 || fact.inputs.empty()) return nullptr;
  const Type from = element(graph, fact.inputs[0]), to = element(graph, fact.outputs[0]);
  if (from == Type::undefined || to == Type::undefined) return nullptr;
  if (fact.inputs.size() == 1) {
    const bool casts = signature.op == "Cast" && signature.since >= 6;
    return casts || signature.op != "Cast" ? unary_loop(signature.op, from, to) : nullptr;
  }
  if (signature.since < first_to_broadcast) return nullptr;
  if (fact.inputs.size() == 2) {
    if (element(graph, fact.inputs[1]) != from) return nullptr;
    if (signature.op == "Mod" && from == to)
      return remainder_loop(from, fact.attributes().integer("fmod") != 0);
    return binary_loop(signature.op, from, to);
  }
  if (signature.op != "Where" || fact.inputs.size() != 3 || from != Type::boolean) return nullptr;
  if (element(graph, fact.inputs[1]) != to || element(graph, fact.inputs[2]) != to) return nullptr;
  return select_loop(to == Type::string ? 0 : facts(to).bits / 8);
}

class Elementwise : public TensorStep {
 public:
  Elementwise(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        loop_(loop_of(graph, graph.node(node))),
        made_(element(graph, graph.node(node).outputs[0])) {}

  void run(RunState& state) override {
    if (!is_described(state) && !describe(state)) return run_on_reference(state);
    Tensor& made = output(state, 0, made_, shape_);
    if (made.size() == 0) return;
    Operands all;
    all.at[0] = made.bytes().data();
    all.bytes[0] = size_of(made);
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const Tensor& from = input(state, k);
      all.at[k + 1] = const_cast<std::byte*>(from.bytes().data());
      all.bytes[k + 1] = size_of(from);
    }
    if (!all_rows(state, all, made.size())) run_on_reference(state);
  }

 private:
  // The output, then the inputs.
  struct Operands {
    std::array<std::byte*, most_operands + 1> at{};
    std::array<Index, most_operands + 1> bytes{};  // of an element
  };

  static Index size_of(const Tensor& tensor) { return facts(tensor.type()).bits / 8; }

  // True if the inputs have the shapes of the last run.
  bool is_described(const RunState& state) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (input(state, k).shape() != shapes_[k]) return false;
    }
    return !shapes_.empty();
  }

  // Prepares the loops for the shapes of a run. Returns false if they do not broadcast.
  bool describe(const RunState& state) {
    shapes_.clear();
    std::vector<Shape> shapes;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k)
      shapes.push_back(input(state, k).shape());
    if (!broadcastable(shapes)) return false;
    shape_ = broadcast(shapes);
    if (count(shape_) > 0) {
      std::vector<IndexVector> strides{dense_strides(shape_)};
      for (const Shape& from : shapes) strides.push_back(repeating(from, shape_));
      walk_ = collapse(shape_, strides);
    }
    shapes_ = std::move(shapes);
    return true;
  }

  // Returns the strides of a tensor that is repeated along the dimensions of a larger shape.
  static IndexVector repeating(const Shape& from, const Shape& to) {
    const IndexVector dense = dense_strides(from);
    IndexVector strides(to.size(), 0);
    const Index missing = to.size() - from.size();
    for (Index d = 0; d < from.size(); ++d) {
      if (from[d] != 1) strides[missing + d] = dense[d];
    }
    return strides;
  }

  bool all_rows(RunState& state, const Operands& all, Index elements) const {
    const double cost = static_cast<double>(elements) * nanoseconds_an_element;
    const Index first = walk_.extents.empty() ? 1 : walk_.extents[0];
    const Index step = ceil_div(first, state.parts(cost));
    std::atomic<bool> fine = true;
    state.each(ceil_div(first, step), cost, [&](Index part, Index) {
      if (!rows(all, part * step, std::min((part + 1) * step, first))) fine = false;
    });
    return fine;
  }

  // Computes the elements at first .. end - 1 of the outermost dimension.
  bool rows(Operands all, Index first, Index end) const {
    const Index rank = walk_.extents.size(), inner = rank - 1;
    const std::size_t operands = walk_.strides.size();
    const auto advance = [&](Index d, Index times) {
      for (std::size_t k = 0; k < operands; ++k)
        all.at[k] += walk_.strides[k][d] * times * all.bytes[k];
    };
    const auto extent = [&](Index d) { return d == 0 ? end - first : walk_.extents[d]; };
    ElementRow row;
    row.count = rank == 0 ? 1 : extent(inner);
    for (std::size_t k = 1; k < operands; ++k)
      row.steps[k - 1] = rank == 0 ? 0 : walk_.strides[k][inner];
    if (rank > 0) advance(0, first);
    IndexVector at(std::max<Index>(inner, 0), 0);
    bool fine = true;
    for (;;) {
      row.to = all.at[0];
      for (std::size_t k = 1; k < operands; ++k) row.from[k - 1] = all.at[k];
      fine = loop_(row) && fine;
      Index d = inner - 1;
      for (; d >= 0; --d) {
        advance(d, 1);
        if (++at[d] < extent(d)) break;
        advance(d, -at[d]);
        at[d] = 0;
      }
      if (d < 0) return fine;
    }
  }

  const ElementLoop loop_;
  const Type made_;
  std::vector<Shape> shapes_;  // of the inputs in the last run; empty: none
  Shape shape_;                // of the output
  Collapsed walk_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  return loop_of(graph, graph.node(node)) != nullptr;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<Elementwise>(graph, node, std::move(buffers));
  made->kernel = "elements " + std::string(graph.node(node).node->op);
  made->kernel_class = KernelClass::pointwise;
  return made;
}

}  // namespace

const KernelFamily elements_family{"elements", KernelClass::pointwise, takes, step};

}  // namespace touchstone
