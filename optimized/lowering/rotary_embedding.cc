// RotaryEmbedding in float32: turns the pairs of features of one head at one position at a time.
#include <algorithm>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_feature = 0.5;

class RotaryEmbedding : public TensorStep {
 public:
  RotaryEmbedding(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "rotary embedding";
    kernel_class = KernelClass::row_kernel;
    const Facts facts = fact().attributes();
    is_interleaved_ = facts.integer("interleaved", 0) != 0;
    heads_ = facts.integer("num_heads", 0);
    turned_ = facts.integer("rotary_embedding_dim", 0);
  }

  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (!lay_out(x.shape()) || !fits(state) || !place_all(state)) return run_on_reference(state);
    float* const y = output(state, 0, Type::float32, x.shape()).data<float>();
    if (x.size() == 0) return;
    const float* const from = x.data<float>();
    const float* const cosines = input(state, 1).data<float>();
    const float* const sines = input(state, 2).data<float>();
    const Index vectors = x.size() / width_, half = turned_pairs_;
    const double work = nanoseconds_a_feature * static_cast<double>(x.size());
    const Index parts = std::min(vectors, state.parts(work));
    state.each(parts, work, [&](Index part, Index) {
      const Index end = vectors * (part + 1) / parts;
      for (Index v = vectors * part / parts; v < end; ++v) {
        charge_work(width_);
        const Index row = rows_[static_cast<std::size_t>(row_of(v))] * half;
        const float *const one = from + v * width_, *const c = cosines + row,
                           *const s = sines + row;
        float* const to = y + v * width_;
        if (is_interleaved_)
          turn_neighbors(one, c, s, half, to);
        else
          turn_halves(one, c, s, half, to);
        std::copy(one + 2 * half, one + width_, to + 2 * half);
      }
    });
  }

 private:
  // Finds the extents. Returns false if the definition refuses X.
  bool lay_out(const Shape& x) {
    if (x.size() != 3 && x.size() != 4) return false;
    is_flat_ = x.size() == 3;
    if (is_flat_ && (heads_ <= 0 || x[2] % heads_ != 0)) return false;
    batch_ = x[0];
    length_ = is_flat_ ? x[1] : x[2];
    many_heads_ = is_flat_ ? heads_ : x[1];
    width_ = is_flat_ ? x[2] / heads_ : x[3];
    const Index turned = turned_ == 0 ? width_ : turned_;
    turned_pairs_ = turned / 2;
    return turned >= 0 && turned <= width_ && turned % 2 == 0;
  }

  bool fits(const RunState& state) const {
    const Shape& cosines = input(state, 1).shape();
    if (cosines != input(state, 2).shape()) return false;
    if (!has_input(3)) return cosines == Shape{batch_, length_, turned_pairs_};
    return cosines.size() == 2 && cosines[1] == turned_pairs_ &&
           input(state, 3).shape() == Shape{batch_, length_};
  }

  // Finds the row of the caches of each entry of the batch and step of the sequence. Returns false
  // if a position is outside.
  bool place_all(const RunState& state) {
    const Index steps = batch_ * length_;
    charge_work(steps);
    rows_.resize(static_cast<std::size_t>(steps));
    const Index rows = has_input(3) ? input(state, 1).shape()[0] : steps;
    const auto* const positions = has_input(3) ? input(state, 3).data<std::int64_t>() : nullptr;
    for (Index step = 0; step < steps; ++step) {
      Index at = positions != nullptr ? positions[step] : step;
      if (at < -rows || at >= rows) return false;
      if (at < 0) at += rows;
      rows_[static_cast<std::size_t>(step)] = at;
    }
    return true;
  }

  // The entry of the batch and the step of a vector of features.
  Index row_of(Index vector) const {
    if (is_flat_) return vector / many_heads_;
    return vector / (many_heads_ * length_) * length_ + vector % length_;
  }

  static void turn_halves(const float* x, const float* c, const float* s, Index half, float* y) {
    for (Index k = 0; k < half; ++k) {
      const float a = x[k], b = x[half + k];
      y[k] = c[k] * a - s[k] * b;
      y[half + k] = s[k] * a + c[k] * b;
    }
  }
  static void turn_neighbors(const float* x, const float* c, const float* s, Index half, float* y) {
    for (Index k = 0; k < half; ++k) {
      const float a = x[2 * k], b = x[2 * k + 1];
      y[2 * k] = c[k] * a - s[k] * b;
      y[2 * k + 1] = s[k] * a + c[k] * b;
    }
  }

  bool is_interleaved_, is_flat_ = false;
  Index heads_, turned_;
  Index batch_ = 0, length_ = 0, many_heads_ = 0, width_ = 0, turned_pairs_ = 0;
  std::vector<Index> rows_;  // of the caches, by entry of the batch and step
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  return signature.domain.empty() && signature.op == "RotaryEmbedding" &&
         fact.outputs[0] != no_value && graph.value(fact.inputs[0]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<RotaryEmbedding>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily rotary_embedding_family{"rotary embedding", KernelClass::row_kernel, takes,
                                           step};

}  // namespace touchstone::optimized
