// Family `double norms`: Softmax, LogSoftmax and LayerNormalization of rows of contiguous float64
// numbers. The definition computes statistics of a LayerNormalization in float32.
#include <algorithm>
#include <cmath>

#include "core/budget.h"
#include "optimized/kernels/double_functions.h"
#include "optimized/kernels/row_norms.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/norm_rows.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_number = 8;
constexpr float usual_epsilon = 1e-5F;
constexpr Index most_in_row = Index{1} << 14;  // of a LayerNormalization: scratch holds two rows
constexpr Index in_float32 = 1;

// Calls work(row, thread) for all rows.
template <class F>
void each_row(RunState& state, Index rows, Index elements, F work) {
  const Index parts = std::min(rows, parts_for(state.pool.size()));
  state.each(parts, static_cast<double>(elements) * nanoseconds_a_number,
             [&](Index part, Index thread) {
               for (Index row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
                 charge_work(elements / rows);
                 work(row, thread);
               }
             });
}

class DoubleSoftmax : public TensorStep {
 public:
  DoubleSoftmax(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        logarithm_(fact().node->signature->op != "Softmax") {}
  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const std::optional<Index> row = softmax_row(x.shape(), fact());
    if (!row) return run_on_reference(state);
    Tensor& y = output(state, 0, Type::float64, x.shape());
    if (y.size() == 0) return;
    const double* const from = x.data<double>();
    double* const to = y.data<double>();
    each_row(state, y.size() / *row, y.size(),
             [&](Index k, Index) { normalise(from + k * *row, to + k * *row, *row); });
  }

 private:
  // NaN need not be the largest: the sum is NaN, and so is all that it divides.
  void normalise(const double* x, double* y, Index count) const {
    const double most = *std::max_element(x, x + count);
    for (Index k = 0; k < count; ++k) y[k] = x[k] - most;
    exp_(y, y, count);
    double sum = 0;
    for (Index k = 0; k < count; ++k) sum += y[k];
    if (logarithm_) {
      const double less = std::log(sum);
      for (Index k = 0; k < count; ++k) y[k] = x[k] - most - less;
    } else {
      for (Index k = 0; k < count; ++k) y[k] /= sum;
    }
  }

  const bool logarithm_;
  const DoubleFunction exp_ = double_functions_of(chosen_isa()).exp;
};

class DoubleRows : public TensorStep {
 public:
  DoubleRows(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {}
  Index scratch() const override { return 2 * most_in_row; }
  void run(RunState& state) override {
    const Tensor &x = input(state, 0), &scale = input(state, 1);
    const Shape& shape = x.shape();
    const Facts facts = fact().attributes();
    const Index axis = wrap(facts.integer("axis", -1), shape.size());
    if (axis < 0 || axis >= shape.size()) return run_on_reference(state);
    const Index row = count(tail(shape, axis));
    const bool biased = has_input(2);
    if (row == 0 || row > most_in_row || !fits_rows(scale.shape(), shape, axis) ||
        (biased && !fits_rows(input(state, 2).shape(), shape, axis)))
      return run_on_reference(state);
    Shape kept = shape;
    for (Index d = axis; d < kept.size(); ++d) kept[d] = 1;
    double* const y = output(state, 0, Type::float64, shape).data<double>();
    float *mean = nullptr, *inverse = nullptr;
    if (has_output(1)) mean = output(state, 1, Type::float32, kept).data<float>();
    if (has_output(2)) inverse = output(state, 2, Type::float32, kept).data<float>();
    if (x.size() == 0) return;
    const double* const from = x.data<double>();
    const double* const by = scale.data<double>();
    const double* const offset = biased ? input(state, 2).data<double>() : nullptr;
    const Index step = scale.size() == row ? 1 : 0;
    const Index offset_step = biased && input(state, 2).size() == row ? 1 : 0;
    const std::vector<float> ones(static_cast<std::size_t>(row), 1.0F);
    const RowNormKernels& kernels = row_norms_of(chosen_isa());
    each_row(state, x.size() / row, x.size(), [&](Index k, Index thread) {
      float* const stashed = state.scratch[static_cast<std::size_t>(thread)];
      for (Index n = 0; n < row; ++n) stashed[n] = static_cast<float>(from[k * row + n]);
      NormalizedRows one{};
      one.x = stashed;
      one.y = stashed + most_in_row;
      one.rows = 1;
      one.count = row;
      one.scale = ones.data();
      one.epsilon = facts.number("epsilon", usual_epsilon);
      if (mean != nullptr) one.mean = mean + k;
      if (inverse != nullptr) one.inverse = inverse + k;
      kernels.layer(one);
      double* const made = y + k * row;
      for (Index n = 0; n < row; ++n)
        made[n] =
            static_cast<double>(one.y[n]) * by[n * step] + (offset ? offset[n * offset_step] : 0.0);
    });
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.empty() || fact.outputs[0] == no_value)
    return false;
  const bool rows = signature.op == "LayerNormalization";
  if (!rows && signature.op != "Softmax" && signature.op != "LogSoftmax") return false;
  for (const Index value : fact.inputs) {
    if (value != no_value && !graph.value(value).is(Type::float64)) return false;
  }
  if (rows) return fact.attributes().integer("stash_type", in_float32) == in_float32;
  const std::optional<Shape>& shape = graph.value(fact.inputs[0]).shape;
  return !shape || softmax_row(*shape, fact).has_value();
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const std::string_view op = graph.node(node).node->signature->op;
  std::unique_ptr<Step> made;
  if (op == "LayerNormalization") {
    made = std::make_unique<DoubleRows>(graph, node, std::move(buffers));
  } else {
    made = std::make_unique<DoubleSoftmax>(graph, node, std::move(buffers));
  }
  made->kernel = op == "Softmax"      ? "softmax of doubles"
                 : op == "LogSoftmax" ? "log softmax of doubles"
                                      : "layer norm of doubles";
  made->kernel_class = KernelClass::row_kernel;
  return made;
}

}  // namespace

const KernelFamily double_norms_family{"double norms", KernelClass::row_kernel, takes, step};

}  // namespace touchstone::optimized
