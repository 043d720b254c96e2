// Family `row statistics`: BatchNormalization by fed statistics, MeanVarianceNormalization and
// LpNormalization, and reductions of contiguous rows, in float32.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "optimized/kernels/row_folds.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/lowering/norm_rows.h"
#include "optimized/lowering/row_norm.h"

namespace touchstone::optimized {
namespace {

// Alternately kept and reduced dimensions, after dimensions of one element are dropped and
// neighbors merged: [outer, many, apart, row]. Rows are contiguous if `apart` and `row` are 1.
struct ReducedDims {
  Index outer = 1, many = 1, apart = 1, row = 1;
  bool contiguous() const { return apart == 1; }
};

// A reduction of rows: the kernel, and what is done with its results.
struct RowReduction {
  std::string_view op;
  RowFold RowFoldKernels::*fold;  // null: RowNormKernels::log_sum_exp
  enum class Finish { none, mean, root, logarithm } finish;
};
constexpr RowReduction row_reductions[] = {
    {"ReduceL1", &RowFoldKernels::sum_of_magnitudes, RowReduction::Finish::none},
    {"ReduceL2", &RowFoldKernels::sum_of_squares, RowReduction::Finish::root},
    {"ReduceLogSum", &RowFoldKernels::sum, RowReduction::Finish::logarithm},
    {"ReduceLogSumExp", nullptr, RowReduction::Finish::none},
    {"ReduceMax", &RowFoldKernels::maximum, RowReduction::Finish::none},
    {"ReduceMean", &RowFoldKernels::sum, RowReduction::Finish::mean},
    {"ReduceMin", &RowFoldKernels::minimum, RowReduction::Finish::none},
    {"ReduceSum", &RowFoldKernels::sum, RowReduction::Finish::none},
    {"ReduceSumSquare", &RowFoldKernels::sum_of_squares, RowReduction::Finish::none},
};
const RowReduction* row_reduction(std::string_view op) {
  const auto* const found = std::find_if(std::begin(row_reductions), std::end(row_reductions),
                                         [&](const RowReduction& row) { return row.op == op; });
  return found == std::end(row_reductions) ? nullptr : found;
}
const RowFoldKernels& row_folds() { return BY_ISA(chosen_isa(), row_folds); }

// Returns nothing if dimensions alternate more often.
std::optional<ReducedDims> reduced_dims(const Shape& x, const IndexVector& axes) {
  IndexVector over(x.size(), 0);
  for (const Index axis : axes) {
    const Index a = wrap(axis, x.size());
    if (a < 0 || a >= x.size() || over[a] != 0) return std::nullopt;
    over[a] = 1;
  }
  ReducedDims made;
  Index* const sizes[] = {&made.outer, &made.many, &made.apart, &made.row};
  std::size_t now = 0;
  for (Index d = 0; d < x.size(); ++d) {
    if (x[d] == 1) continue;
    if (now % 2 != static_cast<std::size_t>(over[d])) ++now;
    if (now == std::size(sizes)) return std::nullopt;
    *sizes[now] *= x[d];
  }
  return made;
}

// Returns the axes of a reduction, if they are known before the run.
std::optional<IndexVector> axes_of(const AnalyzedGraph& graph, const AnalyzedNode& fact,
                                   Index rank) {
  const int axes_as_input = fact.node->signature->op == "ReduceSum" ? 13 : 18;
  const Facts given = fact.attributes();
  IndexVector named;
  if (fact.node->signature->since < axes_as_input) {
    named = given.integers("axes");
  } else if (fact.inputs.size() > 1 && fact.inputs[1] != no_value) {
    const Tensor* const axes = graph.value(fact.inputs[1]).constant;
    if (axes == nullptr || axes->type() != Type::int64 || axes->shape().size() != 1)
      return std::nullopt;
    for (Index k = 0; k < axes->size(); ++k) named.push_back(axes->data<std::int64_t>()[k]);
  }
  if (!named.empty()) return named;
  if (given.integer("noop_with_empty_axes") != 0) return std::nullopt;
  for (Index d = 0; d < rank; ++d) named.push_back(d);
  return named;
}

constexpr Index fewest_rows = 4, longest_row = 4096;  // of a reduction but of exponentials

// Returns the dimensions of a node of known shape.
std::optional<ReducedDims> reduced_dims(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const std::optional<Shape>& x = graph.value(fact.inputs[0]).shape;
  if (!x || count(*x) == 0) return std::nullopt;
  const std::string_view op = fact.node->signature->op;
  const Facts given = fact.attributes();
  if (op == "LpNormalization") {
    const Index p = given.integer("p", 2);
    return p == 1 || p == 2 ? reduced_dims(*x, {given.integer("axis", -1)}) : std::nullopt;
  }
  if (op == "MeanVarianceNormalization")
    return reduced_dims(*x, given.given("axes") ? given.integers("axes") : IndexVector{0, 2, 3});
  const std::optional<IndexVector> axes = axes_of(graph, fact, x->size());
  const std::optional<ReducedDims> dims = axes ? reduced_dims(*x, *axes) : std::nullopt;
  if (!dims || !dims->contiguous()) return std::nullopt;
  // Few long rows are left to kernels that divide a row among the threads.
  const bool suits = row_reduction(op)->fold == nullptr ||
                     (dims->outer >= fewest_rows && dims->many <= longest_row);
  return suits ? dims : std::nullopt;
}

class Rows : public RowNorm {
 public:
  Rows(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : RowNorm(graph, node, std::move(buffers)),
        x_(*graph.value(fact().inputs[0]).shape),
        made_(*graph.value(fact().outputs[0]).shape),
        dims_(*reduced_dims(graph, fact())) {}

 private:
  static constexpr float least_deviation = 1e-9F;

  bool computed(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (x.shape() != x_) return false;
    const float* const from = x.data<float>();
    float* const to = output(state, 0, Type::float32, made_).data<float>();
    if (dims_.contiguous()) {
      rows(state, from, to);
    } else if (dims_.row == 1) {
      each_column_block(state, from, to, dims_.outer, dims_.many, dims_.apart,
                        [&](const NormalizedColumns& all) { columns(all); });
    } else {
      segments(state, from, to);
    }
    return true;
  }

  void rows(RunState& state, const float* from, float* to) const {
    const Index row = dims_.many;
    const RowReduction* const reduction = row_reduction(fact().node->signature->op);
    const bool reduces = reduction != nullptr;
    each_block(state, dims_.outer, dims_.outer * row, [&](Index first, Index many) {
      charge_work(many * row);
      const float* const own = from + first * row;
      float* const made = to + first * (reduces ? 1 : row);
      if (reduces)
        reduce(*reduction, own, made, many, row);
      else if (is("LpNormalization"))
        (squares() ? kernels_.by_squares : kernels_.by_magnitudes)(own, made, many, row);
      else
        kernels_.standard(own, made, many, row, least_deviation);
    });
  }

  void reduce(const RowReduction& of, const float* from, float* to, Index rows, Index row) const {
    using Finish = RowReduction::Finish;
    (of.fold == nullptr ? kernels_.log_sum_exp : row_folds().*of.fold)(from, to, rows, row);
    if (of.finish == Finish::mean) {
      const auto size = static_cast<float>(row);
      for (Index k = 0; k < rows; ++k) to[k] /= size;
    } else if (of.finish == Finish::root) {
      std::transform(to, to + rows, to, [](float x) { return std::sqrt(x); });
    } else if (of.finish == Finish::logarithm) {
      std::transform(to, to + rows, to, [](float x) { return std::log(x); });
    }
  }

  void columns(const NormalizedColumns& all) const {
    if (is("LpNormalization"))
      (squares() ? of_columns_.by_squares : of_columns_.by_magnitudes)(all);
    else
      of_columns_.standard(all, least_deviation);
  }

  // Segments are of a MeanVarianceNormalization: the others reduce one axis, or rows.
  void segments(RunState& state, const float* from, float* to) const {
    const Index stride = dims_.apart * dims_.row, slice = dims_.many * stride;
    each_block(state, dims_.outer * dims_.apart, dims_.outer * slice, [&](Index first, Index many) {
      charge_work(many * dims_.many * dims_.row);
      for (Index k = first; k < first + many; ++k) {
        const Index at = k / dims_.apart * slice + k % dims_.apart * dims_.row;
        kernels_.standard_segments({from + at, to + at, dims_.row, dims_.many, stride},
                                   least_deviation);
      }
    });
  }

  bool is(std::string_view op) const { return fact().node->signature->op == op; }
  bool squares() const { return fact().attributes().integer("p", 2) == 2; }

  const Shape x_, made_;
  const ReducedDims dims_;
};

// True if a BatchNormalization takes its statistics as inputs, one for each channel.
bool has_fed_statistics(const AnalyzedNode& fact) {
  constexpr int training_by_attribute = 14, training_by_outputs = 7;
  const Facts given = fact.attributes();
  for (std::size_t k = 1; k < fact.outputs.size(); ++k) {
    if (fact.outputs[k] != no_value) return false;
  }
  const int since = fact.node->signature->since;
  if (since < training_by_outputs && given.integer("is_test") == 0) return false;
  if (since >= training_by_attribute && given.integer("training_mode") != 0) return false;
  return given.integer("spatial", 1) != 0;
}

class FedStatistics : public RowNorm {
 public:
  using RowNorm::RowNorm;

 private:
  bool computed(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    if (shape.empty()) return false;
    const Index channels = shape.size() == 1 ? 1 : shape[1];
    for (std::size_t k = 1; k < 5; ++k) {
      if (input(state, k).shape() != Shape{channels}) return false;
    }
    Tensor& y = output(state, 0, Type::float32, shape);
    if (y.size() == 0) return true;
    const float* const variance = input(state, 4).data<float>();
    GivenStatistics all{};
    all.mean = input(state, 3).data<float>();
    all.scale = input(state, 1).data<float>();
    all.bias = input(state, 2).data<float>();
    float* const deviation = deviation_.at<float>(channels);
    float* const factor = factor_.at<float>(channels);
    const auto more = static_cast<double>(epsilon());
    for (Index c = 0; c < channels; ++c) {
      const double sum = static_cast<double>(variance[c]) + more;
      deviation[c] = static_cast<float>(std::sqrt(sum));
      factor[c] = static_cast<float>(all.scale[c] / static_cast<double>(deviation[c]));
    }
    all.deviation = deviation;
    all.factor = factor;
    all.channels = channels;
    const Index inner = y.size() / (shape[0] * channels);
    const bool beside = inner == 1 && channels > 1;  // channels are next to each other
    all.count = beside ? channels : channels == 1 ? y.size() : inner;
    const auto kernel_of_rows = beside ? kernels_.by_each : kernels_.by_channels;
    each_block(state, y.size() / all.count, y.size(), [&](Index first, Index many) {
      charge_work(many * all.count);
      GivenStatistics some = all;
      some.x = x.data<float>() + first * all.count;
      some.y = y.data<float>() + first * all.count;
      some.rows = many;
      some.channel = first % channels;
      kernel_of_rows(some);
    });
    return true;
  }

  KeptMemory deviation_, factor_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.empty() || fact.outputs[0] == no_value)
    return false;
  const bool reduces = row_reduction(signature.op) != nullptr;
  for (std::size_t k = 0; k < (reduces ? 1 : fact.inputs.size()); ++k) {
    if (fact.inputs[k] == no_value || !graph.value(fact.inputs[k]).is(Type::float32)) return false;
  }
  const AnalyzedValue& made = graph.value(fact.outputs[0]);
  if (!made.is(Type::float32)) return false;
  if (signature.op == "BatchNormalization") return has_fed_statistics(fact);
  if (!reduces && signature.op != "LpNormalization" && signature.op != "MeanVarianceNormalization")
    return false;
  return made.shape && reduced_dims(graph, fact).has_value();
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const AnalyzedNode& fact = graph.node(node);
  std::unique_ptr<Step> made;
  if (fact.node->signature->op == "BatchNormalization")
    made = std::make_unique<FedStatistics>(graph, node, std::move(buffers));
  else
    made = std::make_unique<Rows>(graph, node, std::move(buffers));
  made->kernel =
      "rows of " + std::string(fact.node->signature->op) + " " + std::string(name(chosen_isa()));
  const RowReduction* const reduction = row_reduction(fact.node->signature->op);
  const bool folds = reduction != nullptr && reduction->fold != nullptr;
  made->kernel_class = folds ? KernelClass::reduce : KernelClass::row_kernel;
  return made;
}

}  // namespace

const KernelFamily row_statistics_family{"row statistics", KernelClass::row_kernel, takes, step};

}  // namespace touchstone::optimized
