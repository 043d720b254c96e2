// Shape inference of subgraphs. A branch or a body is visited once. The result is common to all
// executions: a dimension that differs becomes an unnamed symbol.
#include <algorithm>

#include "core/error.h"
#include "model/place.h"
#include "model/scopes.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

// Each round turns a dimension that a body changes into an unnamed symbol; after that nothing
// changes.
constexpr int max_rounds = 3;

const Graph* graph_of(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  const auto* held = std::get_if<std::shared_ptr<const Graph>>(&found->second.is);
  return held ? held->get() : nullptr;
}

std::vector<Index> integers(const Node& node, const char* name, std::size_t count) {
  const auto found = node.attributes.find(name);
  const std::vector<Index>* held =
      found == node.attributes.end() ? nullptr : std::get_if<std::vector<Index>>(&found->second.is);
  return held && held->size() == count ? *held : std::vector<Index>(count, 0);
}

std::optional<bool> bool_of(const PartialValue& known) {
  if (!known.value || known.value->type() != Type::boolean || known.value->size() != 1)
    return std::nullopt;
  return *known.value->data<bool>();
}

std::optional<Index> number(const PartialValue& known) {
  if (!known.value || known.value->type() != Type::int64 || known.value->size() != 1)
    return std::nullopt;
  return *known.value->data<Index>();
}

PartialValue scalar(Type type) {
  return {false, tensor_type(type), Shape(), std::nullopt, std::nullopt};
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.type() != Type::string && a.shape() == b.shape() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

// Adds a dimension of size `count` at `axis`; unknown without a count. `trips`: the count over
// symbols, null if it is a constant.
PartialValue stacked(const PartialValue& part, Index axis, std::optional<Index> count,
                     const SymbolicInteger* trips) {
  PartialValue whole;
  whole.type = part.type;
  if (!part.shape || !count) return whole;
  const Index rank = part.shape->size() + 1;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return whole;
  whole.shape.emplace();
  for (Index d = 0; d < rank; ++d)
    whole.shape->push_back(d == axis ? *count : (*part.shape)[d < axis ? d : d - 1]);
  if (!trips && !part.symbolic) return whole;
  SymbolicTensor over = symbolic_sizes(part);
  if (over.has_rank)
    over.sizes.insert(over.sizes.begin() + axis, trips ? *trips : SymbolicInteger(*count));
  whole.symbolic = std::make_shared<const SymbolicTensor>(std::move(over));
  return whole;
}

// The stack of no part has the sizes that the graph declares for its output, and 0 for open ones.
PartialValue empty_stack(const ValueInfo& declared, Index axis) {
  PartialValue part;
  part.type = declared.type;
  part.shape.emplace();
  if (declared.shape) {
    for (const Dim& dim : *declared.shape) part.shape->push_back(dim.size.value_or(0));
  }
  return stacked(part, axis, 0, nullptr);
}

PartialValue stacked_output(const ValueInfo& declared, const PartialValue& part, Index axis,
                            std::optional<Index> count, const SymbolicInteger* trips) {
  return count == 0 ? empty_stack(declared, axis) : stacked(part, axis, count, trips);
}

// Drops the values that a body receives in an unknown iteration.
void forget_values(std::vector<PartialValue>& list) {
  for (PartialValue& known : list) {
    known.value.reset();
    if (known.symbolic && !known.symbolic->elements.empty())
      known.symbolic = std::make_shared<const SymbolicTensor>(
          SymbolicTensor{known.symbolic->sizes, known.symbolic->has_rank, {}});
  }
}

}  // namespace

bool ShapeWalk::is_control(const Node& node) {
  return node.domain.empty() &&
         (node.op == "If" || node.op == "Loop" || node.op == "Scan" || node.op == "SequenceMap");
}

std::vector<PartialValue> ShapeWalk::outputs_of_control(const Node& node,
                                                        const std::vector<PartialValue>& inputs,
                                                        Frame& frame) {
  if (node.op == "If") return outputs_of_branches(node, inputs, frame);
  if (node.op == "Loop") return outputs_of_loop(node, inputs, frame);
  if (node.op == "SequenceMap") return outputs_of_map(node, inputs, frame);
  return outputs_of_scan(node, inputs, frame);
}

std::vector<PartialValue> ShapeWalk::run_graph(const Graph& graph, const std::string& name,
                                               std::vector<PartialValue> inputs, const Node& holder,
                                               const Frame& caller, bool surely_run) {
  std::vector<PartialValue> outputs(graph.outputs.size());
  std::optional<Frame> frame = opened(caller, subgraph_path(caller.path, holder, name));
  if (!frame) return outputs;
  frame->outer = &caller;
  frame->graph = &graph;
  frame->attributes = caller.attributes;
  frame->surely_run = caller.surely_run && surely_run;
  inputs.resize(graph.inputs.size());
  state_.steps_left -= std::ssize(inputs);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    define(graph.inputs[k].name, std::move(inputs[k]), nullptr, *frame);
  visit_all(graph.nodes, *frame);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    outputs[k] = look_up(graph.outputs[k].name, *frame);
  return outputs;
}

// Returns the facts common to both. `place` identifies the sizes that differ.
PartialValue ShapeWalk::joined(const PartialValue& a, const PartialValue& b,
                               const std::string& place) {
  PartialValue both;
  if (!a.type || !b.type || *a.type == *b.type) both.type = a.type ? a.type : b.type;
  both.inner = either_shape(a.inner, b.inner);
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return both;
  both.shape = a.shape;
  for (Index d = 0; d < a.shape->size(); ++d) {
    if ((*a.shape)[d] != (*b.shape)[d])
      (*both.shape)[d] = unnamed_size(place + ":" + std::to_string(d));
  }
  if (a.value && b.value && is_same(*a.value, *b.value)) both.value = a.value;
  both.symbolic = joined_sizes(a, b, both);
  return both;
}

std::vector<PartialValue> ShapeWalk::outputs_of_branches(const Node& node,
                                                         const std::vector<PartialValue>& inputs,
                                                         Frame& frame) {
  const std::string place = place_;
  const std::optional<bool> chosen = inputs.empty() ? std::nullopt : bool_of(inputs[0]);
  if (chosen && frame.path.empty()) found_.conditions.emplace(node.inputs[0], *chosen);
  std::optional<std::vector<PartialValue>> outputs;
  for (const bool branch : {true, false}) {
    const char* name = branch ? "then_branch" : "else_branch";
    const Graph* graph = graph_of(node, name);
    if (!graph || (chosen && *chosen != branch)) continue;
    std::vector<PartialValue> made = run_graph(*graph, name, {}, node, frame, chosen.has_value());
    made.resize(node.outputs.size());
    if (!outputs) {
      outputs = std::move(made);
      continue;
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      PartialValue& known = (*outputs)[k];
      known = joined(known, made[k], place + "." + std::to_string(k));
    }
  }
  return outputs.value_or(std::vector<PartialValue>());
}

std::vector<PartialValue> ShapeWalk::outputs_of_loop(const Node& node,
                                                     const std::vector<PartialValue>& inputs,
                                                     Frame& frame) {
  const std::string place = place_;
  const Graph* body = graph_of(node, "body");
  if (!body || inputs.size() < 2 || body->outputs.empty()) return {};
  std::vector<PartialValue> carried(inputs.begin() + 2, inputs.end());
  forget_values(carried);
  const std::size_t count = std::min(carried.size(), body->outputs.size() - 1);
  std::vector<PartialValue> results;
  bool stands = false;
  for (int round = 0; round < max_rounds && !stands; ++round) {
    std::vector<PartialValue> given{scalar(Type::int64), scalar(Type::boolean)};
    given.insert(given.end(), carried.begin(), carried.end());
    results = run_graph(*body, "body", std::move(given), node, frame, false);
    stands = true;
    for (std::size_t k = 0; k < count; ++k) {
      PartialValue next = joined(carried[k], results[k + 1], place + "." + std::to_string(k));
      next.value.reset();
      stands = stands && next.shape == carried[k].shape && next.inner == carried[k].inner &&
               have_same_sizes(next, carried[k]);
      carried[k] = std::move(next);
    }
  }
  if (proves() && !stands) throw NotKnown{};
  const bool runs_through =
      inputs[1].left_out || (bool_of(inputs[1]) == true && bool_of(results[0]) == true);
  std::optional<Index> trips = runs_through ? number(inputs[0]) : std::nullopt;
  std::optional<SymbolicInteger> over;
  if (!trips && !proves()) {
    trips = unnamed_size(place + "#trips");
    if (state_.sizes) over = drawn_.back();
  } else if (trips && inputs[0].symbolic) {
    over = symbolic_number(inputs[0]);
    over = over ? state_.sizes->maximum({0, *over})
                : state_.sizes->symbol("#" + place + "#trips", *trips, 0, INT64_MAX);
  }
  if (trips) trips = std::max<Index>(*trips, 0);
  std::vector<PartialValue> outputs(carried.begin(),
                                    carried.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t k = count + 1; k < results.size(); ++k)
    outputs.push_back(
        stacked_output(body->outputs[k], results[k], 0, trips, over ? &*over : nullptr));
  return outputs;
}

// From version 9. Before, every value has a batch dimension, and the outputs stay unknown.
std::vector<PartialValue> ShapeWalk::outputs_of_scan(const Node& node,
                                                     const std::vector<PartialValue>& inputs,
                                                     Frame& frame) {
  const std::string place = place_;
  const Graph* body = graph_of(node, "body");
  const auto found = node.attributes.find("num_scan_inputs");
  const Index* scans =
      found == node.attributes.end() ? nullptr : std::get_if<Index>(&found->second.is);
  if (!body || !scans || node.signature->since < 9 || *scans < 1 ||
      *scans > static_cast<Index>(inputs.size()))
    return {};
  const std::size_t count = inputs.size() - static_cast<std::size_t>(*scans);  // number of states
  if (body->outputs.size() < count) return {};
  std::vector<PartialValue> states(inputs.begin(),
                                   inputs.begin() + static_cast<std::ptrdiff_t>(count)),
      slices;
  forget_values(states);
  const std::vector<Index> in_axes = integers(node, "scan_input_axes", inputs.size() - count);
  const std::vector<Index> out_axes =
      integers(node, "scan_output_axes", body->outputs.size() - count);
  std::optional<Index> steps;
  std::optional<SymbolicInteger> over;  // a constant where an input has one
  for (std::size_t k = count; k < inputs.size(); ++k) {
    PartialValue slice;
    slice.type = inputs[k].type;
    if (const std::optional<Shape>& shape = inputs[k].shape; shape) {
      const Index axis = in_axes[k - count] + (in_axes[k - count] < 0 ? shape->size() : 0);
      if (axis < 0 || axis >= shape->size()) {
        throw Error(ErrorKind::invalid_model,
                    "input " + std::to_string(k) + " has shape " + text(*shape) + " and no axis " +
                        std::to_string(in_axes[k - count]) + " to be scanned along");
      }
      if (steps && *steps != (*shape)[axis]) {
        throw Error(ErrorKind::invalid_input,
                    "input " + std::to_string(k) + " has " + std::to_string((*shape)[axis]) +
                        " slices to be scanned, but another input has " + std::to_string(*steps));
      }
      steps = (*shape)[axis];
      slice.shape.emplace();
      for (Index d = 0; d < shape->size(); ++d) {
        if (d != axis) slice.shape->push_back((*shape)[d]);
      }
      if (inputs[k].symbolic) {
        SymbolicTensor sizes = symbolic_sizes(inputs[k]);
        if (sizes.has_rank) {
          const SymbolicInteger length = sizes.sizes[static_cast<std::size_t>(axis)];
          if (!over || !over->constant()) over = length;
          sizes.sizes.erase(sizes.sizes.begin() + axis);
        }
        slice.symbolic = std::make_shared<const SymbolicTensor>(std::move(sizes));
      } else {
        over = SymbolicInteger(*steps);
      }
    }
    slices.push_back(std::move(slice));
  }
  if (!steps && !proves()) {
    steps = unnamed_size(place + "#trips");
    if (state_.sizes) over = drawn_.back();
  }
  std::vector<PartialValue> results;
  bool stands = false;
  for (int round = 0; round < max_rounds && !stands; ++round) {
    std::vector<PartialValue> given = states;
    given.insert(given.end(), slices.begin(), slices.end());
    results = run_graph(*body, "body", std::move(given), node, frame, false);
    stands = true;
    for (std::size_t k = 0; k < count; ++k) {
      PartialValue next = joined(states[k], results[k], place + "." + std::to_string(k));
      next.value.reset();
      stands = stands && next.shape == states[k].shape && have_same_sizes(next, states[k]);
      states[k] = std::move(next);
    }
  }
  if (proves() && !stands) throw NotKnown{};
  std::vector<PartialValue> outputs = states;
  for (std::size_t k = count; k < results.size(); ++k)
    outputs.push_back(stacked_output(body->outputs[k], results[k], out_axes[k - count], steps,
                                     over ? &*over : nullptr));
  return outputs;
}

std::vector<PartialValue> ShapeWalk::outputs_of_function(const Node& node,
                                                         const std::vector<PartialValue>& inputs,
                                                         const Frame& caller) {
  std::string path = caller.path.empty() ? "" : caller.path + "/";
  std::optional<Frame> frame =
      opened(caller, path + stem(node.op) + "_" + std::to_string(node.index));
  if (!frame) return {};
  const Function& function = *node.function;
  const Attributes attributes = attributes_of_call(node);
  state_.steps_left -=
      std::ssize(function.inputs) + std::ssize(function.default_attributes) / entries_of_a_node;
  frame->attributes = &attributes;
  for (std::size_t k = 0; k < function.inputs.size(); ++k) {
    PartialValue known;
    known.left_out = k >= inputs.size();
    define(function.inputs[k], known.left_out ? known : inputs[k], nullptr, *frame);
  }
  visit_all(function.nodes, *frame);
  std::vector<PartialValue> outputs;
  for (std::size_t k = 0; k < std::min(node.outputs.size(), function.outputs.size()); ++k)
    outputs.push_back(look_up(function.outputs[k], *frame));
  return outputs;
}

}  // namespace touchstone
