// Halide generators of all convolution kernels.
#include "optimized/kernels/convolution_tiles.h"
#include "optimized/kernels/halide/generate.h"
#include "optimized/kernels/halide/prefetch.h"
#include "optimized/kernels/halide/winograd.h"

namespace touchstone::optimized::generators {

namespace {

// The sum covers full channel blocks, then `rest`: the channels of a partial last block, so that
// unused lanes are never read. A plain input consists of `rest` only; its three dimensions are the
// kernel's columns and rows, and the channels.
class Convolution : public Tiled<Convolution> {
 public:
  Halide::GeneratorParam<bool> plain{"plain", false};
  Halide::GeneratorParam<bool> prefetch{"prefetch", false};

  Input<std::uint64_t> prefetch_address{
      "prefetch_address"};    // address of weights to prefetch: kernels/halide/prefetch.h
  Input<int> share{"share"};  // floats to prefetch per tile
  Input<int> prefetch_rate{"prefetch_rate"};  // floats to prefetch per own weight, in 1/65536
  Input<Buffer<float, 6>> input{"input"};     // lane, kernel column, kernel row, block, column, row
  Input<Buffer<float, 5>> weights{"weights"};  // lane of the output, then as the input
  Input<Buffer<float, 5>> rest_input{"rest_input"};
  Input<Buffer<float, 4>> rest_weights{"rest_weights"};
  Input<Buffer<float, 1>> bias{"bias"};
  Input<Buffer<float, 4>> residual{"residual"};
  Output<Buffer<float, 4>> output{"output"};  // lane, column, row, block

  void generate() {
    const RDom k(0, lanes, 0, weights.dim(2).extent(), 0, weights.dim(3).extent(), 0,
                 weights.dim(4).extent(), "k");
    const RDom r(0, rest_weights.dim(1).extent(), 0, rest_weights.dim(2).extent(), 0,
                 rest_weights.dim(3).extent(), "r");
    const Expr lane = o + lanes * b;
    sum(o, x, y, b) = bias(lane);
    if (!plain) {
      sum(o, x, y, b) +=
          input(k[0], k[1], k[2], k[3], x, y) * weights(lane, k[0], k[1], k[2], k[3]);
    }
    sum(o, x, y, b) += rest_input(r[0], r[1], r[2], x, y) * rest_weights(lane, r[0], r[1], r[2]);
    output(o, x, y, b) = clamped(sum(o, x, y, b) + residual(o, x, y, b));
  }

  void schedule() {
    from_zero(input);
    from_zero(weights);
    from_zero(rest_input);
    from_zero(rest_weights);
    from_zero(bias);
    from_zero(residual);
    from_zero(output);
    const int width = lanes, group = width * blocks;
    dense_columns(output);
    output.dim(3).set_bounds(0, blocks);
    step_of(rest_input.dim(3), plain ? 1 : lanes);
    step_of(input.dim(4), lanes);
    weights.dim(0).set_bounds(0, group);
    weights.dim(1).set_bounds(0, lanes).set_stride(group);
    weights.dim(2).set_stride(group * width);
    rest_weights.dim(0).set_bounds(0, group);
    rest_weights.dim(1).set_stride(group);
    if (plain) {
      rest_input.dim(0).set_stride(Expr());
    }
    tile(output, true);
    if (plain) {
      update(0);
    } else {
      update(0).unroll(sum.rvars(0)[0], 4);
      update(1);
    }
  }

  Halide::Pipeline build_pipeline() override {
    Halide::Pipeline pipeline = Tiled<Convolution>::build_pipeline();
    if (prefetch)
      pipeline.add_custom_lowering_pass(
          new PrefetchOfConvolution({lanes, step, blocks, columns, rows}));
    return pipeline;
  }
};

// Depthwise convolutions compute few products per point, so specialized kernels for a known kernel
// size and for no residual pay.
class Depthwise : public Tiled<Depthwise> {
 public:
  // kernel rows and columns; 0: known only at run time
  Halide::GeneratorParam<int> taps{"taps", 0};

  Input<bool> adds{"adds"};                // true if there is a residual
  Input<Buffer<float, 6>> input{"input"};  // lane, kernel column, kernel row, column, row, block
  Input<Buffer<float, 4>> weights{"weights"};  // lane, kernel column, kernel row, block
  Input<Buffer<float, 2>> bias{"bias"};
  Input<Buffer<float, 4>> residual{"residual"};
  Output<Buffer<float, 4>> output{"output"};

  void generate() {
    const Expr across = taps > 0 ? Expr(static_cast<int>(taps)) : weights.dim(1).extent();
    const Expr down = taps > 0 ? Expr(static_cast<int>(taps)) : weights.dim(2).extent();
    const RDom k(0, across, 0, down, "k");
    sum(o, x, y, b) = bias(o, b);
    sum(o, x, y, b) += input(o, k[0], k[1], x, y, b) * weights(o, k[0], k[1], b);
    output(o, x, y, b) =
        clamped(Halide::select(adds, sum(o, x, y, b) + residual(o, x, y, b), sum(o, x, y, b)));
  }

  void schedule() {
    from_zero(input);
    from_zero(weights);
    from_zero(bias);
    from_zero(residual);
    from_zero(output);
    dense_columns(output);
    bias.dim(1).set_stride(lanes);
    step_of(input.dim(3), lanes);
    weights.dim(1).set_stride(lanes);
    tile(output, false);
    Halide::Stage products = update(0);
    if (taps > 0) {
      weights.dim(2).set_stride(static_cast<int>(lanes) * static_cast<int>(taps));
      products.unroll(sum.rvars(0)[0]).unroll(sum.rvars(0)[1]);
    }
    Func(output).specialize(!adds);
    Func(output).specialize(adds);
    Func(output).specialize_fail("there is a residual or there is not");
  }
};

std::vector<WrittenKernel> kernels(const std::string& isa) {
  struct Row {
    std::string isa, kind, step, blocks, columns, rows;
  };
  static const std::vector<Row> table{
#define TOUCHSTONE_ROW(isa, kind, step, blocks, columns, rows) \
  {#isa, #kind, #step, #blocks, #columns, #rows},
      TOUCHSTONE_CONVOLUTION_KERNELS(TOUCHSTONE_ROW)
#undef TOUCHSTONE_ROW
  };
  const std::string lanes = isa == "avx512" ? "16" : "8";
  const std::string tiles = isa == "neon" ? "avx2" : isa;  // 32 registers, half as large
  std::vector<WrittenKernel> out;
  for (const Row& row : table) {
    if (row.isa != tiles) continue;
    WrittenKernel kernel;
    kernel.function = "convolution_" + row.kind + "_" + row.step + "_" + row.blocks + "x" +
                      row.columns + "x" + row.rows;
    const bool depthwise = row.kind.rfind("depthwise", 0) == 0;
    kernel.create = depthwise ? create<Depthwise> : create<Convolution>;
    kernel.params = {{"lanes", lanes},
                     {"step", row.step},
                     {"blocks", row.blocks},
                     {"columns", row.columns},
                     {"rows", row.rows}};
    if (row.kind == "plain") kernel.params["plain"] = "true";
    if (row.kind == "depthwise3") kernel.params["taps"] = "3";
    kernel.prefetch = row.kind == "blocked" && std::stoi(row.columns) * std::stoi(row.rows) >= 6;
    if (kernel.prefetch) kernel.params["prefetch"] = "true";
    out.push_back(kernel);
  }
  if (isa == "sse41") return out;
  for (const std::string points : {"2", "4"}) {
    const Halide::GeneratorParamsMap params{{"lanes", lanes}, {"points", points}};
    out.push_back({"winograd_input_" + points, create<WinogradInput>, params});
    out.push_back({"winograd_output_" + points, create<WinogradOutput>, params});
  }
  return out;
}

const AddKernels add(kernels);

}  // namespace
}  // namespace touchstone::optimized::generators
