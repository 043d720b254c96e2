// A step that normalizes or reduces rows or columns of float32 numbers.
#pragma once

#include <algorithm>

#include "core/budget.h"
#include "optimized/kernels/column_norms.h"
#include "optimized/kernels/row_norms.h"
#include "optimized/lowering/families.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {

class RowNorm : public TensorStep {
 public:
  RowNorm(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {}

  void run(RunState& state) override {
    if (!computed(state)) run_on_reference(state);
  }

 protected:
  // Returns false, before it makes an output, for a call that the family does not compute.
  virtual bool computed(RunState& state) = 0;

  // Calls work(first, many) for blocks of rows.
  template <class F>
  static void each_block(RunState& state, Index rows, Index elements, F work) {
    constexpr double nanoseconds_a_number = 3 * nanoseconds_an_element;
    const Index parts = std::min(rows, parts_for(state.pool.size()));
    const double cost = static_cast<double>(elements) * nanoseconds_a_number;
    state.each(parts, cost, [&](Index part, Index) {
      const Index first = rows * part / parts;
      work(first, rows * (part + 1) / parts - first);
    });
  }

  // Calls work(columns) for blocks of columns, which are the middle dimension of x.
  template <class F>
  static void each_column_block(RunState& state, const float* x, float* y, Index outer,
                                Index middle, Index inner, F work) {
    constexpr Index columns = 64;
    const Index blocks = ceil_div(inner, columns);
    each_block(state, outer * blocks, outer * middle * inner, [&](Index first, Index many) {
      for (Index k = first; k < first + many; ++k) {
        const Index from = k % blocks * columns, at = k / blocks * middle * inner + from;
        charge_work(middle);
        work(NormalizedColumns{x + at, y + at, middle, inner, std::min(columns, inner - from)});
      }
    });
  }

  float epsilon() const {
    constexpr float usual = 1e-5F;
    return fact().attributes().number("epsilon", usual);
  }
  const RowNormKernels& kernels_ = row_norms_of(chosen_isa());
  const ColumnNormKernels& of_columns_ = column_norms_of(chosen_isa());
};

}  // namespace touchstone::optimized
