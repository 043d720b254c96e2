// Family `local response`: LRN in float32, a block of points of all channels at a time.
#include <algorithm>
#include <cmath>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index points_at_once = 256;
constexpr double nanoseconds_a_number = 4;

class LocalResponse : public TensorStep {
 public:
  LocalResponse(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "local response";
    kernel_class = KernelClass::row_kernel;
    const Facts facts = fact().attributes();
    size_ = facts.integer("size", 0);
    alpha_ = facts.number("alpha", 1e-4F);
    beta_ = facts.number("beta", 0.75F);
    bias_ = facts.number("bias", 1);
  }
  Index scratch() const override { return points_at_once; }
  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    if (shape.size() < 2 || size_ <= 0) return run_on_reference(state);
    float* const y = output(state, 0, Type::float32, shape).data<float>();
    if (x.size() == 0) return;
    const Index channels = shape[1], plane = count(tail(shape, 2));
    const Index blocks = ceil_div(plane, points_at_once);
    const Index terms = std::min(size_, channels);
    const double work =
        static_cast<double>(x.size()) * (nanoseconds_a_number + static_cast<double>(terms) / 4);
    state.each(shape[0] * blocks, work, [&](Index part, Index thread) {
      const Index at = part / blocks * channels * plane, first = part % blocks * points_at_once;
      const Index points = std::min(points_at_once, plane - first);
      float* const sums = state.scratch[static_cast<std::size_t>(thread)];
      for (Index c = 0; c < channels; ++c) {
        const Index low = std::max<Index>(c - (size_ - 1) / 2, 0);
        const Index high = size_ / 2 < channels - c - 1 ? c + size_ / 2 + 1 : channels;
        charge_work(points * (high - low));
        std::fill_n(sums, points, 0.0F);
        for (Index k = low; k < high; ++k)
          add_squares(x.data<float>() + at + k * plane + first, points, sums);
        const Index own = at + c * plane + first;
        divide(x.data<float>() + own, sums, points, y + own);
      }
    });
  }

 private:
  static void add_squares(const float* x, Index count, float* sums) {
    for (Index k = 0; k < count; ++k) sums[k] += x[k] * x[k];
  }

  // Divides by the power, in double. Sums of a positive scale are not negative: roots are powers.
  void divide(const float* x, const float* sums, Index count, float* y) const {
    const float scale = alpha_ / static_cast<float>(size_);
    const bool positive = scale >= 0 && bias_ >= 0;
    if (beta_ == 0.75F && positive) {
      for (Index k = 0; k < count; ++k) {
        const double root = std::sqrt(static_cast<double>(bias_ + scale * sums[k]));
        y[k] = static_cast<float>(static_cast<double>(x[k]) / (root * std::sqrt(root)));
      }
    } else if (beta_ == 0.5F && positive) {
      for (Index k = 0; k < count; ++k)
        y[k] = static_cast<float>(static_cast<double>(x[k]) /
                                  std::sqrt(static_cast<double>(bias_ + scale * sums[k] + 0.0F)));
    } else if (beta_ == 1) {
      for (Index k = 0; k < count; ++k) y[k] = x[k] / (bias_ + scale * sums[k]);
    } else {
      for (Index k = 0; k < count; ++k)
        y[k] = static_cast<float>(
            static_cast<double>(x[k]) /
            std::pow(static_cast<double>(bias_ + scale * sums[k]), static_cast<double>(beta_)));
    }
  }

  Index size_ = 0;
  float alpha_ = 0, beta_ = 0, bias_ = 0;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "LRN") return false;
  return fact.outputs[0] != no_value && graph.value(fact.inputs[0]).is(Type::float32);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<LocalResponse>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily local_response_family{"local response", KernelClass::row_kernel, takes, step};

}  // namespace touchstone::optimized
