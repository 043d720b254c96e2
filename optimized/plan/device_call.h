// A node brought to one kernel of a device: which, and how it sees its operands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/device.h"
#include "optimized/plan/outline.h"
#include "optimized/registry/device_registry.h"

namespace touchstone {

struct DeviceCall {
  CompiledKernel kernel = nullptr;
  CallValues values;
  std::vector<Index> reads;                   // a value an operand; nobody: it is left out
  std::vector<std::vector<DeviceAxis>> axes;  // of the operands, then of the output
};

// Why a device of this kind does not run the node, "" if it does.
std::string why_not_on_device(const Outline& outline, Index node, DeviceKind kind);

// The node's inputs whose elements its kernel reads where they stand, and those that are looked at
// before: numbers, axes. Each value once. For a node that a device runs.
struct DeviceInputs {
  std::vector<Index> on_device, on_host;
};
DeviceInputs inputs_on_device(const Outline& outline, Index node);

// `on_host` gives those values. Throws what the reference kernel throws for a broken rule, and
// Error (unsupported) where the operands do not lie as the kernel wants them.
DeviceCall device_call(const Outline& outline, Index node, DeviceKind kind,
                       const std::function<Value(Index)>& on_host);

}  // namespace touchstone
