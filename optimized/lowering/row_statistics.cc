// Family `row statistics`: BatchNormalization by fed statistics, and MeanVarianceNormalization,
// LpNormalization and ReduceLogSumExp of contiguous rows, in float32.
#include <cmath>

#include "optimized/lowering/kept_memory.h"
#include "optimized/lowering/norm_rows.h"
#include "optimized/lowering/row_norm.h"

namespace touchstone {
namespace {

// Returns the numbers of a row if the reduced dimensions follow each other at the end, apart from
// dimensions of one element.
std::optional<Index> row_over(const Shape& x, const IndexVector& axes) {
  IndexVector over(x.size(), 0);
  for (const Index axis : axes) {
    const Index a = wrap(axis, x.size());
    if (a < 0 || a >= x.size() || over[a] != 0) return std::nullopt;
    over[a] = 1;
  }
  Index row = 1;
  bool kept = false;
  for (Index d = x.size(); d-- > 0;) {
    if (x[d] == 1) continue;
    kept = kept || over[d] == 0;
    if (kept && over[d] != 0) return std::nullopt;
    if (!kept) row *= x[d];
  }
  return row;
}

// Returns the axes of a reduction, if they are known before the run.
std::optional<IndexVector> axes_of(const AnalyzedGraph& graph, const AnalyzedNode& fact,
                                   Index rank) {
  constexpr int axes_as_input = 18;
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

// The numbers of a row of a node of known shape.
std::optional<Index> row_of(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const std::optional<Shape>& x = graph.value(fact.inputs[0]).shape;
  if (!x || count(*x) == 0) return std::nullopt;
  const std::string_view op = fact.node->signature->op;
  const Facts given = fact.attributes();
  if (op == "LpNormalization") {
    const Index p = given.integer("p", 2);
    return p == 1 || p == 2 ? row_over(*x, {given.integer("axis", -1)}) : std::nullopt;
  }
  if (op == "MeanVarianceNormalization")
    return row_over(*x, given.given("axes") ? given.integers("axes") : IndexVector{0, 2, 3});
  const std::optional<IndexVector> axes = axes_of(graph, fact, x->size());
  return axes ? row_over(*x, *axes) : std::nullopt;
}

class Rows : public RowNorm {
 public:
  Rows(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : RowNorm(graph, node, std::move(buffers)),
        x_(*graph.value(fact().inputs[0]).shape),
        made_(*graph.value(fact().outputs[0]).shape),
        row_(*row_of(graph, fact())) {}

 private:
  bool computed(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (x.shape() != x_) return false;
    const std::string_view op = fact().node->signature->op;
    const bool reduces = op == "ReduceLogSumExp";
    const bool squares = fact().attributes().integer("p", 2) == 2;
    constexpr float least_deviation = 1e-9F;
    const float* const from = x.data<float>();
    float* const to = output(state, 0, Type::float32, made_).data<float>();
    each_block(state, x.size() / row_, x.size(), [&](Index first, Index many) {
      charge_work(many * row_);
      const float* const own = from + first * row_;
      float* const made = to + first * (reduces ? 1 : row_);
      if (reduces)
        kernels_.log_sum_exp(own, made, many, row_);
      else if (op == "LpNormalization")
        (squares ? kernels_.by_squares : kernels_.by_magnitudes)(own, made, many, row_);
      else
        kernels_.standard(own, made, many, row_, least_deviation);
    });
    return true;
  }

  const Shape x_, made_;
  const Index row_;
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
    float* const deviation = deviation_.at<float>(channels);
    const float* const variance = input(state, 4).data<float>();
    for (Index c = 0; c < channels; ++c) {
      const double sum = static_cast<double>(variance[c]) + static_cast<double>(epsilon());
      deviation[c] = static_cast<float>(std::sqrt(sum));
    }
    GivenStatistics all{};
    all.mean = input(state, 3).data<float>();
    all.deviation = deviation;
    all.scale = input(state, 1).data<float>();
    all.bias = input(state, 2).data<float>();
    const Index all_channels = shape[0] * channels, inner = y.size() / all_channels;
    const bool beside = inner == 1 && channels > 1;  // channels are next to each other
    all.count = beside ? channels : channels == 1 ? y.size() : inner;
    each_block(state, y.size() / all.count, y.size(), [&](Index first, Index many) {
      charge_work(many * all.count);
      for (Index row = first; row < first + many; ++row) {
        GivenStatistics some = all;
        some.x = x.data<float>() + row * all.count;
        some.y = y.data<float>() + row * all.count;
        if (beside) {
          kernels_.by_each(some);
          continue;
        }
        const Index channel = row % channels;
        some.mean += channel, some.deviation += channel;
        some.scale += channel, some.bias += channel;
        kernels_.by_one(some);
      }
    });
    return true;
  }

  KeptMemory deviation_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || fact.outputs.empty() || fact.outputs[0] == no_value)
    return false;
  const bool reduces = signature.op == "ReduceLogSumExp";
  for (std::size_t k = 0; k < (reduces ? 1 : fact.inputs.size()); ++k) {
    if (fact.inputs[k] == no_value || !graph.value(fact.inputs[k]).is(Type::float32)) return false;
  }
  const AnalyzedValue& made = graph.value(fact.outputs[0]);
  if (!made.is(Type::float32)) return false;
  if (signature.op == "BatchNormalization") return has_fed_statistics(fact);
  if (!reduces && signature.op != "LpNormalization" && signature.op != "MeanVarianceNormalization")
    return false;
  return made.shape && row_of(graph, fact).has_value();
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
  made->kernel_class = KernelClass::row_kernel;
  return made;
}

}  // namespace

const KernelFamily row_statistics_family{"row statistics", KernelClass::row_kernel, takes, step};

}  // namespace touchstone
