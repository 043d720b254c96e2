// Family `elements`: elementwise nodes on integers, bools and float64, comparisons, and
// selections of any type. Shapes broadcast, and may be unknown before the run.
#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "core/numbers/formats.h"
#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/problems/collapse.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr int first_to_broadcast = 7, first_variadic_broadcast = 8;
constexpr std::string_view variadic[] = {"Max", "Mean", "Min", "Sum"};

Type made_by(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  return fact.outputs.size() == 1 ? element_type(graph, fact.outputs[0]) : Type::undefined;
}

bool is_variadic(std::string_view op) {
  return std::find(std::begin(variadic), std::end(variadic), op) != std::end(variadic);
}

// Returns the loop that takes one more operand of a variadic node.
ElementFunction fold_of(std::string_view op, Type type) {
  const bool adds = op == "Sum" || op == "Mean";
  return {binary_loop(adds ? "Add" : op, type, type)};
}

ElementFunction function_of(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  const Type to = made_by(graph, fact), from = element_of(graph, node, 0);
  if (!signature.domain.empty() || from == Type::undefined || to == Type::undefined) return {};
  const std::size_t operands = fact.inputs.size();
  if (is_variadic(signature.op)) {
    for (std::size_t k = 0; k < operands; ++k) {
      if (element_of(graph, node, k) != to) return {};
    }
    constexpr std::size_t most = 256;  // all counts up to it are numbers of every type
    if (signature.op == "Mean" && operands > most) return {};
    return fold_of(signature.op, to);
  }
  if (signature.op == "Clip" && operands > 1)
    return from == to ? ElementFunction{clip_loop(to)} : ElementFunction{};
  if (operands == 1 || signature.op == "CastLike") {
    if (const ElementLoop loop = unary_loop(signature.op, from, to)) return {loop};
    if (signature.op == "Cast" || signature.op == "CastLike") return half_cast(from, to);
    return element_function(fact.attributes(), from, to);
  }
  const Type other = element_of(graph, node, 1);
  if (operands == 2) {
    const ElementFunction made = pair_function(fact.attributes(), from, other, to);
    return made.loop != nullptr || other != from
               ? made
               : ElementFunction{binary_loop(signature.op, from, to)};
  }
  if (signature.op != "Where" || operands != 3 || from != Type::boolean) return {};
  if (other != to || element_of(graph, node, 2) != to) return {};
  return {select_loop(static_cast<int>(bytes_of(to)))};
}

// A step of rows of the output; each operand repeats along the dimensions that it lacks.
class Elementwise : public TensorStep {
 public:
  Elementwise(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        function_(function_of(graph, node)),
        input_type_(element_of(graph, node, 0)),
        made_(made_by(graph, graph.node(node))) {}

  void run(RunState& state) override {
    if (!is_described(state) && !describe(state)) return run_on_reference(state);
    Tensor& made = output(state, 0, made_, shape_);
    if (made.size() == 0) return;
    if (!all_rows(state, made)) run_on_reference(state);
  }

 protected:
  virtual std::size_t operands() const {
    return fact().node->signature->op == "CastLike" ? 1 : fact().inputs.size();
  }
  virtual const Tensor& operand(const RunState& state, std::size_t k) const {
    return input(state, k);
  }
  // Returns the output's shape, or nullopt for operands that do not fit.
  virtual std::optional<Shape> shape_of(const RunState& state) const {
    std::vector<Shape> shapes;
    for (std::size_t k = 0; k < operands(); ++k) shapes.push_back(operand(state, k).shape());
    return broadcastable(shapes) ? std::optional<Shape>(broadcast(shapes)) : std::nullopt;
  }
  // Returns the output's dimension that an operand's first one is aligned with.
  virtual Index start_of(const Shape& from, const Shape& to) const {
    return to.size() - from.size();
  }
  virtual bool row(const ElementRow& row, std::span<const std::byte* const>,
                   std::span<const Index>) const {
    return function_.second == nullptr ? function_.loop(row) : in_two(row);
  }

  Type made() const { return made_; }

  const ElementFunction function_;

 private:
  bool in_two(const ElementRow& whole) const {
    constexpr Index most = 512;
    float held[most];
    const Index bytes = bytes_of(input_type_), made = bytes_of(made_);
    bool fine = true;
    for (Index first = 0; first < whole.count; first += most) {
      ElementRow row = whole;
      row.count = std::min(most, whole.count - first);
      row.from[0] = static_cast<const std::byte*>(whole.from[0]) + first * whole.steps[0] * bytes;
      row.to = held;
      fine = function_.loop(row) && fine;
      row.from[0] = held;
      row.steps[0] = 1;
      row.to = static_cast<std::byte*>(whole.to) + first * made;
      fine = function_.second(row) && fine;
    }
    return fine;
  }

  // True if the operands have the shapes of the last run.
  bool is_described(const RunState& state) const {
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (operand(state, k).shape() != shapes_[k]) return false;
    }
    return !shapes_.empty();
  }

  // Prepares the loops for the shapes of a run. Returns false for operands that do not fit.
  bool describe(const RunState& state) {
    shapes_.clear();
    const std::optional<Shape> shape = shape_of(state);
    if (!shape) return false;
    shape_ = *shape;
    bytes_ = {bytes_of(made_)};
    std::vector<IndexVector> strides{dense_strides(shape_)};
    for (std::size_t k = 0; k < operands(); ++k) {
      const Tensor& from = operand(state, k);
      strides.push_back(
          broadcast_strides(from.shape(), shape_.size(), start_of(from.shape(), shape_)));
      bytes_.push_back(bytes_of(from.type()));
      shapes_.push_back(from.shape());
    }
    walk_ = count(shape_) > 0 ? collapse(shape_, strides) : Collapsed();
    return true;
  }

  bool all_rows(RunState& state, Tensor& made) const {
    const double cost = static_cast<double>(made.size()) * function_.nanoseconds;
    const Index first = walk_.extents.empty() ? 1 : walk_.extents[0];
    const Index step = ceil_div(first, state.parts(cost));
    std::atomic<bool> fine = true;
    state.each(ceil_div(first, step), cost, [&](Index part, Index) {
      if (!rows(state, made, part * step, std::min((part + 1) * step, first))) fine = false;
    });
    return fine;
  }

  // Computes the elements at first .. end - 1 of the outermost dimension.
  bool rows(const RunState& state, Tensor& made, Index first, Index end) const {
    const std::size_t all = walk_.strides.size();  // the output, then the operands
    std::array<std::byte*, most_operands + 1> few;
    std::array<const std::byte*, most_operands> few_from;
    std::array<Index, most_operands> few_steps;
    std::vector<std::byte*> many(all > few.size() ? all : 0);
    std::vector<const std::byte*> many_from(many.size());
    std::vector<Index> many_steps(many.size());
    std::byte** const at = many.empty() ? few.data() : many.data();
    const std::span from(many.empty() ? few_from.data() : many_from.data(), all - 1);
    const std::span steps(many.empty() ? few_steps.data() : many_steps.data(), all - 1);
    at[0] = made.bytes().data();
    for (std::size_t k = 1; k < all; ++k)
      at[k] = const_cast<std::byte*>(operand(state, k - 1).bytes().data());
    const Index rank = walk_.extents.size(), inner = rank - 1;
    const auto advance = [&](Index d, Index times) {
      for (std::size_t k = 0; k < all; ++k) at[k] += walk_.strides[k][d] * times * bytes_[k];
    };
    const auto extent = [&](Index d) { return d == 0 ? end - first : walk_.extents[d]; };
    ElementRow one;
    one.count = rank == 0 ? 1 : extent(inner);
    one.numbers = function_.numbers.data();
    for (std::size_t k = 1; k < all; ++k) steps[k - 1] = rank == 0 ? 0 : walk_.strides[k][inner];
    std::copy_n(steps.begin(), std::min(steps.size(), most_operands), one.steps);
    if (rank > 0) advance(0, first);
    IndexVector place(std::max<Index>(inner, 0), 0);
    bool fine = true;
    for (;;) {
      one.to = at[0];
      std::copy_n(at + 1, from.size(), from.begin());
      std::copy_n(from.begin(), std::min(from.size(), most_operands), one.from);
      fine = row(one, from, steps) && fine;
      Index d = inner - 1;
      for (; d >= 0; --d) {
        advance(d, 1);
        if (++place[d] < extent(d)) break;
        advance(d, -place[d]);
        place[d] = 0;
      }
      if (d < 0) return fine;
    }
  }

  std::vector<Shape> shapes_;  // of the operands of the last run; what follows is made for them
  Shape shape_;
  Collapsed walk_;
  std::vector<Index> bytes_;  // of an element of the output, then of each operand
  const Type input_type_, made_;
};

// Versions that align the second operand by the attributes broadcast and axis, and PRelu, whose
// slope is aligned with the channels in its first versions.
class OldBroadcast : public Elementwise {
 public:
  using Elementwise::Elementwise;

 protected:
  std::optional<Shape> shape_of(const RunState& state) const override {
    const Shape &a = operand(state, 0).shape(), &b = operand(state, 1).shape();
    const bool slope = is_slope();
    if (!slope && fact().attributes().integer("broadcast") == 0)
      return a == b ? std::optional<Shape>(a) : std::nullopt;
    if (slope && (count(b) == 1 || (b.size() == 1 && a.size() > 1 && a[1] == b[0]))) return a;
    const Facts given = fact().attributes();
    const Index start =
        given.given("axis") ? wrap(given.integer("axis"), a.size()) : start_of(b, a);
    if (slope || start < 0 || start > a.size() - b.size()) return std::nullopt;
    for (Index d = 0; d < b.size(); ++d) {
      if (b[d] != 1 && b[d] != a[start + d]) return std::nullopt;
    }
    return a;
  }
  Index start_of(const Shape& from, const Shape& to) const override {
    if (from.size() == to.size()) return 0;
    if (is_slope()) return from.size() == 1 && from[0] != 1 && to.size() > 1 ? 1 : 0;
    const Facts given = fact().attributes();
    return given.given("axis") ? wrap(given.integer("axis"), to.size()) : to.size() - from.size();
  }

 private:
  bool is_slope() const { return fact().node->signature->op == "PRelu"; }
};

// PRelu whose slope repeats, the output having the first operand's shape.
class Slope : public Elementwise {
 public:
  using Elementwise::Elementwise;

 protected:
  std::optional<Shape> shape_of(const RunState& state) const override {
    const std::optional<Shape> shape = Elementwise::shape_of(state);
    return shape == operand(state, 0).shape() ? shape : std::nullopt;
  }
};

// Max, Min, Sum and Mean of any number of operands, one after the other.
class Fold : public Elementwise {
 public:
  Fold(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Elementwise(graph, node, std::move(buffers)), count_(made(), {}) {
    set_number(count_, 0, static_cast<long double>(operands()));
  }

 protected:
  std::optional<Shape> shape_of(const RunState& state) const override {
    const std::optional<Shape> shape = Elementwise::shape_of(state);
    if (fact().node->signature->since >= first_variadic_broadcast) return shape;
    for (std::size_t k = 0; k < operands(); ++k) {
      if (shape != operand(state, k).shape()) return std::nullopt;
    }
    return shape;
  }

  // Folds blocks of elements, which stay in the nearest cache.
  bool row(const ElementRow& whole, std::span<const std::byte* const> from,
           std::span<const Index> steps) const override {
    constexpr Index most = 512;
    alignas(64) std::byte held[2][most * sizeof(double)];
    static constexpr double zero = 0;
    const std::string_view op = fact().node->signature->op;
    const Index bytes = bytes_of(made());
    for (Index first = 0; first < whole.count; first += most) {
      ElementRow pair;
      pair.count = std::min(most, whole.count - first);
      std::byte* const to = static_cast<std::byte*>(whole.to) + first * bytes;
      int next = 0;
      const auto take = [&](ElementLoop loop, const void* more, Index step, bool last) {
        pair.from[1] = more;
        pair.steps[1] = step;
        pair.to = last ? to : held[next];
        loop(pair);
        pair.from[0] = pair.to;
        pair.steps[0] = 1;
        next = 1 - next;
      };
      const bool adds = op == "Sum" || op == "Mean";
      for (std::size_t k = 0; k < from.size(); ++k) {
        const std::byte* const more = from[k] + first * steps[k] * bytes;
        if (k == 0) {
          pair.from[0] = adds ? static_cast<const void*>(&zero) : more;
          pair.steps[0] = adds ? 0 : steps[0];
          if (!adds && from.size() > 1) continue;
        }
        take(function_.loop, more, steps[k], op != "Mean" && k + 1 == from.size());
      }
      if (op == "Mean") take(binary_loop("Div", made(), made()), count_.bytes().data(), 0, true);
    }
    return true;
  }

 private:
  Tensor count_;  // operands, as a number of the output's type
};

// Clip with bounds as operands, each of one element or omitted.
class Clipped : public Elementwise {
 public:
  Clipped(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Elementwise(graph, node, std::move(buffers)) {
    for (Tensor* const bound : {&low_, &high_}) {
      *bound = Tensor(made(), {});
      const bool low = bound == &low_;
      if (facts(made()).is_integer)
        set_number(
            *bound, 0,
            static_cast<long double>(low ? least_integer(made()) : greatest_integer(made())));
      else
        set_number(*bound, 0, (low ? -1 : 1) * format_of(made()).largest);
    }
  }

 protected:
  std::size_t operands() const override { return 3; }
  const Tensor& operand(const RunState& state, std::size_t k) const override {
    return has_input(k) ? input(state, k) : k == 1 ? low_ : high_;
  }
  std::optional<Shape> shape_of(const RunState& state) const override {
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      if (!operand(state, k).shape().empty()) return std::nullopt;
    }
    return operand(state, 0).shape();
  }

 private:
  Tensor low_, high_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  return function_of(graph, node).loop != nullptr;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const Signature& signature = *graph.node(node).node->signature;
  const std::size_t operands = graph.node(node).inputs.size();
  std::unique_ptr<Step> made;
  if (is_variadic(signature.op))
    made = std::make_unique<Fold>(graph, node, std::move(buffers));
  else if (signature.op == "Clip" && operands > 1)
    made = std::make_unique<Clipped>(graph, node, std::move(buffers));
  else if (operands == 2 && signature.since < first_to_broadcast)
    made = std::make_unique<OldBroadcast>(graph, node, std::move(buffers));
  else if (signature.op == "PRelu")
    made = std::make_unique<Slope>(graph, node, std::move(buffers));
  else
    made = std::make_unique<Elementwise>(graph, node, std::move(buffers));
  made->kernel = "elements " + std::string(signature.op);
  made->kernel_class = KernelClass::pointwise;
  return made;
}

}  // namespace

const KernelFamily elements_family{"elements", KernelClass::pointwise, takes, step};

}  // namespace touchstone::optimized
