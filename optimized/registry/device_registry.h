// Registry of operator versions that have device kernels. codegen/emit_halide.py generates the
// table, one row per version.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "backends/device.h"
#include "optimized/registry/registry.h"

namespace touchstone::optimized {

struct DeviceEntry {
  const Signature* signature;
  Form form;
  std::string_view kernel;  // "Clip_11": versions with equal element definitions share one
  bool (*run)(Call& call, const KernelUse& use);
  // One bit per input, set if the kernel reads its elements; the caller reads all others.
  std::uint32_t read;
  backends::CompiledKernel opencl;
  std::array<backends::CompiledKernel, all_isas.size()> cpu;  // null: none for that instruction set
};

const DeviceEntry* find_for_devices(const Signature& signature);  // null: no device runs it

// Returns null if the entry has no kernel for this kind of device.
backends::CompiledKernel kernel_for(const DeviceEntry& entry, backends::DeviceKind kind);

// Records the kernel call without running it; see record_fast.
bool record_for_device(const DeviceEntry& entry, Call& call, RecordedCall& record);

}  // namespace touchstone::optimized
