// Which operator versions have fast kernels. The table is generated (codegen/emit_halide.py), a row
// an operator version.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "model/schema.h"
#include "optimized/canonical/operand.h"
#include "optimized/registry/isa.h"
#include "optimized/registry/kernel_call.h"
#include "reference/call.h"

namespace touchstone {

enum class Form { elementwise, reduce, contract };

struct KernelPair {
  CompiledKernel usual = nullptr;   // of a reduction: along `inner`
  CompiledKernel rows = nullptr;    // of a reduction whose `inner` is 1
  CompiledKernel joined = nullptr;  // as the usual one, a product and its sum in one instruction
};
using KernelTable = std::array<KernelPair, all_isas.size()>;

// What an elementwise kernel would be called with: a plan calls it itself, and on other layouts of
// the same elements. It is the joined one where there is one: what stands before it in a plan joins
// products and sums as well.
struct RecordedCall {
  CompiledKernel kernel = nullptr;
  std::vector<Operand> inputs;  // in the order of the kernel's arguments
  CallValues values;
  Shape made, reduced;  // the inputs' strides are by these, the second ones last
};

struct KernelUse {
  const KernelTable& kernels;
  Isa isa;
  RecordedCall* record = nullptr;  // given: nothing is computed, and this is filled
};

struct FastEntry {
  const Signature* signature;
  Form form;
  std::string_view kernel;  // "Clip_11": versions with equal element definitions share one
  const KernelTable* kernels;
  bool (*run)(Call& call, const KernelUse& use);
  // Whether each operand is read where the output is written, or where broadcasting lays it: on the
  // last dimensions, repeated where its size is 1. A plan lays no other over elements.
  bool broadcasts;
};

const FastEntry* find_fast(const Signature& signature);  // null: the reference kernel runs
const std::vector<FastEntry>& fast_entries();

// What a kernel by hand, or the plan itself, makes of an operator version: the key `fast` of its
// entry (spec/README.md).
enum class Role {
  none,
  convolution,
  max_pool,
  average_pool,
  global_average,
  global_max,
  rectify,         // max(x, 0)
  clamp,           // between the attributes or inputs min and max
  sum,             // of two
  times,           // of two
  sigmoid,         // 1 / (1 + exp(-x))
  swish,           // x times the sigmoid of alpha x
  product,         // alpha op(A) op(B) + beta C
  matrix_product,  // of stacks of matrices
  join,            // along the attribute axis
  same_elements,   // the input's, in the same order, in another shape
  transposed_convolution,
  permutation,  // of the dimensions
  dimensions,   // each is read by itself, as its size says: of the input's elements, or what fills;
                // one that keeps its size is read in order if it is where the size is 3
  quotient,     // of two
  nearest_whole,  // number, of halves the even one
};
Role role_of(const Signature& signature);

// Versions of these forms that have no fast kernel, and why.
struct Unfit {
  std::string_view version;
  std::string_view reason;
};
const std::vector<Unfit>& unfit_for_fast();

// Fills the call's outputs. False, and nothing is touched, where the call's element types are not
// the kernel's (float). Throws what the reference kernel throws for a broken rule, and Error
// (internal) where a kernel fails.
bool run_fast(const FastEntry& entry, Call& call, Isa isa = chosen_isa());

// Of an elementwise entry: what run_fast would call its kernel with. Of the call's inputs it takes
// only type, shape and where they stand.
bool record_fast(const FastEntry& entry, Call& call, RecordedCall& record, Isa isa = chosen_isa());

}  // namespace touchstone
