// Computes small tensors by their kernels, since other shapes depend on them.
#include <algorithm>

#include "reference/shape_only.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index small = 1024;  // maximum elements of a tensor that is computed
constexpr Index small_bytes = 65536;

// True for kernels whose work is bounded by the number of input and output elements.
bool is_cheap(const Signature& signature) {
  static constexpr std::string_view forms[] = {"elementwise", "move", "reduce",
                                               "measure",     "cast", "quantise"};
  return signature.kind != "random" &&
         std::find(std::begin(forms), std::end(forms), signature.form) != std::end(forms);
}

}  // namespace

bool is_small(const Shape& shape) {
  Index size = 1;
  return std::all_of(shape.begin(), shape.end(),
                     [&](Index d) { return d <= small && (size *= d) <= small; });
}

// Computes the outputs if everything that the kernel reads is known and small.
bool ShapeWalk::computed(const Node& node, const ReferenceEntry& entry,
                         const std::vector<PartialValue>& inputs,
                         std::vector<PartialValue>& outputs) const {
  if (!entry.native || !is_cheap(*node.signature)) return false;
  const bool by_shape = node.signature->form == "measure";
  Call call;
  call.node = &node;
  call.signature = node.signature;
  for (const PartialValue& known : inputs) {
    if (known.left_out) {
      call.inputs.emplace_back();
    } else if (by_shape && known.shape && is_tensor(known)) {
      call.inputs.emplace_back(shape_only_tensor(known.type->element, *known.shape));
    } else if (!by_shape && known.value && known.value->size() <= small) {
      call.inputs.emplace_back(*known.value);
    } else {
      return false;
    }
  }
  for (const PartialValue& known : outputs) {
    if (known.shape && !is_small(*known.shape) && !inputs.empty()) return false;
  }
  call.wanted = wanted(node);
  call.outputs.resize(node.outputs.size());
  Limits limits = state_.limits;
  limits.elements = small;
  limits.bytes = small_bytes;
  const LimitsScope scope(limits);
  try {
    entry.native(call);
  } catch (const Error& error) {
    if (error.kind == ErrorKind::invalid_input) throw;
    return false;
  } catch (const NotKnown&) {
    return false;
  } catch (const std::exception&) {
    return false;
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (call.wanted[k] && call.outputs[k].is_tensor())
      outputs[k] = PartialValue::of(call.outputs[k].tensor());
  }
  return true;
}

}  // namespace touchstone
