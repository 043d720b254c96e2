// Schedule of elementwise kernels. The canonical problem has four collapsed dimensions, innermost
// first, with any strides for inputs (0 if broadcast). They are memory-bound: only contiguous
// loads, broadcast loads and the absence of a scalar tail matter.
//
// Every kernel is compiled with strict_float: definitions depend on NaN (choices by comparison),
// infinities and -0, which Halide otherwise assumes absent. In the `_fma` versions, which are not,
// the entry's own operations are strict one by one: a factor more may overflow in another order.
#pragma once

#include <Halide.h>

#include <vector>

#include "optimized/math/primitives.h"

namespace touchstone::optimized::generators {

using Halide::Buffer;
using Halide::Expr;
using Halide::select;
using Halide::Var;
using single::strict_difference;
using single::strict_product;
using single::strict_quotient;
using single::strict_sum;

// Flips the sign bit. Halide's unary minus is 0 - x, which loses the sign of zero.
inline Expr negative(const Expr& x) {
  return single::of_bits(single::bits(x) ^ Expr(uint32_t{0x80000000}));
}

// Returns a constant of the entry, rounded to the element type as in the reference kernel.
inline Expr constant(double value) { return Expr(static_cast<float>(value)); }

template <class Kernel>
class Elementwise : public Halide::Generator<Kernel> {
 public:
  template <class T>
  using Input = Halide::GeneratorInput<T>;
  template <class T>
  using Output = Halide::GeneratorOutput<T>;

 protected:
  const Var x{"x"}, y{"y"}, z{"z"}, w{"w"};
  const std::vector<Var> at{x, y, z, w};

  // `flag`: a choice of two formulas, if defined. Dense rows evaluate the chosen one alone.
  void plan(Halide::Func out, const std::vector<Input<Buffer<float, 4>>*>& inputs,
            const Expr& flag = Expr()) {
    if (this->get_target().has_gpu_feature()) return plan_on_device(out, inputs);
    const int lanes = this->natural_vector_size(Halide::Float(32));
    const auto vectorized = [&](const Expr& condition) {
      out.specialize(condition).vectorize(x, lanes, Halide::TailStrategy::GuardWithIf);
    };
    Expr dense = Halide::Internal::const_true();
    for (Input<Buffer<float, 4>>* input : inputs) {
      input->dim(0).set_stride(Expr());
      dense = dense && input->dim(0).stride() == 1;
    }
    if (flag.defined()) {
      vectorized(dense && flag);
      vectorized(dense && !flag);
    } else {
      vectorized(dense);
    }
    if (inputs.size() == 2) {
      for (int repeated : {0, 1}) {
        const Expr first = inputs[0]->dim(0).stride() == (repeated == 0 ? 0 : 1);
        const Expr second = inputs[1]->dim(0).stride() == (repeated == 1 ? 0 : 1);
        vectorized(first && second);
      }
    }
  }

 private:
  void plan_on_device(Halide::Func out, const std::vector<Input<Buffer<float, 4>>*>& inputs) {
    for (Input<Buffer<float, 4>>* input : inputs) input->dim(0).set_stride(Expr());
    const Var xo("xo"), xi("xi"), yo("yo"), yi("yi"), zw("zw");
    out.fuse(z, w, zw).gpu_tile(x, y, xo, yo, xi, yi, 64, 4, Halide::TailStrategy::GuardWithIf);
    out.gpu_blocks(zw)
        .never_partition_all();  // the code is text, and each part of a loop repeats it
  }
};

}  // namespace touchstone::optimized::generators
