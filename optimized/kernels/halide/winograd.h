// Schedules of Winograd's transforms for a 3x3 convolution of stride 1. A tile of (m + 2) x (m + 2)
// input points gives m x m output points. It takes (m + 2)^2 products instead of 9 m^2. Both
// transforms are sums of a few numbers along the rows of a tile, then along its columns; a vector
// is a channel block.
//
// Each step unrolls the direction that it sums along and loops over the other. With both unrolled,
// as many addresses as products would be live, exceed the registers, and cost more than the sums.
//
// A tile that crosses the edge reads the last row or column again; the points computed from those
// reads are not stored.
#pragma once

#include <array>

#include "optimized/kernels/halide/convolution.h"

namespace touchstone::optimized::generators {

// B' d, for the tile's values along one direction: the points are 0, 1, -1, (2, -2) and infinity.
inline std::vector<Expr> into_products(const std::vector<Expr>& d) {
  if (d.size() == 4) return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]};
  const Expr even = d[4] - 4.0F * d[2], odd = d[3] - 4.0F * d[1];
  const Expr even2 = d[4] - d[2], odd2 = 2.0F * (d[3] - d[1]);
  return {4.0F * d[0] - 5.0F * d[2] + d[4], even + odd, even - odd, even2 + odd2, even2 - odd2,
          4.0F * d[1] - 5.0F * d[3] + d[5]};
}

// A' m.
inline std::vector<Expr> out_of_products(const std::vector<Expr>& m) {
  const Expr sum = m[1] + m[2], difference = m[1] - m[2];
  if (m.size() == 4) return {m[0] + sum, difference - m[3]};
  const Expr sum2 = m[3] + m[4], difference2 = m[3] - m[4];
  return {m[0] + sum + sum2, difference + 2.0F * difference2, sum + 4.0F * sum2,
          difference + 8.0F * difference2 + m[5]};
}

class WinogradInput : public Halide::Generator<WinogradInput> {
 public:
  Halide::GeneratorParam<int> lanes{"lanes", 16};
  Halide::GeneratorParam<int> points{"points", 4};  // of the output, along one direction

  Input<Buffer<float, 4>> input{"input"};     // lane, column, row, block
  Output<Buffer<float, 6>> output{"output"};  // lane, j, i, tile's column, tile's row, block

  void generate() {
    const int size = points + 2;
    const auto value = [&](int row, const Expr& column) {
      return input(o, Halide::min(column, input.dim(1).extent() - 1),
                   Halide::min(y * points + row, input.dim(2).extent() - 1), b);
    };
    std::vector<Expr> down;
    for (int row = 0; row < size; ++row) down.push_back(value(row, x * points + j));
    half(o, j, i, x, y, b) = Halide::mux(i, into_products(down));
    std::vector<Expr> across;
    for (int column = 0; column < size; ++column) across.push_back(half(o, column, i, x, y, b));
    output(o, j, i, x, y, b) = Halide::mux(j, into_products(across));
  }

  void schedule() {
    const int size = points + 2;
    for (int k = 0; k < 4; ++k) input.dim(k).set_min(0);
    for (int k = 0; k < 6; ++k) output.dim(k).set_min(0);
    input.dim(0).set_bounds(0, lanes);
    input.dim(1).set_stride(lanes);
    output.dim(0).set_bounds(0, lanes);
    output.dim(1).set_bounds(0, size);
    output.dim(2).set_bounds(0, size);
    output.dim(3).set_stride(lanes);
    Func(output).reorder(o, j, i, x, y, b).vectorize(o).unroll(j);
    half.compute_at(output, x).bound_extent(j, size).bound_extent(i, size);
    half.reorder(o, i, j).vectorize(o).unroll(i);
  }

 private:
  const Var o{"o"}, j{"j"}, i{"i"}, x{"x"}, y{"y"}, b{"b"};
  Func half{"half"};
};

class WinogradOutput : public Tiled<WinogradOutput> {
 public:
  Halide::GeneratorParam<int> points{"points", 4};

  Input<Buffer<float, 6>> input{"input"};  // lane, j, i, tile's column, tile's row, block
  Input<Buffer<float, 2>> bias{"bias"};    // lane, block
  Input<Buffer<float, 4>> residual{"residual"};
  Output<Buffer<float, 4>> output{"output"};  // lane, column, row, block

  void generate() {
    const int size = points + 2;
    std::vector<Expr> down;
    for (int row = 0; row < size; ++row) down.push_back(input(o, j, row, tx, ty, b));
    half(o, j, i, tx, ty, b) = Halide::mux(i, out_of_products(down));
    std::vector<Expr> across;
    for (int column = 0; column < size; ++column) {
      across.push_back(half(o, column, y % points, x / points, y / points, b));
    }
    output(o, x, y, b) = clamped(Halide::mux(x % points, out_of_products(across)) + bias(o, b) +
                                 residual(o, x, y, b));
  }

  void schedule() {
    const int size = points + 2;
    from_zero(input);
    from_zero(bias);
    from_zero(residual);
    from_zero(output);
    dense_columns(output);
    input.dim(3).set_stride(lanes);
    const Var xo("xo"), xi("xi"), yo("yo"), yi("yi");
    Func(output)
        .split(x, xo, xi, points, Halide::TailStrategy::GuardWithIf)
        .split(y, yo, yi, points, Halide::TailStrategy::GuardWithIf)
        .reorder(o, xi, yi, xo, yo, b)
        .vectorize(o)
        .unroll(xi);
    // One tile. Halide cannot infer that at the edges and would allocate on the heap.
    half.compute_at(output, xo).bound_extent(j, size).bound_extent(i, points);
    half.bound_extent(tx, 1).bound_extent(ty, 1);
    half.reorder(o, i, j).vectorize(o).unroll(i);
  }

 private:
  const Var j{"j"}, i{"i"}, tx{"tx"}, ty{"ty"};
  Func half{"half"};
};

}  // namespace touchstone::optimized::generators
