// Registry of operator versions that have fast kernels. codegen/emit_halide.py generates the table,
// one row per version.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "model/schema.h"
#include "optimized/problems/operand.h"
#include "optimized/registry/isa.h"
#include "optimized/registry/kernel_call.h"
#include "reference/call.h"

namespace touchstone::optimized {

enum class Form { elementwise, reduce, contract };

struct KernelPair {
  backends::CompiledKernel usual = nullptr;   // of a reduction: along `inner`
  backends::CompiledKernel rows = nullptr;    // of a reduction whose `inner` is 1
  backends::CompiledKernel joined = nullptr;  // like `usual`, with contraction (FMA)
};
using KernelTable = std::array<KernelPair, all_isas.size()>;

// Arguments that an elementwise kernel would receive. A plan then calls the kernel itself, also on
// other layouts of the same elements. Takes the contracted kernel if there is one, since the
// kernels before it in a plan contract too.
struct RecordedCall {
  backends::CompiledKernel kernel = nullptr;
  std::vector<Operand> inputs;  // in the order of the kernel's arguments
  CallValues values;
  Shape made, reduced;  // the inputs' strides are for these dimensions, `reduced` last
};

struct KernelUse {
  const KernelTable& kernels;
  Isa isa;
  RecordedCall* record = nullptr;  // not null: records the call and computes nothing
};

struct FastEntry {
  const Signature* signature;
  Form form;
  std::string_view kernel;  // "Clip_11": versions with equal element definitions share one
  const KernelTable* kernels;
  bool (*run)(Call& call, const KernelUse& use);
  // True if each operand is read at the output's own index or broadcast to it: aligned to the last
  // dimensions, repeated where its size is 1. A plan fuses no other entry into loops over elements.
  bool broadcasts;
};

const FastEntry* find_fast(const Signature& signature);  // null: the reference kernel runs
const std::vector<FastEntry>& fast_entries();

// Handwritten kernel, or plan rewrite, for an operator version: the key `fast` of its entry
// (spec/reference.md).
enum class OperatorKind {
  none,
  convolution,
  max_pool,
  average_pool,
  global_average,
  global_max,
  relu,     // max(x, 0)
  clip,     // between the attributes or inputs min and max
  add,      // of two operands
  mul,      // of two operands
  sigmoid,  // 1 / (1 + exp(-x))
  swish,    // x times the sigmoid of alpha x
  gemm,     // alpha op(A) op(B) + beta C
  matmul,   // of stacks of matrices
  concat,   // along the attribute axis
  reshape,  // the input's elements in the same order, in another shape
  transposed_convolution,
  transpose,  // of the dimensions
  // each output dimension maps to an input dimension alone, or is filled; if an unchanged dimension
  // is read in order at size 3, it is at every size
  per_dimension,
  div,    // of two operands
  round,  // ties round to even
};
OperatorKind operator_kind(const Signature& signature);

// Versions of these operator families without a fast kernel, and the reasons.
struct Unfit {
  std::string_view version;
  std::string_view reason;
};
const std::vector<Unfit>& unfit_for_fast();

// Fills the call's outputs. Returns false, without side effects, if the call's element types are
// not those of the kernel (float32). Throws like the reference kernel for a violated rule, and
// Error (internal) if a kernel fails.
bool run_fast(const FastEntry& entry, Call& call, Isa isa = chosen_isa());

// Records the kernel call of an elementwise entry instead of running it. Reads only the type, shape
// and address of the inputs.
bool record_fast(const FastEntry& entry, Call& call, RecordedCall& record, Isa isa = chosen_isa());

}  // namespace touchstone::optimized
