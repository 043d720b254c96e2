// Family `row norms`: Softmax and normalization of rows of contiguous float32 numbers. Shapes may
// be unknown before the run.
#include <algorithm>

#include "core/budget.h"
#include "optimized/lowering/kept_memory.h"
#include "optimized/lowering/norm_rows.h"
#include "optimized/lowering/row_norm.h"

namespace touchstone::optimized {

const RowNormKernels& row_norms_of(Isa isa) { return BY_ISA(isa, row_norms); }

const ColumnNormKernels& column_norms_of(Isa isa) { return BY_ISA(isa, column_norms); }

namespace {

constexpr int scale_for_each_channel = 21;

class Softmax : public RowNorm {
 public:
  using RowNorm::RowNorm;

 private:
  bool computed(RunState& state) override {
    const Tensor& x = input(state, 0);
    const std::optional<Index> row = softmax_row(x.shape(), fact());
    if (!row) return computed_columns(state);
    Tensor& y = output(state, 0, Type::float32, x.shape());
    if (y.size() == 0) return true;
    const auto kernel_of_rows = is_logarithm() ? kernels_.log_softmax : kernels_.softmax;
    const float* const from = x.data<float>();
    float* const to = y.data<float>();
    each_block(state, y.size() / *row, y.size(), [&](Index first, Index many) {
      kernel_of_rows(from + first * *row, to + first * *row, many, *row);
    });
    return true;
  }

  // Along an axis that is not the last: columns of one outer index are divided into blocks.
  bool computed_columns(RunState& state) {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    const Index axis = wrap(fact().attributes().integer("axis", -1), shape.size());
    if (fact().node->signature->since < softmax_of_one_axis || axis < 0 || axis >= shape.size())
      return false;
    Tensor& y = output(state, 0, Type::float32, shape);
    if (y.size() == 0) return true;
    const Index inner = count(tail(shape, axis + 1));
    each_column_block(state, x.data<float>(), y.data<float>(), y.size() / (shape[axis] * inner),
                      shape[axis], inner,
                      is_logarithm() ? of_columns_.log_softmax : of_columns_.softmax);
    return true;
  }

  bool is_logarithm() const { return fact().node->signature->op == "LogSoftmax"; }
};

// LayerNormalization and RMSNormalization.
class ScaledRows : public RowNorm {
 public:
  using RowNorm::RowNorm;

 private:
  bool computed(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    const Index axis = wrap(fact().attributes().integer("axis", -1), shape.size());
    if (axis < 0 || axis >= shape.size()) return false;
    const bool biased = has_input(2);
    if (!fits_rows(input(state, 1).shape(), shape, axis)) return false;
    if (biased && !fits_rows(input(state, 2).shape(), shape, axis)) return false;
    const Index row = count(tail(shape, axis));
    if (row == 0) return false;
    NormalizedRows all{};
    all.scale = for_a_row(input(state, 1), row, scale_);
    if (biased) all.bias = for_a_row(input(state, 2), row, bias_);
    all.count = row;
    all.epsilon = epsilon();
    Shape kept = shape;
    for (Index d = axis; d < kept.size(); ++d) kept[d] = 1;
    float* const y = output(state, 0, Type::float32, shape).data<float>();
    float *mean = nullptr, *inverse = nullptr;
    if (has_output(1)) mean = output(state, 1, Type::float32, kept).data<float>();
    if (has_output(2)) inverse = output(state, 2, Type::float32, kept).data<float>();
    const float* const from = x.data<float>();
    const auto kernel_of_rows = fact().node->signature->op == "LayerNormalization"
                                    ? kernels_.layer
                                    : kernels_.root_mean_square;
    each_block(state, x.size() / row, x.size(), [&](Index first, Index many) {
      NormalizedRows some = all;
      some.x = from + first * row;
      some.y = y + first * row;
      some.rows = many;
      if (mean != nullptr) some.mean = mean + first;
      if (inverse != nullptr) some.inverse = inverse + first;
      kernel_of_rows(some);
    });
    return true;
  }

  static const float* for_a_row(const Tensor& given, Index row, KeptMemory& memory) {
    if (given.size() == row) return given.data<float>();
    float* const made = memory.at<float>(row);
    std::fill_n(made, row, given.data<float>()[0]);
    return made;
  }

  KeptMemory scale_, bias_;
};

// InstanceNormalization and GroupNormalization.
class ScaledChannels : public RowNorm {
 public:
  using RowNorm::RowNorm;

 private:
  bool computed(RunState& state) override {
    const Tensor &x = input(state, 0), &scale = input(state, 1), &bias = input(state, 2);
    const Shape& shape = x.shape();
    const Signature& signature = *fact().node->signature;
    const bool grouped = signature.op == "GroupNormalization";
    if (shape.size() < 2 || (!grouped && signature.since == 1 && shape.size() != 4)) return false;
    const Index channels = shape[1];
    const Index groups = grouped ? fact().attributes().integer("num_groups") : channels;
    if (x.size() == 0 || groups <= 0 || channels % groups != 0) return false;
    const Index row = count(tail(shape, 2)) * (channels / groups);
    const bool each_channel = !grouped || signature.since >= scale_for_each_channel;
    const Index scales = each_channel ? channels : groups;
    if (scale.shape() != Shape{scales} || bias.shape() != Shape{scales}) return false;
    NormalizedGroup all{};
    all.count = row;
    all.segment = each_channel ? count(tail(shape, 2)) : row;
    all.epsilon = epsilon();
    Tensor& y = output(state, 0, Type::float32, shape);
    each_block(state, shape[0] * groups, x.size(), [&](Index first, Index many) {
      NormalizedGroup some = all;
      for (Index r = first; r < first + many; ++r) {
        const Index scaled = r % groups * (scales / groups);
        some.x = x.data<float>() + r * row;
        some.y = y.data<float>() + r * row;
        some.scale = scale.data<float>() + scaled;
        some.bias = bias.data<float>() + scaled;
        kernels_.group(some);
      }
    });
    return true;
  }
};

bool takes_softmax(const AnalyzedGraph&, const AnalyzedNode&) { return true; }

bool takes_scaled_rows(const AnalyzedGraph& graph, const AnalyzedNode& fact) {
  const std::optional<Shape>& x = graph.value(fact.inputs[0]).shape;
  if (!x) return true;
  const Index axis = wrap(fact.attributes().integer("axis", -1), x->size());
  for (std::size_t k = 1; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] == no_value) continue;
    const std::optional<Shape>& scale = graph.value(fact.inputs[k]).shape;
    if (scale && !fits_rows(*scale, *x, axis)) return false;
  }
  return true;
}

bool takes_channels(const AnalyzedGraph&, const AnalyzedNode&) { return true; }

struct Row {
  std::string_view op;
  std::string_view kernel;
  bool (*takes)(const AnalyzedGraph& graph, const AnalyzedNode& fact);
  MakeStep make;
};
constexpr Row norms[] = {
    {"Softmax", "softmax ", takes_softmax, make_step<Softmax>},
    {"LogSoftmax", "log softmax ", takes_softmax, make_step<Softmax>},
    {"LayerNormalization", "layer norm ", takes_scaled_rows, make_step<ScaledRows>},
    {"RMSNormalization", "root mean square norm ", takes_scaled_rows, make_step<ScaledRows>},
    {"InstanceNormalization", "instance norm ", takes_channels, make_step<ScaledChannels>},
    {"GroupNormalization", "group norm ", takes_channels, make_step<ScaledChannels>},
};

const Row* row_of(const Signature& signature) {
  if (!signature.domain.empty()) return nullptr;
  for (const Row& row : norms) {
    if (row.op == signature.op) return &row;
  }
  return nullptr;
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Row* const row = row_of(*fact.node->signature);
  if (row == nullptr || fact.outputs.empty() || fact.outputs[0] == no_value) return false;
  const auto all_float32 = [&](const std::vector<Index>& values) {
    return std::all_of(values.begin(), values.end(), [&](Index value) {
      return value == no_value || graph.value(value).is(Type::float32);
    });
  };
  constexpr Index in_float32 = 1;
  return all_float32(fact.inputs) && all_float32(fact.outputs) &&
         fact.attributes().integer("stash_type", in_float32) == in_float32 &&
         row->takes(graph, fact);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  const Row& row = *row_of(*graph.node(node).node->signature);
  std::unique_ptr<Step> made = row.make(graph, node, std::move(buffers));
  made->kernel = std::string(row.kernel) + std::string(name(chosen_isa()));
  made->kernel_class = KernelClass::row_kernel;
  return made;
}

}  // namespace

const KernelFamily row_norms_family{"row norms", KernelClass::row_kernel, takes, step};

}  // namespace touchstone::optimized
