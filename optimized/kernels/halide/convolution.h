// Schedule of convolutions on feature maps in channel blocks: a vector is one block, so nothing
// depends on the image's width. A tile of the output stays in registers over the whole sum. Each
// input value, broadcast to all lanes, is multiplied with the weights of the tile's blocks. The
// loop order matters: blocks innermost, then columns. In the reverse order the compiler keeps all
// inputs in registers and spills.
//
// The window's geometry is expressed by buffer strides alone: kernel size, dilation and rows cost
// nothing at run time. Only the column stride is worth knowing at compile time (it becomes a
// displacement).
//
// Sums may be contracted (FMA), so these kernels are compiled without strict_float. The final
// clamp, which must handle NaN and infinities, requests it explicitly.
#pragma once

#include <Halide.h>

#include <vector>

namespace touchstone::optimized::generators {

using Halide::Buffer;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

template <class Kernel>
class Tiled : public Halide::Generator<Kernel> {
 public:
  template <class T>
  using Input = Halide::GeneratorInput<T>;
  template <class T>
  using Output = Halide::GeneratorOutput<T>;

  Halide::GeneratorParam<int> lanes{"lanes", 16};
  Halide::GeneratorParam<int> step{"step", 1};
  Halide::GeneratorParam<int> blocks{"blocks", 2};
  Halide::GeneratorParam<int> columns{"columns", 14};
  Halide::GeneratorParam<int> rows{"rows", 1};
  Input<float> min{"min"};
  Input<float> max{"max"};

 protected:
  const Var o{"o"}, x{"x"}, y{"y"}, b{"b"};
  Func sum{"sum"};

  // Clamps by comparison, so that NaN stays.
  Expr clamped(const Expr& value) {
    const Expr raised = Halide::strict_float(Halide::select(min > value, min, value));
    return Halide::strict_float(Halide::select(max < raised, max, raised));
  }
  // All buffers start at 0: callers pass a pointer to the first element read.
  template <class Any>
  static void from_zero(Any& buffer) {
    for (int k = 0; k < buffer.dimensions(); ++k) buffer.dim(k).set_min(0);
  }
  // Fixes the stride of `dim`, by which a column of the output advances in the input, if it is
  // known at compile time.
  template <class Dim>
  void step_of(Dim dim, int unit) {
    if (step > 0) {
      dim.set_stride(step * unit);
    }
  }
  template <class Any>
  void dense_columns(Any& out) {
    out.dim(0).set_bounds(0, lanes);
    out.dim(1).set_stride(lanes);
  }

  // `together`: a tile holds all blocks of the output; otherwise the outermost loop iterates over
  // them.
  void tile(Func out, bool together) {
    const Var xo("xo"), xi("xi"), yo("yo"), yi("yi");
    out.split(x, xo, xi, columns, Halide::TailStrategy::RoundUp)
        .split(y, yo, yi, rows, Halide::TailStrategy::RoundUp)
        .reorder(o, xi, yi, xo, yo, b)
        .vectorize(o, lanes)
        .unroll(xi)
        .unroll(yi);
    if (together) out.reorder(o, b, xi, yi, xo, yo).unroll(b);
    sum.compute_at(out, xo).bound_extent(x, columns).bound_extent(y, rows);
    sum.bound_extent(o, lanes).bound_extent(b, blocks).reorder(o, b, x, y);
    sum.vectorize(o).unroll(b).unroll(x).unroll(y);
  }
  // Schedules an update of the sum; its reduction keeps the declared order, innermost first.
  Halide::Stage update(int stage) {
    std::vector<Halide::VarOrRVar> order{o, b, x, y};
    for (const Halide::RVar& k : sum.rvars(stage)) order.emplace_back(k);
    return sum.update(stage).reorder(order).vectorize(o).unroll(b).unroll(x).unroll(y);
  }
};

}  // namespace touchstone::optimized::generators
