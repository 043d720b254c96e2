// Which operator versions have kernels for devices. The table is generated
// (codegen/emit_halide.py), a row an operator version.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "backends/device.h"
#include "optimized/registry/registry.h"

namespace touchstone {

struct DeviceEntry {
  const Signature* signature;
  Form form;
  std::string_view kernel;  // "Clip_11": versions with equal element definitions share one
  bool (*run)(Call& call, const KernelUse& use);
  std::uint32_t read;  // a bit an input: the kernel reads its elements; its caller reads all others
  CompiledKernel opencl;
  std::array<CompiledKernel, all_isas.size()> cpu;  // null: there is none
};

const DeviceEntry* find_for_devices(const Signature& signature);  // null: no device runs it

// Null where there is none for this kind.
CompiledKernel kernel_for(const DeviceEntry& entry, DeviceKind kind);

// What the kernel would be called with, as record_fast.
bool record_for_device(const DeviceEntry& entry, Call& call, RecordedCall& record);

}  // namespace touchstone
