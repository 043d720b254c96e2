// Schedule of pooling over feature maps in channel blocks. Vectors run over a block's channels, so
// every stride and dilation of the window is equally fast. The caller splits the image into regions
// whose windows have equally many elements inside (kernels/pool.cc), so nothing is clamped here.
// Buffer strides locate the elements of a window.
#pragma once

#include <Halide.h>

#include <limits>

namespace touchstone::optimized::generators {

template <class Kernel>
struct BlockKernel : Halide::Generator<Kernel> {
  template <class T>
  using Input = Halide::GeneratorInput<T>;
  template <class T>
  using Output = Halide::GeneratorOutput<T>;
  using Expr = Halide::Expr;

 protected:
  const Halide::Var lane{"lane"}, x{"x"}, y{"y"}, block{"block"};
  int lanes() const {
    return this->get_target().has_feature(Halide::Target::AVX512_Skylake) ? 16 : 8;
  }
  template <class Buffer>
  void whole_blocks(Buffer& buffer) {
    buffer.dim(0).set_bounds(0, lanes()).set_stride(1);
    for (int k = 1; k < buffer.dimensions(); ++k) buffer.dim(k).set_min(0);
  }
};

struct PoolWindow : BlockKernel<PoolWindow> {
  Halide::GeneratorParam<bool> largest{"largest", false};
  Input<Halide::Buffer<float, 6>> data{"data"};  // lane, column of the window, x, its row, y, block
  Input<float> counted{"counted"};               // divisor of the sum
  Output<Halide::Buffer<float, 4>> result{"result"};

  void generate() {
    const Halide::RDom r(0, data.dim(1).extent(), 0, data.dim(3).extent(), "r");
    const Expr element = data(lane, r.x, x, r.y, y, block);
    if (largest) {  // NaN propagates
      taken_(lane, x, y, block) = -std::numeric_limits<float>::infinity();
      const Expr max = taken_(lane, x, y, block);
      taken_(lane, x, y, block) =
          Halide::select(max < element || Halide::is_nan(element), element, max);
      result(lane, x, y, block) = taken_(lane, x, y, block);
    } else {
      taken_(lane, x, y, block) = 0.0F;
      taken_(lane, x, y, block) += element;
      result(lane, x, y, block) = taken_(lane, x, y, block) / counted;
    }
  }

  void schedule() {
    whole_blocks(data);
    whole_blocks(result);
    result.vectorize(lane);
    taken_.compute_at(result, x).vectorize(lane);
    taken_.update().vectorize(lane);
    result.specialize(data.dim(1).extent() == 3 && data.dim(3).extent() == 3);
    result.specialize(data.dim(1).extent() == 2 && data.dim(3).extent() == 2);
  }

 private:
  Halide::Func taken_{"taken"};
};

// Mean of a whole image: eight partial sums per row, and eight over rows, each joined as a tree,
// which shortens the dependency chains.
struct PoolWhole : BlockKernel<PoolWhole> {
  Input<Halide::Buffer<float, 4>> data{"data"};  // lane, x, y, block
  Input<float> counted{"counted"};
  Output<Halide::Buffer<float, 2>> result{"result"};  // lane, block

  void generate() {
    const Expr columns = data.dim(1).extent(), rows = data.dim(2).extent();
    const Halide::RDom part(0, columns / ways, "part"), rest(0, columns % ways, "rest");
    along_(lane, way, y, block) = 0.0F;
    along_(lane, way, y, block) += data(lane, part * ways + way, y, block);
    along_(lane, rest, y, block) += data(lane, columns / ways * ways + rest, y, block);
    const Halide::RDom row(0, rows, "row");
    down_(lane, way, block) = 0.0F;
    down_(lane, row % ways, block) += joined([&](int k) { return along_(lane, k, row, block); });
    result(lane, block) = joined([&](int k) { return down_(lane, k, block); }) / counted;
    row_ = row;
  }

  void schedule() {
    whole_blocks(data);
    whole_blocks(result);
    result.vectorize(lane);
    down_.compute_at(result, block).bound_extent(way, ways).vectorize(lane);
    down_.update().vectorize(lane);
    along_.compute_at(down_, row_).bound_extent(way, ways).vectorize(lane).unroll(way);
    along_.update(0).reorder(lane, way).vectorize(lane).unroll(way);
    along_.update(1).vectorize(lane);
  }

 private:
  static constexpr int ways = 8;
  const Halide::Var way{"way"};
  Halide::Func along_{"along"}, down_{"down"};
  Halide::RDom row_;

  template <class F>
  static Expr joined(F term) {
    std::vector<Expr> left;
    for (int k = 0; k < ways; ++k) left.push_back(term(k));
    for (std::size_t half = ways / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) left[k] = left[k] + left[k + half];
    }
    return left[0];
  }
};

}  // namespace touchstone::optimized::generators
