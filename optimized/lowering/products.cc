// Family of products that no packed matmul takes: MatMul of vectors, of few rows and of constant
// stacks; every form of Gemm; Einsum. Elements are float32, float64 or
// integers.
#include <algorithm>

#include "core/budget.h"
#include "core/error.h"
#include "optimized/lowering/contraction.h"
#include "optimized/lowering/einsum.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/lowering/moves.h"
#include "optimized/lowering/number_products.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

bool is_scaled(const AnalyzedNode& fact) {
  return fact.node->signature->op == "Gemm" && fact.attributes().number("alpha", 1) != 1;
}

// A step that describes its product for the shapes of a run; null for a call that breaks a rule.
class ProductStep : public TensorStep {
 public:
  ProductStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        type_(element_of(graph, node, 0)),
        one_(type_, {}) {
    set_number(one_, 0, 1);
    const std::string_view of = type_ == Type::float32 ? "" : name(type_);
    kernel = "contraction " + (of.empty() ? "" : std::string(of) + " ") +
             std::string(name(chosen_isa()));
    kernel_class = KernelClass::dynamic_matmul;
    const std::vector<Index>& inputs = fact().inputs;
    const auto constant = [&](std::size_t k) {
      return k < inputs.size() && inputs[k] != no_value ? graph.value(inputs[k]).constant : nullptr;
    };
    contractor_.keep_packed(is_scaled(fact()) ? nullptr : constant(0), constant(1),
                            graph.weights());
    const auto is_known = [&](Index value) { return graph.value(value).shape.has_value(); };
    is_charged_ = fact().node->signature->op != "Einsum" && is_known(inputs[0]) &&
                  is_known(fact().outputs[0]);
  }
  void run(RunState& state) override {
    if (!is_described(state)) {
      shapes_.clear();
      if (!describe(state)) return run_on_reference(state);
      for (std::size_t k = 0; k < fact().inputs.size(); ++k)
        shapes_.push_back(has_input(k) ? shape_of(state, k) : Shape());
    }
    if (!is_charged_) charge();
    const Tensor &a = input(state, 0), &b = operands() > 1 ? input(state, 1) : one_;
    Tensor& made = output(state, 0, type_, shape_);
    const void* const first = first_factor(a);
    if (type_ == Type::float32)
      contractor_.run(state, product_, static_cast<const float*>(first), b.data<float>(),
                      made.data<float>());
    else
      number_products(state, type_, product_, static_cast<const std::byte*>(first),
                      b.bytes().data(), made.bytes().data());
    if (made.size() > 0) finish(state, made);
  }

 protected:
  virtual bool describe(const RunState& state) = 0;  // sets product_ and shape_
  virtual std::size_t operands() const { return 2; }
  virtual const void* first_factor(const Tensor& a) { return a.bytes().data(); }
  virtual void finish(RunState&, Tensor&) {}
  const Shape& shape_of(const RunState& state, std::size_t k) const {
    return input(state, k).shape();
  }

  Type type() const { return type_; }

  Contraction product_;
  Shape shape_;  // of the output

 private:
  // True if the inputs have the shapes of the last run.
  bool is_described(const RunState& state) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (has_input(k) && shape_of(state, k) != shapes_[k]) return false;
    }
    return !shapes_.empty();
  }

  void charge() const {
    double products = 1;
    for (const Shape* const extents : {&product_.kept, &product_.summed}) {
      for (const Index extent : *extents)
        products = std::min(products * static_cast<double>(extent), 1e18);
    }
    charge_work(static_cast<Index>(products));
  }

  const Type type_;
  Tensor one_;  // stands for a second operand
  Contractor contractor_;
  std::vector<Shape> shapes_;  // of the inputs in the last run; empty: none
  bool is_charged_ = false;    // by the plan, whose estimate needs shapes and knows no Einsum
};

class AnyMatmul : public ProductStep {
 public:
  using ProductStep::ProductStep;

 protected:
  bool describe(const RunState& state) override {
    const Shape &a = shape_of(state, 0), &b = shape_of(state, 1);
    if (a.empty() || b.empty()) return false;
    const Index depth = a.back(), b_depth = b.size() == 1 ? 0 : b.size() - 2;
    if (b[b_depth] != depth) return false;
    const Index stack_a = std::max<Index>(a.size() - 2, 0);
    const Index stack_b = std::max<Index>(b.size() - 2, 0);
    const Index stack = std::max(stack_a, stack_b);
    const IndexVector steps_a = dense_strides(a), steps_b = dense_strides(b);
    product_ = {};
    for (Index d = 0; d < stack; ++d) {
      const Index at_a = d - (stack - stack_a), at_b = d - (stack - stack_b);
      const Index of_a = at_a < 0 ? 1 : a[at_a], of_b = at_b < 0 ? 1 : b[at_b];
      if (of_a != of_b && of_a != 1 && of_b != 1) return false;
      add(of_a == 1 ? of_b : of_a, of_a == 1 ? 0 : steps_a[at_a], of_b == 1 ? 0 : steps_b[at_b]);
    }
    if (a.size() > 1) add(a[a.size() - 2], steps_a[a.size() - 2], 0);
    if (b.size() > 1) add(b.back(), 0, 1);
    product_.summed = {depth};
    product_.a.summed = {1};
    product_.b.summed = {steps_b[b_depth]};
    shape_ = product_.kept;
    return true;
  }

 private:
  void add(Index extent, Index a, Index b) {
    product_.kept.push_back(extent);
    product_.a.kept.push_back(a);
    product_.b.kept.push_back(b);
  }
};

class AnyGemm : public ProductStep {
  static constexpr int always_repeats =
      7;  // the first version whose C needs no attribute to repeat

 public:
  AnyGemm(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : ProductStep(graph, node, std::move(buffers)) {
    const Facts facts = fact().attributes();
    alpha_ = facts.number("alpha", 1);
    beta_ = facts.number("beta", 1);
    turns_a_ = facts.integer("transA") != 0;
    turns_b_ = facts.integer("transB") != 0;
  }

 protected:
  bool describe(const RunState& state) override {
    const Shape &a = shape_of(state, 0), &b = shape_of(state, 1);
    if (a.size() != 2 || b.size() != 2) return false;
    const Index m = a[turns_a_ ? 1 : 0], n = b[turns_b_ ? 0 : 1], k = a[turns_a_ ? 0 : 1];
    if (b[turns_b_ ? 1 : 0] != k) return false;
    shape_ = {m, n};
    if (has_input(2)) {
      const Shape& c = shape_of(state, 2);
      if (c.size() > 2) return false;
      const bool repeats = fact().node->signature->since >= always_repeats ||
                           fact().attributes().integer("broadcast") != 0;
      if (!repeats && c != shape_) return false;
      for (Index d = 0; d < c.size(); ++d) {
        if (c[d] != 1 && c[d] != shape_[2 - c.size() + d]) return false;
      }
    }
    product_ = {{m, n},
                {k},
                {{turns_a_ ? 1 : a[1], 0}, {turns_a_ ? a[1] : 1}},
                {{0, turns_b_ ? b[1] : 1}, {turns_b_ ? 1 : b[1]}}};
    return true;
  }

  // Scales A before the sums, as the definition does: they overflow only where its own do.
  const void* first_factor(const Tensor& a) override {
    if (alpha_ == 1 || !facts(type()).is_float) return a.bytes().data();
    return type() == Type::float32 ? scaled<float>(a) : static_cast<void*>(scaled<double>(a));
  }

  // Adds C, and scales a product of integers.
  void finish(RunState& state, Tensor& made) override {
    const bool is_float = facts(type()).is_float;
    if (!has_input(2) && (alpha_ == 1 || is_float)) return;
    switch (type()) {
      case Type::float32:
        return scale<float>(state, made, 1, beta_);
      case Type::float64:
        return scale<double>(state, made, 1, beta_);
      case Type::int32:
      case Type::uint32:
        return scale_integers<std::int32_t, std::uint32_t>(state, made);
      default:
        return scale_integers<std::int64_t, std::uint64_t>(state, made);
    }
  }

 private:
  template <class T>
  T* scaled(const Tensor& a) {
    T* const made = scaled_.at<T>(a.size());
    const T *const from = a.data<T>(), alpha = alpha_;
    for (Index k = 0; k < a.size(); ++k) made[k] = alpha * from[k];
    return made;
  }

  // Factors of integers are truncated; products are modulo 2^n.
  template <class S, class U>
  void scale_integers(RunState& state, Tensor& made) const {
    const auto truncated = [&](float factor) {
      return static_cast<U>(encode(type_of<S>, static_cast<long double>(factor)));
    };
    scale<U>(state, made, truncated(alpha_), truncated(beta_));
  }

  template <class T>
  void scale(RunState& state, Tensor& made, T alpha, T beta) const {
    const Tensor* const c = has_input(2) ? &input(state, 2) : nullptr;
    static constexpr T zero = 0;
    const T* const from = c != nullptr ? c->data<T>() : &zero;
    const Index rank = c != nullptr ? c->shape().size() : 0;
    const bool wide = rank > 0 && c->shape().back() != 1;
    const Index row_step = rank == 2 && c->shape()[0] != 1 ? c->shape()[1] : 0;
    const Index rows = shape_[0], columns = shape_[1];
    const Index parts = std::min(rows, parts_for(state.pool.size()));
    state.each(parts, nanoseconds_an_element * static_cast<double>(made.size()),
               [&](Index part, Index) {
                 for (Index m = rows * part / parts; m < rows * (part + 1) / parts; ++m) {
                   T* const to = made.data<T>() + m * columns;
                   const T* const row = from + m * row_step;
                   if (c == nullptr) {
                     for (Index n = 0; n < columns; ++n) to[n] *= alpha;
                   } else if (wide) {
                     for (Index n = 0; n < columns; ++n) to[n] = alpha * to[n] + beta * row[n];
                   } else {
                     const T added = beta * row[0];
                     for (Index n = 0; n < columns; ++n) to[n] = alpha * to[n] + added;
                   }
                 }
               });
  }

  float alpha_ = 1, beta_ = 1;
  bool turns_a_ = false, turns_b_ = false;
  KeptMemory scaled_;
};

class AnyEinsum : public ProductStep {
 public:
  AnyEinsum(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : ProductStep(graph, node, std::move(buffers)),
        equation_(fact().attributes().text("equation")) {}

 protected:
  std::size_t operands() const override { return fact().inputs.size(); }
  bool describe(const RunState& state) override {
    std::vector<const Shape*> shapes;
    for (std::size_t k = 0; k < operands(); ++k) shapes.push_back(&shape_of(state, k));
    const std::optional<EinsumLabels> labels = einsum_labels(equation_, shapes);
    if (!labels) return false;
    const auto [extents, kept, strides] = *labels;
    const IndexVector& a = strides[0];
    const IndexVector b = operands() > 1 ? strides[1] : IndexVector(extents.size(), 0);
    product_ = {head(extents, kept),
                tail(extents, kept),
                {head(a, kept), tail(a, kept)},
                {head(b, kept), tail(b, kept)}};
    shape_ = product_.kept;
    return true;
  }

 private:
  const std::string equation_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty()) return false;
  const std::vector<Index>& inputs = fact.inputs;
  if (fact.outputs.size() != 1 || fact.outputs[0] == no_value) return false;
  const Type type = element_of(graph, node, 0);
  if (type != Type::float32 && !has_number_products(type)) return false;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k] != no_value && element_of(graph, node, k) != type) return false;
  }
  const bool pair = inputs.size() >= 2 && inputs[0] != no_value && inputs[1] != no_value;
  if (signature.op == "MatMul") return pair && inputs.size() == 2;
  if (signature.op == "Gemm") return pair && inputs.size() <= 3;
  if (signature.op != "Einsum") return false;
  const bool all = std::find(inputs.begin(), inputs.end(), no_value) == inputs.end();
  return all && !inputs.empty() && inputs.size() <= most_einsum_operands;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const std::string_view op = graph.node(node).node->signature->op;
  if (op == "MatMul") return std::make_unique<AnyMatmul>(graph, node, std::move(buffers));
  if (op == "Gemm") return std::make_unique<AnyGemm>(graph, node, std::move(buffers));
  if (graph.node(node).inputs.size() > 2) return einsum_chain_step(graph, node, std::move(buffers));
  return std::make_unique<AnyEinsum>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily products_family{"products", KernelClass::dynamic_matmul, takes, step};

}  // namespace touchstone::optimized
