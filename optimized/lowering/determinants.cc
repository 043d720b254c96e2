// Determinants by the elimination of the definition: each matrix is reduced in a copy, and pivots
// and operations come in the same order, so that no bit differs from the reference's.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/lowering/elements.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

// Row of the pivot: of equal numbers the first leads, and NaN leads all numbers.
template <class T>
Index leading_row(const T* a, Index column, Index n) {
  Index leads = column;
  T most = std::abs(a[column * n + column]);
  for (Index row = column + 1; row < n; ++row) {
    const T size = std::abs(a[row * n + column]);
    if (most < size || (std::isnan(size) && !std::isnan(most))) leads = row, most = size;
  }
  return leads;
}

template <class T>
T determinant(T* a, Index n) {
  T made = 1;
  for (Index t = 0; t < n; ++t) {
    charge_work((n - t) * (n - t));
    const Index leads = leading_row(a, t, n);
    T* const lead = a + t * n;
    if (leads != t) std::swap_ranges(lead + t, lead + n, a + leads * n + t);
    made *= (leads == t ? T{1} : T{-1}) * lead[t];
    for (Index row = t + 1; row < n; ++row) {
      T* const below = a + row * n;
      const T factor = lead[t] == 0 ? T{0} : below[t] / lead[t];
      for (Index k = t + 1; k < n; ++k) below[k] -= factor * lead[k];
    }
  }
  return made;
}

class Determinants : public TensorStep {
 public:
  Determinants(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    kernel = "determinants";
    kernel_class = KernelClass::reduce;
  }

  void run(RunState& state) override {
    const Type type = input(state, 0).type();
    if (type == Type::float32) return compute<float>(state);
    if (type == Type::float64) return compute<double>(state);
    run_on_reference(state);
  }

 private:
  template <class T>
  void compute(RunState& state) {
    const Tensor& x = input(state, 0);
    const Index rank = x.shape().size();
    if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) return run_on_reference(state);
    const Index n = x.shape()[rank - 1];
    const Shape batch = head(x.shape(), rank - 2);
    Tensor& y = output(state, 0, x.type(), batch);
    T* const made = y.template data<T>();
    const T* const from = x.template data<T>();
    const Index matrices = y.size(), slots = std::min(matrices, state.pool.size());
    Tensor copies(x.type(), Shape{slots, n, n});
    T* const copied = copies.template data<T>();
    constexpr double a_step = 0.2, an_operation = 0.3;
    const auto size = static_cast<double>(n);
    const double cost =
        static_cast<double>(matrices) * size * size * (a_step * size + an_operation);
    state.each(matrices, cost, [&](Index matrix, Index thread) {
      T* const own = copied + (slots == matrices ? matrix : thread) * n * n;
      std::copy_n(from + matrix * n * n, n * n, own);
      made[matrix] = determinant(own, n);
    });
  }
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const Signature& signature = *graph.node(node).node->signature;
  const Type type = element_of(graph, node, 0);
  return signature.domain.empty() && signature.op == "Det" &&
         (type == Type::float32 || type == Type::float64);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Determinants>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily determinants_family{"determinants", KernelClass::reduce, takes, step};

}  // namespace touchstone::optimized
