// Shape inference of sequences and optionals. They have no shape of their own, but the common facts
// of their tensors are tracked. A size that differs between tensors is `any_size` there, and
// becomes an unnamed symbol when a tensor is taken out.
#include <algorithm>
#include <utility>

#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

bool differs_inside(const PartialValue& known) {
  return known.inner &&
         std::find(known.inner->begin(), known.inner->end(), any_size) != known.inner->end();
}

}  // namespace

// Replaces sizes that depend on values by unnamed symbols; in a proving pass returns nothing if
// there are any.
std::optional<Shape> ShapeWalk::with_names(Shape shape, const std::string& place) {
  if (proves() && std::find(shape.begin(), shape.end(), any_size) != shape.end())
    return std::nullopt;
  for (Index d = 0; d < shape.size(); ++d) {
    if (shape[d] == any_size) shape[d] = unnamed_size(place + ":" + std::to_string(d));
  }
  return shape;
}

std::vector<PartialValue> ShapeWalk::outputs_of_container(const Node& node, InferValues infer,
                                                          const std::vector<PartialValue>& inputs) {
  std::vector<ValueFacts> given;
  for (const PartialValue& known : inputs) {
    given.push_back({known.type, is_tensor(known) ? known.shape : known.inner,
                     known.value ? &*known.value : nullptr});
  }
  given.resize(std::max(given.size(), node.signature->inputs.size()));
  const Facts facts(node, *node.signature, described(node, inputs), wanted(node));
  std::vector<PartialValue> outputs;
  for (const ValueFacts& made : infer(facts, given)) {
    PartialValue known{false, made.type, std::nullopt, std::nullopt, std::nullopt};
    if (!is_tensor(known))
      known.inner = made.shape;
    else if (made.shape)
      known.shape = with_names(*made.shape, place_ + "." + std::to_string(outputs.size()));
    outputs.push_back(std::move(known));
  }
  return outputs;
}

// Runs the body on representative tensors of a sequence. If they differ in a size, runs it again
// with another size, so that results that depend on the size are detected.
std::vector<PartialValue> ShapeWalk::outputs_of_map(const Node& node,
                                                    const std::vector<PartialValue>& inputs,
                                                    Frame& frame) {
  const std::string place = place_;
  const auto found = node.attributes.find("body");
  const auto* body = found == node.attributes.end()
                         ? nullptr
                         : std::get_if<std::shared_ptr<const Graph>>(&found->second.is);
  if (!body) return {};
  const auto walked = [&](const char* which) {
    std::vector<PartialValue> items;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      PartialValue item = inputs[k];
      if (item.type && item.type->kind == ValueType::Kind::sequence) {
        item.type = ValueType(*inputs[k].type->inner);
        item.inner.reset();
        if (inputs[k].inner) {
          drawn_.clear();
          item.shape = with_names(*inputs[k].inner, place + which + std::to_string(k));
        }
        if (item.shape && item.symbolic && !proves())
          item.symbolic =
              std::make_shared<const SymbolicTensor>(guessed_sizes({inputs[k]}, *item.shape));
      }
      items.push_back(std::move(item));
    }
    return run_graph(**body, "body", std::move(items), node, frame, false);
  };
  std::vector<PartialValue> outputs = walked("#one");
  const bool again = std::any_of(inputs.begin(), inputs.end(), differs_inside);
  const std::vector<PartialValue> others = again ? walked("#other") : outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].type) outputs[k].type = sequence_type(*outputs[k].type);
    outputs[k].inner = either_shape(outputs[k].shape, others[k].shape);
    outputs[k].shape.reset(), outputs[k].value.reset();
  }
  guess(inputs, outputs);
  return outputs;
}

}  // namespace touchstone
