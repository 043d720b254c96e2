// Derives a device kernel's arguments. The entry's adapter records its operands on placeholder
// addresses, and their strides are collapsed to the dimensions that kernels of the operator family
// have.
#include "optimized/plan/device_call.h"

#include <algorithm>

#include "core/error.h"
#include "core/placement.h"
#include "optimized/problems/collapse.h"
#include "optimized/problems/problem.h"
#include "reference/calls.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

bool reads_on_device(const DeviceEntry& entry, std::size_t input) {
  return input < 32 && ((entry.read >> input) & 1U) != 0;
}

const DeviceEntry* entry_of(const AnalyzedGraph& graph, Index node) {
  const Signature* signature = graph.node(node).node->signature;
  return signature ? find_for_devices(*signature) : nullptr;
}

[[noreturn]] void unfit(const std::string& why) { throw Error(ErrorKind::unsupported, why); }

// Collapses the dimensions and pads them with 1 to `rank`, outermost first. Throws if more remain.
Collapsed brought_to(Index rank, const Shape& extents, const std::vector<IndexVector>& strides,
                     const char* what) {
  const Collapsed collapsed = collapse(extents, strides);
  if (collapsed.extents.size() > rank) {
    unfit(std::to_string(collapsed.extents.size()) + " dimensions are left of " + what +
          ", and its kernels take " + std::to_string(rank));
  }
  Collapsed made;
  const Index lead = rank - collapsed.extents.size();
  for (Index k = 0; k < rank; ++k)
    made.extents.push_back(k < lead ? 1 : collapsed.extents[k - lead]);
  for (const IndexVector& own : collapsed.strides) {
    IndexVector& steps = made.strides.emplace_back();
    for (Index k = 0; k < rank; ++k) steps.push_back(k < lead ? 0 : own[k - lead]);
  }
  return made;
}

// Returns axes, innermost first. Throws if an element is beyond the reach of 32 bits.
std::vector<backends::DeviceAxis> axes_of(const Shape& extents, const IndexVector& steps) {
  std::vector<backends::DeviceAxis> axes;
  double reach = 0;
  for (Index k = extents.size(); k-- > 0;) {
    axes.push_back({extents[k], steps[k]});
    if (steps[k] < 0) unfit("an operand is read backwards");
    reach +=
        static_cast<double>(std::max<Index>(extents[k] - 1, 0)) * static_cast<double>(steps[k]);
    if (extents[k] > farthest || steps[k] > farthest) reach = 2.0 * static_cast<double>(farthest);
  }
  if (reach > static_cast<double>(farthest)) unfit("an operand reaches farther than 32 bits count");
  return axes;
}

// Collapsed extents: the kept dimensions and the reduced one.
struct CollapsedCall {
  Shape kept, reduced;
  std::vector<IndexVector> outside, inside;  // one per operand, then the output's
};

CollapsedCall collapsed_call(const RecordedCall& record, Index rank) {
  std::vector<IndexVector> outside, inside;
  for (const Operand& operand : record.inputs) {
    outside.push_back(head(operand.strides, record.made.size()));
    inside.push_back(tail(operand.strides, record.made.size()));
  }
  outside.push_back(dense_strides(record.made));
  inside.push_back(IndexVector(record.reduced.size(), 0));
  CollapsedCall made;
  const Collapsed kept = brought_to(rank, record.made, outside, "what it keeps");
  made.kept = kept.extents;
  made.outside = kept.strides;
  if (count(record.reduced) == 0) {
    made.reduced = {0};
    made.inside.assign(inside.size(), IndexVector{0});
  } else {
    const Collapsed over = brought_to(1, record.reduced, inside, "what it reduces");
    made.reduced = over.extents;
    made.inside = over.strides;
  }
  return made;
}

std::vector<std::vector<backends::DeviceAxis>> axes_of(const RecordedCall& record, Form form) {
  std::vector<std::vector<backends::DeviceAxis>> axes;
  if (form == Form::elementwise) {
    std::vector<IndexVector> strides;
    for (const Operand& operand : record.inputs) strides.push_back(operand.strides);
    strides.push_back(dense_strides(record.made));
    const Collapsed collapsed = brought_to(4, record.made, strides, "its output");
    for (const IndexVector& own : collapsed.strides)
      axes.push_back(axes_of(collapsed.extents, own));
    return axes;
  }
  // The recorded strides of what is added to an empty sum are unknown.
  if (form == Form::contract && count(record.reduced) == 0 && count(record.made) > 0)
    unfit("its kernels sum no empty products");
  // Innermost first. For a reduction: a kept dimension, the reduced one, the other kept one. For a
  // contraction: the reduced one, then the three kept ones.
  const CollapsedCall call = collapsed_call(record, form == Form::reduce ? 2 : 3);
  for (std::size_t o = 0; o < call.outside.size(); ++o) {
    const bool output = o + 1 == call.outside.size();
    if (output) {
      axes.push_back(axes_of(call.kept, call.outside[o]));
      continue;
    }
    Shape extents = call.kept;
    IndexVector steps = call.outside[o];
    extents.push_back(call.reduced[0]);
    steps.push_back(call.inside[o][0]);
    std::vector<backends::DeviceAxis> own = axes_of(extents, steps);
    if (form == Form::reduce) std::swap(own[0], own[1]);
    axes.push_back(std::move(own));
  }
  return axes;
}

constexpr std::uintptr_t distance = std::uintptr_t{1} << 40;

}  // namespace

DeviceInputs inputs_on_device(const AnalyzedGraph& graph, Index node) {
  DeviceInputs made;
  const AnalyzedNode& fact = graph.node(node);
  const DeviceEntry& entry = *entry_of(graph, node);
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    if (fact.inputs[k] == no_value) continue;
    std::vector<Index>& list = reads_on_device(entry, k) ? made.on_device : made.on_host;
    if (std::find(list.begin(), list.end(), fact.inputs[k]) == list.end())
      list.push_back(fact.inputs[k]);
  }
  return made;
}

DeviceCall device_call(const AnalyzedGraph& graph, Index node, backends::DeviceKind kind,
                       const std::function<Value(Index)>& on_host) {
  const AnalyzedNode& fact = graph.node(node);
  const DeviceEntry& entry = *entry_of(graph, node);
  std::vector<Value> inputs;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    const Index input = fact.inputs[k];
    if (input == no_value) {
      inputs.emplace_back();
    } else if (reads_on_device(entry, k)) {
      inputs.emplace_back(tensor_at(reinterpret_cast<void*>((k + 1) * distance), Type::float32,
                                    *graph.value(input).shape));
    } else {
      inputs.push_back(on_host(input));
    }
  }
  Call call = call_of(*fact.node, std::move(inputs));
  RecordedCall record;
  if (!record_for_device(entry, call, record)) unfit("its types are not float");
  if (call.outputs[0].tensor().shape() != *graph.value(fact.outputs[0]).shape)
    BUG("a recorded call makes another shape than was inferred");
  DeviceCall made{kernel_for(entry, kind), std::move(record.values), {}, {}};
  for (const Operand& operand : record.inputs) {
    const auto address = reinterpret_cast<std::uintptr_t>(operand.data);
    const std::uintptr_t input = address / distance;
    // The adapter's placeholder for an absent operand.
    if (input == 0 || input > fact.inputs.size()) {
      made.reads.push_back(no_value);
      continue;
    }
    if (address % distance != 0) unfit("an operand is not read from its first element on");
    made.reads.push_back(fact.inputs[static_cast<std::size_t>(input - 1)]);
  }
  made.axes = axes_of(record, entry.form);
  backends::DeviceAxis& innermost = made.axes.back().front();
  if (innermost.extent == 1) innermost.step = 1;  // kernels require a contiguous output
  return made;
}

std::string why_not_on_device(const AnalyzedGraph& graph, Index node, backends::DeviceKind kind) {
  const AnalyzedNode& fact = graph.node(node);
  const DeviceEntry* entry = entry_of(graph, node);
  if (!entry || !kernel_for(*entry, kind)) return "it has no kernel for it";
  if (fact.outputs.size() != 1 || fact.outputs[0] == no_value)
    return "it wants more than one output";
  const auto known = [&](Index value) { return graph.value(value).shape.has_value(); };
  const auto is_float = [&](Index value) { return graph.value(value).is(Type::float32); };
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    const Index input = fact.inputs[k];
    if (input == no_value) continue;
    if (reads_on_device(*entry, k) && !is_float(input)) return "it has kernels for float alone";
    if (!known(input))
      return "the shape of '" + graph.value(input).name + "' is known only in the run";
  }
  if (!is_float(fact.outputs[0])) return "it has kernels for float alone";
  if (!known(fact.outputs[0])) return "the shape of its output is known only in the run";
  try {
    // Zeros stand in for host values not known yet, since no stride depends on them.
    device_call(graph, node, kind, [&](Index input) -> Value {
      const AnalyzedValue& held = graph.value(input);
      return held.constant ? *held.constant : Tensor(held.type->element, *held.shape);
    });
  } catch (const Error& error) {
    return error.message;
  }
  return "";
}

}  // namespace touchstone::optimized
