// Inference of operators that a program adds.
#include <algorithm>

#include "model/check_node.h"
#include "model/custom.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {

void infer_custom(const Node& node, const CustomOperator& custom,
                  const std::vector<PartialValue>& inputs, std::vector<PartialValue>& outputs,
                  const Limits& limits) {
  std::vector<CustomFact> given, made;
  for (const PartialValue& known : inputs) given.push_back({known.type, known.shape});
  try {
    made = custom.infer(node, given);
  } catch (const Error&) {
    check_budget();
    return;
  }
  Types types(outputs.size());
  for (std::size_t k = 0; k < std::min(made.size(), outputs.size()); ++k) {
    if (made[k].type) outputs[k].type = types[k] = made[k].type;
    if (!made[k].shape) continue;
    const auto negative = [](Index size) { return size < 0; };
    if (std::any_of(made[k].shape->begin(), made[k].shape->end(), negative)) continue;
    outputs[k].shape = made[k].shape;
    if (!is_tensor(outputs[k]) || !can_be_a_tensor(outputs[k], limits)) outputs[k].shape.reset();
  }
  hold_output_types(*node.signature, types, [](Error error) { throw error; });
}

}  // namespace touchstone
