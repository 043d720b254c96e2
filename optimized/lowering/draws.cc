// Family `draws`: random tensors, and classes drawn by their weights. Draws are those of the
// reference, number by number (reference/draw.h).
#include "reference/draw.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/budget.h"
#include "core/numbers/convert.h"
#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "reference/bind.h"

namespace touchstone::optimized {
namespace {

constexpr Index piece = 4096;  // draws of a part
constexpr double nanoseconds_a_draw = 10, nanoseconds_a_normal = 40;

enum class Law { uniform, normal, bernoulli };

std::optional<Law> law_of(std::string_view op) {
  if (op == "RandomUniform" || op == "RandomUniformLike") return Law::uniform;
  if (op == "RandomNormal" || op == "RandomNormalLike") return Law::normal;
  if (op == "Bernoulli") return Law::bernoulli;
  return std::nullopt;
}

// Type that the attribute names; without it float32, the classes' int32, or that of the input.
Type drawn_type(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Facts facts = fact.attributes();
  if (facts.given("dtype")) return static_cast<Type>(facts.integer("dtype"));
  if (fact.node->signature->op == "Multinomial") return Type::int32;
  return fact.inputs.empty() ? Type::float32 : element_of(graph, node, 0);
}

// Elements of less than a byte are no two threads' to write.
bool is_drawn(Type type) {
  constexpr Type last = Type::float8e8m0;
  if (type <= Type::undefined || type > last || type == Type::string) return false;
  const TypeFacts& known = facts(type);
  return !known.is_complex && known.bits >= 8;
}

class DrawStep : public Moves {
 public:
  DrawStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Moves(graph, node, std::move(buffers)),
        type_(drawn_type(graph, node)),
        draws_(fact().attributes()) {}

 protected:
  // Calls number(k) for each element and stores the result.
  template <class F>
  void store(RunState& state, Tensor& made, double cost, F number) const {
    const Index all = made.size();
    state.each(ceil_div(all, piece), cost * static_cast<double>(all), [&](Index part, Index) {
      check_budget();
      const Index first = part * piece, end = std::min(all, first + piece);
      charge_work(end - first);
      const bool is_plain = for_number(type_, [&](auto zero) {
        auto* const to = made.data<decltype(zero)>();
        for (Index k = first; k < end; ++k) to[k] = static_cast<decltype(zero)>(number(k));
        return true;
      });
      if (is_plain) return;
      for (Index k = first; k < end; ++k) set_number(made, k, static_cast<long double>(number(k)));
    });
  }

  const Type type_;
  const Draws draws_;
};

class Drawn : public DrawStep {
 public:
  Drawn(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : DrawStep(graph, node, std::move(buffers)), law_(*law_of(fact().node->signature->op)) {
    const Facts facts = fact().attributes();
    low_ = facts.number("low", 0);
    high_ = facts.number("high", 1);
    mean_ = facts.number("mean", 0);
    scale_ = facts.number("scale", 1);
    shape_ = facts.integers("shape");
  }

 private:
  bool moved(RunState& state) override {
    const Shape shape = has_input(0) ? input(state, 0).shape() : shape_;
    if (std::any_of(shape.begin(), shape.end(), [](Index size) { return size < 0; })) return false;
    if (law_ == Law::bernoulli) return trials(state);
    Tensor& made = output(state, 0, type_, shape);
    if (law_ == Law::uniform) {
      store(state, made, nanoseconds_a_draw,
            [&](Index k) { return low_ + (high_ - low_) * draws_.even(k); });
    } else {
      store(state, made, nanoseconds_a_normal,
            [&](Index k) { return mean_ + scale_ * draws_.normal(k); });
    }
    return true;
  }

  bool trials(RunState& state) {
    const Tensor& chances = input(state, 0);
    return chances.type() == Type::float32 ? tried<float>(state) : tried<double>(state);
  }
  template <class T>
  bool tried(RunState& state) {
    const T* const chance = input(state, 0).data<T>();
    const Index all = input(state, 0).size();
    const auto is_chance = [](T x) { return x >= 0 && x <= 1; };
    if (!std::all_of(chance, chance + all, is_chance)) return false;  // rule C1
    store(state, output(state, 0, type_, input(state, 0).shape()), nanoseconds_a_draw,
          [&](Index k) { return draws_.even(k) < static_cast<double>(chance[k]) ? 1.0 : 0.0; });
    return true;
  }

  const Law law_;
  double low_ = 0, high_ = 1, mean_ = 0, scale_ = 1;
  IndexVector shape_;
};

// Classes of each row, drawn by weights whose logarithms are given.
class DrawnClasses : public DrawStep {
 public:
  DrawnClasses(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : DrawStep(graph, node, std::move(buffers)),
        samples_(fact().attributes().integer("sample_size", 1)) {}

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (x.shape().size() != 2 || x.size() == 0 || samples_ < 0) return false;
    return x.type() == Type::float32 ? drawn<float>(state, x) : drawn<double>(state, x);
  }

  template <class T>
  bool drawn(RunState& state, const Tensor& x) {
    const Index rows = x.shape()[0], classes = x.shape()[1];
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(rows));
    for (Index row = 0; row < rows; ++row) {
      check_budget();
      charge_work(classes);
      const T* const from = x.data<T>() + row * classes;
      double most = -HUGE_VAL, sum = 0;
      for (Index c = 0; c < classes; ++c) most = std::max(most, static_cast<double>(from[c]));
      std::vector<double>& running = sums[static_cast<std::size_t>(row)];
      for (Index c = 0; c < classes; ++c)
        running.push_back(sum += std::exp(static_cast<double>(from[c]) - most));
      if (!(sum > 0) || !std::isfinite(sum)) return false;  // rule C3
    }
    Tensor& made = output(state, 0, type_, {rows, samples_});
    store(state, made, nanoseconds_a_normal, [&](Index k) {
      const std::vector<double>& running = sums[static_cast<std::size_t>(k / samples_)];
      // The largest weight is 1, so that what is drawn is less than the sum of all.
      return std::upper_bound(running.begin(), running.end(), draws_.even(k) * running.back()) -
             running.begin();
    });
    return true;
  }

  const Index samples_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs[0] == no_value) return false;
  const std::optional<Law> law = law_of(signature.op);
  const bool has_classes = signature.op == "Multinomial";
  if (!law && !has_classes) return false;
  const Type made = drawn_type(graph, node);
  if (!is_drawn(made)) return false;
  if (law == Law::uniform || law == Law::normal) return facts(made).is_float;
  const Type read = element_of(graph, node, 0);
  return read == Type::float32 || read == Type::float64;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const std::string_view op = graph.node(node).node->signature->op;
  std::unique_ptr<Step> made;
  if (op == "Multinomial")
    made = std::make_unique<DrawnClasses>(graph, node, std::move(buffers));
  else
    made = std::make_unique<Drawn>(graph, node, std::move(buffers));
  made->kernel = "draws " + std::string(op);
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily draws_family{"draws", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
