// Schedule of the matmul: A by rows, B in panels of two vectors (kernels/gemm.h defines the
// layout). A tile of sums stays in registers while k runs. Each iteration loads a row of the panel
// and one number of each row of A. The loop over k is not unrolled: one iteration holds enough
// work. If unrolled, the compiler loads all numbers of A first, for which there are no registers.
//
// Not strict_float (`_fma` in the names, see generate.cc), so that a product and its sum contract
// to one instruction. Only the clamp is strict, since NaN must pass through it.
#pragma once

#include <Halide.h>

#include "optimized/kernels/halide/prefetch.h"
#include "optimized/kernels/tiles.h"

namespace touchstone::optimized::generators {

// Clamps v; NaN stays. Each select is one x86 instruction.
inline Halide::Expr clamped(const Halide::Expr& v, const Halide::Expr& min,
                            const Halide::Expr& max) {
  const Halide::Expr raised = Halide::strict_float(Halide::select(min > v, min, v));
  return Halide::strict_float(Halide::select(max < raised, max, raised));
}

struct Gemm : Halide::Generator<Gemm> {
  GeneratorParam<int> rows{"rows", 1};
  GeneratorParam<bool> wide{"wide", false};  // as many panels as fit into registers, or one
  // Rows of A are gemm_row_stride apart, and the kernel prefetches.
  GeneratorParam<bool> prefetch{"prefetch", false};
  Input<std::uint64_t> prefetch_address{"prefetch_address"};  // see prefetch.h
  Input<int> prefetch_rate{"prefetch_rate"};
  Input<Buffer<float, 2>> a{"a"};        // k, m
  Input<Buffer<float, 3>> b{"b"};        // column of a panel, k, panel
  Input<Buffer<float, 2>> bias{"bias"};  // column of a panel, panel
  Input<Buffer<float, 2>> residual{"residual"};
  Input<bool> add_residual{"add_residual"};
  Input<float> min{"min"}, max{"max"};
  Output<Buffer<float, 2>> c{"c"};

  void generate() {
    const Halide::RDom k(0, a.dim(0).extent(), "k");
    sum_(n, m) = bias(n % panel(), n / panel());
    sum_(n, m) += a(k, m) * b(n % panel(), k, n / panel());
    c(n, m) =
        clamped(Halide::select(add_residual, sum_(n, m) + residual(n, m), sum_(n, m)), min, max);
    k_ = k;
  }

  void schedule() {
    const int width = tile_panels() * panel(), height = rows;
    a.dim(0).set_min(0);
    a.dim(1).set_min(0);
    if (prefetch) a.dim(1).set_stride(gemm_row_stride);
    b.dim(0).set_bounds(0, panel()).set_stride(1);
    b.dim(1).set_min(0).set_stride(panel());
    b.dim(2).set_min(0);
    bias.dim(0).set_bounds(0, panel()).set_stride(1);
    bias.dim(1).set_min(0);
    c.dim(0).set_min(0);
    c.dim(1).set_min(0);
    const Halide::Expr whole = c.dim(0).extent() % width == 0;
    c.split(n, no, ni, width, Halide::TailStrategy::GuardWithIf)
        .split(m, mo, mi, height, Halide::TailStrategy::RoundUp)
        .reorder(ni, mi, mo, no)
        .vectorize(ni, lanes(), Halide::TailStrategy::RoundUp)
        .unroll(ni)
        .unroll(mi);
    sum_.compute_at(c, mo).bound_extent(n, width).bound_extent(m, height).vectorize(n, lanes());
    sum_.unroll(n).unroll(m);
    sum_.update().reorder(n, m, k_).vectorize(n, lanes()).unroll(n).unroll(m);
    c.specialize(whole && !add_residual);
    c.specialize(whole && add_residual);
    c.specialize(!add_residual);
    c.specialize(add_residual);
    c.specialize_fail("a residual is added or it is not");
  }

  Halide::Pipeline build_pipeline() override {
    Halide::Pipeline pipeline = Halide::Generator<Gemm>::build_pipeline();
    if (prefetch)
      pipeline.add_custom_lowering_pass(new PrefetchOfGemm(rows, gemm_row_stride, panel()));
    return pipeline;
  }

 private:
  const Halide::Var n{"n"}, m{"m"}, no{"no"}, ni{"ni"}, mo{"mo"}, mi{"mi"};
  Halide::Func sum_{"sum"};
  Halide::RDom k_;

  int lanes() const { return natural_vector_size(Halide::Float(32)); }
  int panel() const { return panel_vectors * lanes(); }
  int tile_panels() const {
    const int registers = get_target().has_feature(Halide::Target::AVX512_Skylake) ? 32 : 16;
    return wide ? max_gemm_tile_panels(registers, rows) : 1;
  }
};

}  // namespace touchstone::optimized::generators
