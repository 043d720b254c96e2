// Schedule of reductions: the canonical problem is [outer, reduced, inner]; Halide's order is
// innermost first. There are two kernels. `columns`: vectors run over inner, and each lane reduces
// in order. `rows`: inner is 1, and vectors run over the reduced dimension. Sixteen partial results
// are joined by a fixed tree, whatever the machine's vector width, so all instruction sets give the
// same bits.
//
// Compiled with strict_float, for the reasons in kernels/halide/elementwise.h.
#pragma once

#include <Halide.h>

#include <functional>
#include <limits>
#include <vector>

#include "optimized/kernels/halide/elementwise.h"

namespace touchstone::optimized::generators {

template <class Kernel>
class Reduce : public Halide::Generator<Kernel> {
 public:
  template <class T>
  using Input = Halide::GeneratorInput<T>;
  template <class T>
  using Output = Halide::GeneratorOutput<T>;

  Halide::GeneratorParam<bool> rows{"rows", false};

 protected:
  using IndexVector = std::vector<Expr>;
  using Body = std::function<Expr(const IndexVector&)>;
  using Operand = Input<Buffer<float, 3>>;
  static constexpr int lanes = 16;
  const Var x{"x"}, outer{"outer"}, lane{"lane"}, block{"block"};

  Expr sum(const Body& body, Operand& data) {
    return reduced(body, data, 0.0F, [](const Expr& a, const Expr& b) { return a + b; });
  }
  Expr prod(const Body& body, Operand& data) {
    return reduced(body, data, 1.0F, [](const Expr& a, const Expr& b) { return a * b; });
  }
  // NaN propagates; the maximum of no elements is the identity, -infinity.
  Expr max(const Body& body, Operand& data) {
    return reduced(
        body, data, -std::numeric_limits<float>::infinity(),
        [](const Expr& a, const Expr& b) { return select(a < b || prim::is_nan(b), b, a); });
  }
  Expr min(const Body& body, Operand& data) {
    return reduced(
        body, data, std::numeric_limits<float>::infinity(),
        [](const Expr& a, const Expr& b) { return select(b < a || prim::is_nan(b), b, a); });
  }

  void plan(Halide::Func out, const std::vector<Operand*>& inputs) {
    for (Operand* input : inputs) input->dim(0).set_stride(Expr());
    if (this->get_target().has_gpu_feature()) return plan_on_device(out);
    if (rows) return plan_rows(out, inputs);
    Expr dense = Halide::Internal::const_true();
    for (Operand* input : inputs) dense = dense && input->dim(0).stride() == 1;
    out.vectorize(x, lanes, Halide::TailStrategy::GuardWithIf);
    out.specialize(dense);
    partial_.compute_at(out, x).vectorize(x, lanes, Halide::TailStrategy::GuardWithIf);
    partial_.update().vectorize(x, lanes, Halide::TailStrategy::GuardWithIf);
  }

 private:
  using Join = std::function<Expr(const Expr&, const Expr&)>;

  Expr reduced(const Body& body, Operand& data, float identity, const Join& join) {
    const Expr extent = data.dim(1).extent();
    if (!rows) {
      const Halide::RDom r(0, extent, "r");
      partial_(x, outer) = identity;
      partial_(x, outer) = join(partial_(x, outer), body({x, r, outer}));
      return partial_(x, outer);
    }
    const Halide::RDom whole(0, extent / lanes, "whole"), rest(0, extent % lanes, "rest");
    partial_(lane, outer) = identity;
    partial_(lane, outer) = join(partial_(lane, outer), body({0, whole * lanes + lane, outer}));
    partial_(rest, outer) =
        join(partial_(rest, outer), body({0, extent / lanes * lanes + rest, outer}));
    std::vector<Expr> left;
    for (int k = 0; k < lanes; ++k) left.push_back(partial_(k, outer));
    for (int half = lanes / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k)
        left[static_cast<std::size_t>(k)] =
            join(left[static_cast<std::size_t>(k)], left[static_cast<std::size_t>(k + half)]);
    }
    return left[0];
  }

  // One thread per element; each reduces in order.
  void plan_on_device(Halide::Func out) {
    const Var xo("xo"), xi("xi"), yo("yo"), yi("yi");
    out.gpu_tile(x, outer, xo, yo, xi, yi, 16, 8, Halide::TailStrategy::GuardWithIf);
    out.never_partition_all();
    partial_.compute_at(out, xi);
  }

  void plan_rows(Halide::Func out, const std::vector<Operand*>& inputs) {
    Expr dense = Halide::Internal::const_true();
    for (Operand* input : inputs) dense = dense && input->dim(1).stride() == 1;
    partial_.compute_at(out, outer).bound_extent(lane, lanes).vectorize(lane);
    partial_.update(0).vectorize(lane);
    partial_.update(1).unscheduled();  // at most fifteen elements a row
    out.specialize(dense);
  }

  Halide::Func partial_{"partial"};
};

}  // namespace touchstone::optimized::generators
