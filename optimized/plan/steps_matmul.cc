// Matmul steps with a constant matrix, which is packed at planning. For one row and a transposed
// matrix, it is read in place instead.
#include <algorithm>
#include <limits>

#include "optimized/kernels/gemm.h"
#include "optimized/plan/packed_matrix.h"
#include "optimized/plan/steps.h"
#include "optimized/registry/registry.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

// Returns one number per column; empty if there is no bias.
std::vector<float> bias_of(const AnalyzedGraph& graph, const AnalyzedNode& fact, Index columns) {
  std::vector<float> bias;
  if (fact.inputs.size() > 2 && fact.inputs[2] != no_value) {
    const Tensor& c = *graph.value(fact.inputs[2]).constant;
    for (Index n = 0; n < columns; ++n) bias.push_back(c.data<float>()[c.size() == 1 ? 0 : n]);
  }
  return bias;
}

bool turned(const AnalyzedNode& fact) { return fact.attributes().integer("transB") != 0; }

class MatmulStep : public Step {
 public:
  MatmulStep(Builder& builder, const Group& group) : gemm_(chosen_isa()) {
    const AnalyzedGraph& graph = builder.graph();
    const AnalyzedNode& fact = graph.node(group.main());
    const Tensor& b = *graph.value(fact.inputs[1]).constant;
    const Shape& a = builder.shape(fact.inputs[0]);
    const bool across = turned(fact);
    depth_ = a.back();
    rows_ = count(a) / depth_;
    columns_ = b.shape()[across ? 0 : 1];
    in_ = builder.plain(fact.inputs[0]);
    out_ = builder.make_plain(group.made);
    const Tensor* const c = fact.inputs.size() > 2 && fact.inputs[2] != no_value
                                ? graph.value(fact.inputs[2]).constant
                                : nullptr;
    packed_ = graph.weights().get<PackedMatrix>({&b, c}, {across, depth_, columns_}, [&] {
      const std::vector<float> bias = bias_of(graph, fact, columns_);
      return PackedMatrix(gemm_, {b, across, bias.empty() ? nullptr : bias.data()},
                          graph.weights());
    });
    product_.a_row = depth_;
    product_.packed = packed_->get();
    product_.c_row = columns_;
    product_.depth = depth_;
    product_.columns = columns_;
    product_.min = group.min;
    product_.max = group.max;
    kernel = "matmul " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::matmul;
  }
  void bind(const Memory& memory) override {
    product_.a = memory.at(in_);
    product_.c = memory.at(out_);
  }
  void run(RunState& state) override { run_matmul(state.pool, gemm_, product_, rows_); }

 private:
  const Gemm gemm_;
  Index in_, out_, rows_, columns_, depth_;
  std::shared_ptr<const PackedMatrix> packed_;
  GemmProblem product_;
};

// Many rows times a constant matrix of few columns, which a panel would mostly pad.
class FewColumns : public Step {
 public:
  FewColumns(Builder& builder, const Group& group)
      : thin_kernel_(thin_of(chosen_isa())), min_(group.min), max_(group.max) {
    const AnalyzedNode& fact = builder.graph().node(group.main());
    const Tensor& b = *builder.graph().value(fact.inputs[1]).constant;
    const Shape& a = builder.shape(fact.inputs[0]);
    const bool across = turned(fact);
    in_ = builder.plain(fact.inputs[0]);
    out_ = builder.make_plain(group.made);
    rows_ = count(a) / a.back();
    columns_ = b.shape()[across ? 0 : 1];
    thin_.a_row = thin_.depth = a.back();
    thin_.a_depth = 1;
    thin_.b_depth = width_of(columns_);
    thin_.c_row = columns_;
    matrix_.resize(static_cast<std::size_t>(thin_.depth * thin_.b_depth));
    const float* const from = b.data<float>();
    for (Index k = 0; k < thin_.depth; ++k) {
      for (Index n = 0; n < columns_; ++n)
        matrix_[static_cast<std::size_t>(k * thin_.b_depth + n)] =
            from[across ? n * thin_.depth + k : k * columns_ + n];
    }
    thin_.b = matrix_.data();
    bias_ = bias_of(builder.graph(), fact, columns_);
    kernel = "matmul of few columns " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::matmul;
  }
  static bool takes(const Builder& builder, const Group& group) {
    constexpr Index least_rows = 16;
    const AnalyzedNode& fact = builder.graph().node(group.main());
    const Shape &a = builder.shape(fact.inputs[0]), &b = builder.shape(fact.inputs[1]);
    if (b.size() != 2 || a.back() == 0 || count(a) / a.back() < least_rows) return false;
    const Index columns = b[turned(fact) ? 0 : 1];
    const Index lanes = chosen_isa() == Isa::avx512 ? 16 : chosen_isa() == Isa::avx2 ? 8 : 4;
    return columns > 0 && columns <= most_columns && width_of(columns) <= 2 * lanes;
  }
  void bind(const Memory& memory) override {
    thin_.a = memory.at(in_);
    thin_.c = memory.at(out_);
  }
  void run(RunState& state) override {
    const double cost = nanoseconds_a_multiply_add * static_cast<double>(rows_) *
                        static_cast<double>(thin_.b_depth) * static_cast<double>(thin_.depth);
    const Index parts = std::min(rows_, state.parts(cost));
    state.each(parts, cost, [&](Index part, Index) {
      const Index first = rows_ * part / parts;
      compute(first, rows_ * (part + 1) / parts - first);
    });
  }

 private:
  static constexpr Index most_columns = 16;
  // Columns of a vector that holds a row.
  static Index width_of(Index columns) { return columns <= 4 ? 4 : columns <= 8 ? 8 : 16; }

  // Rows are written in order, as whole vectors: what exceeds one is written over by the next. The
  // last rows, which would exceed the part, are written apart.
  void compute(Index first, Index rows) const {
    const Index apart = std::min(ceil_div(thin_.b_depth, columns_) - 1, rows);
    Thin some = thin_;
    some.a += first * some.a_row;
    some.c += first * some.c_row;
    some.rows = rows - apart;
    if (some.rows > 0) thin_kernel_(some, 0, some.b_depth);
    for (Index row = some.rows; row < rows; ++row) {
      float last[most_columns];
      Thin one = thin_;
      one.a += (first + row) * one.a_row;
      one.c = last;
      one.rows = 1;
      thin_kernel_(one, 0, one.b_depth);
      std::copy_n(last, columns_, thin_.c + (first + row) * columns_);
    }
    const float* const end = thin_.c + (first + rows) * columns_;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (bias_.empty() && min_ == -infinity && max_ == infinity) return;
    for (float* row = thin_.c + first * columns_; row < end; row += columns_) {
      for (Index n = 0; n < columns_; ++n) {
        const float sum = row[n] + (bias_.empty() ? 0 : bias_[static_cast<std::size_t>(n)]);
        row[n] = sum < min_ ? min_ : sum > max_ ? max_ : sum;
      }
    }
  }

  const ThinKernel thin_kernel_;
  const float min_, max_;
  std::vector<float> matrix_, bias_;  // each row of the matrix fills a vector
  Index in_, out_, rows_, columns_;
  Thin thin_{};
};

class OnRow : public Step {
 public:
  OnRow(Builder& builder, const Group& group) : dot_(dots_of(chosen_isa())) {
    const AnalyzedNode& fact = builder.graph().node(group.main());
    const Shape& b = builder.shape(fact.inputs[1]);
    columns_ = b[0];
    a_ = builder.plain(fact.inputs[0]);
    b_ = builder.plain(fact.inputs[1]);
    c_ = builder.make_plain(group.made);
    bias_ = bias_of(builder.graph(), fact, columns_);
    dots_.bias = bias_.empty() ? nullptr : bias_.data();
    dots_.depth = dots_.column_stride = b[1];
    dots_.min = group.min;
    dots_.max = group.max;
    kernel = "matrix-vector " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::matrix_vector;
  }
  // True if a dot-product kernel replaces MatmulStep.
  static bool takes(const Builder& builder, const Group& group) {
    const AnalyzedNode& fact = builder.graph().node(group.main());
    const Shape &a = builder.shape(fact.inputs[0]), &b = builder.shape(fact.inputs[1]);
    return turned(fact) && takes_dots(count(a) / a.back(), b[1], b[0]);
  }
  void bind(const Memory& memory) override {
    dots_.a = memory.at(a_);
    dots_.b = memory.at(b_);
    dots_.c = memory.at(c_);
  }
  void run(RunState& state) override {
    const Index groups = ceil_div(columns_, dots_at_once);
    const double cost =
        nanoseconds_an_element * static_cast<double>(columns_) * static_cast<double>(dots_.depth);
    const Index parts = std::min(groups, state.parts(cost));
    state.each(parts, cost, [&](Index part, Index) {
      const Index first = groups * part / parts * dots_at_once;
      const Index end = std::min(groups * (part + 1) / parts * dots_at_once, columns_);
      dot_(dots_, first, end - first);
    });
  }

 private:
  const DotsKernel dot_;
  Index a_, b_, c_, columns_;
  std::vector<float> bias_;
  Dots dots_{};
};

}  // namespace

void run_matmul(ThreadPool& pool, const Gemm& gemm, const GemmProblem& product, Index rows) {
  const Index panels = gemm.panels(product.columns), wanted = parts_for(pool.size());
  const double cost = nanoseconds_a_multiply_add * static_cast<double>(rows) *
                      static_cast<double>(product.columns) * static_cast<double>(product.depth);
  if (cost < RunState::worth_waking) return gemm.run(product, 0, panels, 0, rows);
  const Index row_stride = std::max<Index>(ceil_div(rows, wanted), 48);
  const Index row_parts = ceil_div(rows, row_stride);
  const Index panel_parts = std::min(panels, ceil_div(wanted, row_parts));
  const Index panel_stride = ceil_div(panels, panel_parts);
  pool.each(row_parts * ceil_div(panels, panel_stride), [&](Index part, Index) {
    const Index first = part / row_parts * panel_stride, row = part % row_parts * row_stride;
    gemm.run(product, first, std::min(panel_stride, panels - first), row,
             std::min(row_stride, rows - row));
  });
}

void build_matmul(Builder& builder, const Group& group) {
  const auto& [own, rest] = apart(group);
  std::unique_ptr<Step> step;
  if (OnRow::takes(builder, own)) {
    builder.needs<Component::matrix_vector>();
    step = std::make_unique<OnRow>(builder, own);
  } else if (FewColumns::takes(builder, own)) {
    builder.needs<Component::few_columns>();
    step = std::make_unique<FewColumns>(builder, own);
  } else {
    builder.needs<Component::matmul>();
    step = std::make_unique<MatmulStep>(builder, own);
  }
  builder.add(std::move(step), own.nodes);
  if (!rest) return;
  builder.needs<Component::elements>();
  build_pointwise(builder, *rest);
}

}  // namespace touchstone::optimized
