// Schedule of contractions on devices: sums of products over one index, for outputs of up to three
// dimensions. Operands have four dimensions, innermost first: the summed one, then the output's; a
// stride is 0 if the operand is broadcast. Operands outside of the sum have the same dimensions.
//
// On processors, handwritten kernels compute contractions (kernels/halide/gemm.h).
#pragma once

#include <Halide.h>

#include <functional>
#include <vector>

#include "optimized/kernels/halide/elementwise.h"

namespace touchstone::optimized::generators {

template <class Kernel>
class Contract : public Halide::Generator<Kernel> {
 public:
  template <class T>
  using Input = Halide::GeneratorInput<T>;
  template <class T>
  using Output = Halide::GeneratorOutput<T>;

 protected:
  using IndexVector = std::vector<Expr>;
  using Operand = Input<Buffer<float, 4>>;
  const Var x{"x"}, y{"y"}, z{"z"};
  const IndexVector at{0, x, y, z};

  Expr sum(const std::function<Expr(const IndexVector&)>& body, Operand& data) {
    const Halide::RDom r(0, data.dim(0).extent(), "r");
    partial_(x, y, z) = 0.0F;
    partial_(x, y, z) += body({r, x, y, z});
    return partial_(x, y, z);
  }

  void plan(Halide::Func out, const std::vector<Operand*>& inputs) {
    for (Operand* input : inputs) input->dim(0).set_stride(Expr());
    const Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
    out.gpu_tile(x, y, xo, yo, xi, yi, 16, 8, Halide::TailStrategy::GuardWithIf).gpu_blocks(z);
    out.never_partition_all();
    partial_.compute_at(out, xi);
  }

 private:
  Halide::Func partial_{"partial"};
};

}  // namespace touchstone::optimized::generators
