// Family `elements`: elementwise nodes on integers, bools and float64, comparisons, and
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

bool is_number(const AnalyzedValue& value) { return value.shape && value.shape->empty(); }

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
    // Other kernels compute tensors of float32.
    if (to == Type::float32 && !is_number(graph.value(fact.outputs[0]))) return nullptr;
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
    if (!has_seen(state) && !prepare(state)) return run_on_reference(state);
    Tensor& made = output(state, 0, made_, shape_);
    if (made.size() == 0) return;
    if (walk_.extents.size() <= 1 && made.size() <= most_of_a_row) {
      if (!one_row(state, made)) run_on_reference(state);
      return;
    }
    std::vector<std::byte*> pointers{made.bytes().data()};
    std::vector<Index> bytes{size_of(made)};
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      pointers.push_back(const_cast<std::byte*>(input(state, k).bytes().data()));
      bytes.push_back(size_of(input(state, k)));
    }
    if (!all_rows(state, walk_, pointers, bytes)) run_on_reference(state);
  }

 private:
  static Index size_of(const Tensor& tensor) { return facts(tensor.type()).bits / 8; }

  // True if the operands have the shapes of the last run.
  bool has_seen(const RunState& state) const {
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      if (input(state, k).shape() != seen_[k]) return false;
    }
    return !seen_.empty();
  }
  // Returns false for shapes that do not broadcast.
  bool prepare(const RunState& state) {
    seen_.clear();
    std::vector<Shape> shapes;
    for (std::size_t k = 0; k < fact().inputs.size(); ++k)
      shapes.push_back(input(state, k).shape());
    if (!broadcastable(shapes)) return false;
    shape_ = broadcast(shapes);
    walk_ = {};
    if (count(shape_) > 0) {
      std::vector<IndexVector> strides{dense_strides(shape_)};
      for (const Shape& from : shapes) strides.push_back(repeating(from, shape_));
      walk_ = collapse(shape_, strides);
    }
    seen_ = std::move(shapes);
    return true;
  }

  bool one_row(const RunState& state, Tensor& made) const {
    ElementRow row;
    row.count = made.size();
    row.to = made.bytes().data();
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      row.from[k] = input(state, k).bytes().data();
      row.steps[k] = walk_.extents.empty() ? 0 : walk_.strides[k + 1][0];
    }
    return loop_(row);
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

  bool all_rows(RunState& state, const Collapsed& walk, const std::vector<std::byte*>& pointers,
                const std::vector<Index>& bytes) const {
    const Index rank = walk.extents.size(), first = rank == 0 ? 1 : walk.extents[0];
    const Index elements = count(walk.extents);
    const Index step = ceil_div(first, parts_for(state.pool.size()));
    std::atomic<bool> fine = true;
    const auto rows = [&](Index part, Index) {
      Collapsed some = walk;
      std::vector<std::byte*> from = pointers;
      if (rank > 0) {
        some.extents[0] = std::min(step, first - part * step);
        for (std::size_t k = 0; k < from.size(); ++k)
          from[k] += part * step * walk.strides[k][0] * bytes[k];
      }
      ElementRow row;
      row.count = rank == 0 ? 1 : some.extents[rank - 1];
      for (std::size_t k = 1; k < from.size(); ++k)
        row.steps[k - 1] = rank == 0 ? 0 : walk.strides[k][rank - 1];
      each_outer(some, std::max<Index>(rank - 1, 0), [&](const std::vector<Index>& offsets) {
        row.to = from[0] + offsets[0] * bytes[0];
        for (std::size_t k = 1; k < from.size(); ++k)
          row.from[k - 1] = from[k] + offsets[k] * bytes[k];
        if (!loop_(row)) fine = false;
      });
    };
    state.each(ceil_div(first, step), static_cast<double>(elements) * nanoseconds_an_element, rows);
    return fine;
  }

  static constexpr Index most_of_a_row = 1024;

  const ElementLoop loop_;
  const Type made_;
  std::vector<Shape> seen_;  // of the operands of the last run; what follows is made for them
  Shape shape_;
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
