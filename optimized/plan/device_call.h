// Maps a node to one device kernel: which kernel, its scalar arguments and the strides of its
// operands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/device.h"
#include "optimized/plan/analyzed_graph.h"
#include "optimized/registry/device_registry.h"

namespace touchstone::optimized {

struct DeviceCall {
  backends::CompiledKernel kernel = nullptr;
  CallValues values;
  std::vector<Index> reads;                             // of each operand; no_value if omitted
  std::vector<std::vector<backends::DeviceAxis>> axes;  // of the operands, then of the output
};

// Returns the reason why a device of this kind cannot run the node; "" if it can.
std::string why_not_on_device(const AnalyzedGraph& graph, Index node, backends::DeviceKind kind);

// Splits the inputs of a node that a device runs: those whose elements the kernel reads there, and
// those evaluated on the host first (numbers, axes). Each value is listed once.
struct DeviceInputs {
  std::vector<Index> on_device, on_host;
};
DeviceInputs inputs_on_device(const AnalyzedGraph& graph, Index node);

// `on_host` returns the values evaluated on the host. Throws like the reference kernel for a
// violated rule, and Error (unsupported) if the operands' layout does not fit the kernel.
DeviceCall device_call(const AnalyzedGraph& graph, Index node, backends::DeviceKind kind,
                       const std::function<Value(Index)>& on_host);

}  // namespace touchstone::optimized
