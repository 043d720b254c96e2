// Which operator versions have fast kernels. The table is generated (codegen/emit_halide.py), a row
// an operator version.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "model/schema.h"
#include "optimized/kernels/kernel.h"
#include "optimized/registry/isa.h"
#include "reference/call.h"

namespace touchstone {

enum class Form { elementwise, reduce };

struct KernelPair {
  CompiledKernel usual = nullptr;  // of a reduction: along `inner`
  CompiledKernel rows = nullptr;   // of a reduction whose `inner` is 1
};
using KernelTable = std::array<KernelPair, all_isas.size()>;

struct FastEntry {
  const Signature* signature;
  Form form;
  std::string_view kernel;  // "Clip_11": versions with equal element definitions share one
  const KernelTable* kernels;
  bool (*run)(Call& call, const KernelTable& kernels, Isa isa);
};

const FastEntry* find_fast(const Signature& signature);  // null: the reference kernel runs
const std::vector<FastEntry>& fast_entries();

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

}  // namespace touchstone
