// Visits nodes in file order. Undetermined results stay unknown. A constraint violation is recorded
// without ending the pass: the sizes are substitutes, and another pass may satisfy the constraint.
#include "reference/shapes/shape_walk.h"

#include <algorithm>

#include "core/budget_watch.h"
#include "model/check_node.h"
#include "model/custom.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"
#include "reference/feeds.h"
#include "reference/shape_only.h"

namespace touchstone {
namespace {

constexpr int rank_most = 64;
constexpr Index steps_of_an_error = 8;  // unwinding takes longer than most plans
constexpr Index letters_of_a_step = 64;

void refuse(Error error) { throw error; }

// True for a shape that a run could have.
bool sound(const Shape& shape) {
  return shape.size() <= rank_most &&
         std::all_of(shape.begin(), shape.end(), [](Index size) { return size >= 0; });
}

std::string text_of(const std::vector<PartialValue>& inputs) {
  std::string out;
  for (const PartialValue& known : inputs) {
    out += known.shape ? text(*known.shape) : "?";
    if (!known.value || known.value->bytes().size() > 256) continue;
    const std::span<const std::byte> bytes = known.value->bytes();
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return out;
}

}  // namespace

std::vector<Described> described(const Node& node, const std::vector<PartialValue>& inputs) {
  std::vector<Described> all(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const PartialValue& known = inputs[k];
    if (const ParameterSpec* parameter = parameter_at(node.signature->inputs, k))
      all[k].name = parameter->name;
    all[k].given = !known.left_out;
    if (known.type && known.type->kind == ValueType::Kind::tensor)
      all[k].type = known.type->element;
    if (known.shape) all[k].shape = &*known.shape;
    if (known.value) all[k].tensor = &*known.value;
  }
  return all;
}

std::vector<bool> wanted(const Node& node) {
  std::vector<bool> all;
  for (const std::string& name : node.outputs) all.push_back(!name.empty());
  return all;
}

bool is_tensor(const PartialValue& known) {
  return known.type && known.type->kind == ValueType::Kind::tensor &&
         known.type->element != Type::undefined;
}

PartialValue PartialValue::of(const Tensor& tensor) {
  return {false, tensor_type(tensor.type()), tensor.shape(), std::nullopt, tensor};
}

InferredRun walk(ShapeInference& state, const Sizes& sizes) {
  return ShapeWalk(state, &sizes, nullptr).go();
}

InferredRun proving_walk(ShapeInference& state, const FedShapes& feeds) {
  return ShapeWalk(state, nullptr, &feeds).go();
}

Index ShapeWalk::drawn(std::size_t symbol) {
  if (proves()) throw NotKnown{};
  const Index hint = (*sizes_)(symbol);
  if (state_.sizes) drawn_.push_back(state_.symbol_size(symbol));
  return hint;
}

// A fed input has the shape of its feed; a default that is fed is not a constant.
PartialValue ShapeWalk::input_of(const ValueInfo& input, const Frame& frame) {
  if (proves()) {
    if (const auto fed = feeds_->find(input.name); fed != feeds_->end()) {
      PartialValue known{false, input.type, fed->second, {}, {}};
      if (const auto sizes = state_.input_sizes.find(input.name); sizes != state_.input_sizes.end())
        known.symbolic =
            std::make_shared<const SymbolicTensor>(SymbolicTensor{sizes->second, true, {}});
      return known;
    }
  }
  PartialValue known = look_up(input.name, frame);  // a default, if it has one
  if (proves()) {
    if (!known.type) known.type = input.type;
  } else if (!known.shape && input.shape) {
    take_declared(known, input, "|" + input.name, true);
  }
  return known;
}

InferredRun ShapeWalk::go() {
  const LimitsScope scope(state_.limits);
  const Graph& graph = state_.model.graph;
  Frame frame;
  frame.graph = &graph;
  for (const ValueInfo& input : graph.inputs)
    define(input.name, input_of(input, frame), nullptr, frame);
  visit_all(graph.nodes, frame);
  found_.shapes.resize(state_.rows.size());
  return std::move(found_);
}

PartialValue ShapeWalk::look_up(const std::string& name, const Frame& frame) const {
  if (name.empty()) {
    PartialValue none;
    none.left_out = true;
    return none;
  }
  for (const Frame* at = &frame; at != nullptr; at = at->outer) {
    if (const auto found = at->values.find(name); found != at->values.end()) return found->second;
    if (at->graph == nullptr) continue;
    if (const auto found = at->graph->initializers.find(name);
        found != at->graph->initializers.end())
      return PartialValue::of(found->second);
    if (const auto found = at->graph->sparse_initializers.find(name);
        found != at->graph->sparse_initializers.end()) {
      const SparseTensor& sparse = found->second;
      PartialValue known{false, tensor_type(sparse.values.type()), sparse.shape, {}, {}};
      if (is_small(sparse.shape)) known.value = dense(sparse);
      return known;
    }
  }
  return {};
}

void ShapeWalk::take_declared(PartialValue& known, const ValueInfo& declared,
                              const std::string& place, bool of_input) {
  Shape& shape = known.shape.emplace();
  SymbolicTensor over;
  over.has_rank = true;
  for (std::size_t d = 0; d < declared.shape->size(); ++d) {
    const Dim& dim = (*declared.shape)[d];
    if (dim.size && *dim.size >= 0) {
      shape.push_back(*dim.size);
      over.sizes.emplace_back(*dim.size);
    } else {
      const bool has_name = !dim.size && !dim.symbol.empty();
      shape.push_back(drawn(has_name ? state_.named(dim.symbol, of_input)
                                     : state_.unnamed(place + ":" + std::to_string(d))));
      if (state_.sizes) over.sizes.push_back(drawn_.back());
    }
  }
  if (!state_.sizes) return;
  const bool constant = std::all_of(over.sizes.begin(), over.sizes.end(),
                                    [](const SymbolicInteger& size) { return size.constant(); });
  if (!constant) known.symbolic = std::make_shared<const SymbolicTensor>(std::move(over));
}

void ShapeWalk::define(const std::string& name, PartialValue known, const Node* node,
                       Frame& frame) {
  state_.steps_left -= static_cast<Index>(name.size()) / letters_of_a_step;
  const std::size_t row = state_.row(frame.path, name, node, frame.graph);
  const ValueInfo* declared = proves() ? nullptr : state_.rows[row].declared;
  if (known.left_out) {
    frame.values[name] = std::move(known);
    return;
  }
  if (!known.type && declared) known.type = declared->type;
  if (known.shape && !sound(*known.shape))
    known.shape.reset(), known.value.reset(), known.symbolic.reset();
  if (!known.shape && declared && declared->shape && declared->shape->size() <= rank_most) {
    take_declared(known, *declared, frame.path + "|" + name, false);
    ++found_.guesses;
  }
  if (known.type || proves()) state_.rows[row].type = known.type;
  if (found_.shapes.size() <= row) found_.shapes.resize(row + 1);
  found_.shapes[row] = known.shape;
  if (state_.sizes) {
    if (state_.symbolic.size() <= row) state_.symbolic.resize(row + 1);
    state_.symbolic[row] = known.symbolic;
  }
  frame.values[name] = std::move(known);
}

void ShapeWalk::visit_all(const std::vector<Node>& nodes, Frame& frame) {
  BudgetWatch watch;
  for (const Node& node : nodes) {
    watch.step();
    visit(node, frame);
  }
}

bool ShapeWalk::visit(const Node& written, Frame& frame) {
  bool repeats = true;
  ++step_;
  charge_work(1);
  const ScratchScope scratch;
  // Nested nodes have long path names, and each value takes memory in every pass.
  state_.steps_left -=
      frame.depth - 1 + weight_of(written) + static_cast<Index>(written.outputs.size()) / 2;
  found_.gave_up = found_.gave_up || state_.steps_left < 0;
  std::vector<PartialValue> inputs;
  for (const std::string& name : written.inputs) inputs.push_back(look_up(name, frame));
  const auto violation = [&](Error error) {
    repeats = false;
    if (error.kind != ErrorKind::invalid_input && error.kind != ErrorKind::invalid_model) return;
    if (error.place.empty()) error.place = place_of(written, frame.path);
    const Index node = frame.path.empty() ? written.index : -1;
    const bool of_constants =
        state_.sizes && std::none_of(inputs.begin(), inputs.end(), [](const PartialValue& known) {
          return known.symbolic != nullptr;
        });
    found_.violations.push_back(
        {step_, frame.surely_run, text_of(inputs), std::move(error), node, of_constants});
  };
  std::vector<PartialValue> outputs;
  if (!found_.gave_up) {
    try {
      if (frame.attributes && has_references(written)) {
        const Node node = bound(written, *frame.attributes);
        state_.steps_left -= weight_of(node);
        outputs = outputs_of(node, inputs, frame);
      } else {
        outputs = outputs_of(written, inputs, frame);
      }
    } catch (Error& error) {
      state_.steps_left -= steps_of_an_error;
      violation(std::move(error));
    } catch (const NotKnown&) {
      state_.steps_left -= steps_of_an_error;
    } catch (const std::exception&) {
      // Out of memory because of a hostile attribute.
      repeats = false;
      state_.steps_left -= steps_of_an_error;
    }
  }
  outputs.resize(written.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!written.outputs[k].empty())
      define(written.outputs[k], std::move(outputs[k]), &written, frame);
  }
  return repeats && !found_.gave_up;
}

std::vector<PartialValue> ShapeWalk::outputs_of(const Node& node,
                                                const std::vector<PartialValue>& inputs,
                                                Frame& frame) {
  place_ = frame.path + "#" + std::to_string(node.index);
  drawn_.clear();
  if (node.function) return outputs_of_function(node, inputs, frame);
  if (is_control(node)) return outputs_of_control(node, inputs, frame);
  return outputs_of_operator(node, inputs);
}

bool can_be_a_tensor(const PartialValue& known, const Limits& limits) {
  if (!known.shape || !is_tensor(known)) return true;
  Index elements = 1;
  return std::all_of(known.shape->begin(), known.shape->end(), [&](Index d) {
    return d <= limits.elements && (d == 0 || !__builtin_mul_overflow(elements, d, &elements)) &&
           elements <= limits.elements;
  });
}

Inferred ShapeWalk::inferred(const Node& node, const ReferenceEntry& entry,
                             const std::vector<PartialValue>& inputs) const {
  Inferred said;
  said.partial = true;
  if (entry.infer && std::all_of(inputs.begin(), inputs.end(), [&](const PartialValue& known) {
        return can_be_a_tensor(known, state_.limits);
      }))
    said = entry.infer(Facts(node, *node.signature, described(node, inputs), wanted(node)));
  return said;
}

std::vector<PartialValue> ShapeWalk::outputs_of_operator(const Node& node,
                                                         const std::vector<PartialValue>& inputs) {
  std::vector<PartialValue> outputs(node.outputs.size());
  Types types;
  for (const PartialValue& known : inputs) types.push_back(known.type);
  types = bind_types(node, types, refuse);
  for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].type = types[k];
  if (const CustomOperator* custom = custom_operator(*node.signature)) {
    infer_custom(node, *custom, inputs, outputs, state_.limits);
    guess(inputs, outputs);
    return outputs;
  }
  const ReferenceEntry* entry = find_entry(*node.signature);
  if (entry == nullptr) return outputs;
  if (const InferValues infer = find_infer_values(*node.signature)) {
    std::vector<PartialValue> made = outputs_of_container(node, infer, inputs);
    made.resize(outputs.size());
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (!made[k].type) made[k].type = types[k];
      types[k] = made[k].type;
    }
    hold_output_types(*node.signature, types, refuse);
    guess(inputs, made);
    return made;
  }
  Inferred said;
  try {
    said = inferred(node, *entry, inputs);
    if (said.partial && !proves()) {
      if (std::optional<Inferred> guessed = probed(node, *entry, inputs, place_)) {
        said = std::move(*guessed);
        found_.guesses += static_cast<Index>(said.shapes.size());
      }
    }
  } catch (const Error& error) {
    if (error.kind == ErrorKind::invalid_input || error.kind == ErrorKind::invalid_model) throw;
    return outputs;
  } catch (const NotKnown&) {
    return outputs;  // of the types that the inputs bind
  }
  for (std::size_t k = 0; k < std::min(outputs.size(), said.shapes.size()); ++k) {
    if (said.types[k] != Type::undefined) outputs[k].type = tensor_type(said.types[k]);
    outputs[k].shape = said.shapes[k];
    if (outputs[k].shape && node.signature->kind == "structural")
      outputs[k].shape = with_names(*outputs[k].shape, place_ + "." + std::to_string(k));
    if (proves() && outputs[k].shape && !sound(*outputs[k].shape)) outputs[k].shape.reset();
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) types[k] = outputs[k].type;
  hold_output_types(*node.signature, types, refuse);
  computed(node, *entry, inputs, outputs);
  follow(node, inputs, outputs);
  return outputs;
}

std::optional<ShapeWalk::Frame> ShapeWalk::opened(const Frame& caller, std::string path) const {
  Frame frame;
  frame.depth = caller.depth + 1;
  if (frame.depth > state_.limits.graph_depth) return std::nullopt;
  frame.surely_run = caller.surely_run;
  frame.path = std::move(path);
  return frame;
}

}  // namespace touchstone
