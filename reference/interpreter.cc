// Runs a model exactly as written: no node is reordered, fused or dropped, so that every
// intermediate value can be observed and judged. A value is freed after its last use.
#include "reference/interpreter.h"

#include <new>
#include <stdexcept>
#include <unordered_map>

#include "model/check_node.h"
#include "model/custom.h"
#include "model/model.h"
#include "model/place.h"
#include "model/rules.h"
#include "model/scopes.h"
#include "reference/feeds.h"
#include "reference/held_bytes.h"
#include "reference/plan.h"
#include "reference/references.h"
#include "reference/registry.h"

namespace touchstone {
namespace {

// The values of one evaluation of a graph or function body. A subgraph sees the enclosing frame, a
// function body does not.
struct Frame {
  const Frame* outer = nullptr;            // frame whose names are visible
  const Frame* caller = nullptr;           // frame that called this one
  const Graph* graph = nullptr;            // null in a function
  const Attributes* attributes = nullptr;  // the enclosing function's, for attribute references
  const Node* holder = nullptr;            // the caller's node that this frame belongs to
  std::string name;                        // "body#2", "" for a function
  int depth = 1;
  std::unordered_map<std::string, Value> values;
  std::unordered_map<std::string, Charge> lists;  // memory of values that are not tensors

  void hold(const std::string& name, Value value) {
    if (!value.is_tensor()) lists.insert_or_assign(name, Charge(bytes_of_lists(value)));
    values[name] = std::move(value);
  }
  void drop(const std::string& name) {
    values.erase(name);
    lists.erase(name);
  }
};

std::string path_of(const Frame& frame) {
  if (frame.caller == nullptr) return "";
  std::string path = path_of(*frame.caller);
  if (!path.empty()) path += "/";
  path += frame.holder->op + "_" + std::to_string(frame.holder->index);
  return frame.name.empty() ? path : path + "/" + frame.name;
}

std::vector<std::string> names_of(const std::vector<ValueInfo>& values) {
  std::vector<std::string> names;
  for (const ValueInfo& value : values) names.push_back(value.name);
  return names;
}

void refuse(Error error) { throw error; }

// Wraps a plain value in an optional where the graph declares one. A loop may thus start with an
// empty optional and continue with a computed value, as in the suites (test_loop16_seq_none).
Value as_declared(const ValueInfo& declared, Value value) {
  const bool wraps = declared.type && declared.type->kind == ValueType::Kind::optional &&
                     *declared.type->inner == value.type();
  if (!wraps) return value;
  return Optional{*declared.type->inner, std::make_shared<const Value>(std::move(value))};
}

// Checks types and required inputs. An input that the node names is absent only if a function's
// caller omitted it.
void check_inputs(const Call& call) {
  Types types(call.inputs.size());
  for (std::size_t k = 0; k < types.size(); ++k) {
    if (!call.inputs[k].absent()) {
      types[k] = call.inputs[k].type();
      continue;
    }
    const ParameterSpec* parameter = parameter_at(call.signature->inputs, k);
    if (parameter->optional) continue;
    throw breach("model/input-missing", "input " + std::to_string(k) + " ('" +
                                            std::string(parameter->name) +
                                            "') is left out by the function's caller");
  }
  bind_types(*call.node, types, refuse);
}

class Runner {
 public:
  explicit Runner(const RunOptions& options) : options_(options) {}

  std::vector<Value> run_main(const Graph& graph, std::map<std::string, Value> feeds) {
    Frame frame;
    frame.graph = &graph;
    for (auto& [name, value] : feeds) frame.values.emplace(name, std::move(value));
    feeds.clear();
    return run_graph(frame);
  }

  void run_node(const Node& written, Frame& frame) {
    std::optional<Node> copy;
    if (frame.attributes && has_references(written)) {
      copy = placed([&] { return place_of(written, path_of(frame)); },
                    [&] { return bound(written, *frame.attributes); });
    }
    const Node& node = copy ? *copy : written;
    placed([&] { return place_of(node, path_of(frame)); },
           [&] {
             try {
               charge_work(1);
               check_budget();
               const ScratchScope scratch;
               Call call;
               call.node = &node;
               call.signature = node.signature;
               for (const std::string& name : node.inputs) {
                 call.inputs.push_back(name.empty() ? Value() : look_up(name, frame));
                 check_value(call.inputs.back(), options_.limits);
                 if (!call.inputs.back().is_tensor()) charge_copy(call.inputs.back());
               }
               evaluate(call, frame);
               for (std::size_t k = 0; k < node.outputs.size(); ++k) {
                 if (call.wanted[k]) frame.hold(node.outputs[k], std::move(call.outputs[k]));
               }
             } catch (const Error&) {
               throw;
             } catch (const std::bad_alloc&) {
               throw Error(ErrorKind::out_of_memory, "there is not enough memory");
             } catch (const std::length_error&) {
               throw Error(ErrorKind::out_of_memory, "a list is longer than memory can be");
             } catch (const std::exception& error) {
               throw Error(ErrorKind::internal, std::string("a kernel failed: ") + error.what());
             }
           });
  }

  // Computes the outputs of a call whose inputs are set.
  void evaluate(Call& call, Frame& frame) {
    const Node& node = *call.node;
    call.outputs.resize(node.outputs.size());
    for (const std::string& name : node.outputs) call.wanted.push_back(!name.empty());
    if (node.function) {
      run_function(call, frame);
    } else {
      check_inputs(call);
      std::map<const Graph*, Index> runs;
      call.run_graph = [&](const Graph& graph, std::vector<Value> inputs) {
        return run_subgraph(graph, std::move(inputs), node, frame, runs[&graph]++);
      };
      if (const CustomOperator* custom = custom_operator(*node.signature)) {
        custom->compute(call);
      } else {
        const ReferenceEntry* entry = find_entry(*node.signature);
        if (entry == nullptr || entry->native == nullptr)
          BUG("a node without a kernel got as far as running");
        entry->native(call);
      }
      call.run_graph = nullptr;
    }
    if (call.outputs.size() != node.outputs.size()) BUG("a kernel changed the number of outputs");
    Types made(call.outputs.size());
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (!call.wanted[k]) continue;
      if (call.outputs[k].absent()) BUG("a kernel left out an output that is wanted");
      check_value(call.outputs[k], options_.limits);
      charge_texts(call.outputs[k]);
      made[k] = call.outputs[k].type();
    }
    if (!node.function) hold_output_types(*call.signature, made, refuse);
    if (options_.change) options_.change(call);
    if (options_.tap) options_.tap(call, path_of(frame));
  }

 private:
  std::vector<Value> run_graph(Frame& frame) {
    const Graph& graph = *frame.graph;
    run_nodes(graph.nodes, names_of(graph.inputs), names_of(graph.outputs), frame);
    std::vector<Value> outputs;
    for (const ValueInfo& output : graph.outputs) {
      outputs.push_back(
          placed([&] { return "output '" + output.name + "', " + graph_place(path_of(frame)); },
                 [&] { return look_up(output.name, frame); }));
    }
    return outputs;
  }

  void run_nodes(const std::vector<Node>& nodes, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, Frame& frame) {
    auto found = lifetimes_.find(&nodes);
    if (found == lifetimes_.end()) {
      found = lifetimes_.emplace(&nodes, plan_lifetimes(nodes, inputs, outputs)).first;
    }
    const Lifetimes& dead = found->second;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      run_node(nodes[k], frame);
      for (const std::string& name : dead[k]) frame.drop(name);
    }
  }

  Value look_up(const std::string& name, const Frame& frame) {
    for (const Frame* at = &frame; at != nullptr; at = at->outer) {
      if (const auto found = at->values.find(name); found != at->values.end()) return found->second;
      if (at->graph == nullptr) continue;
      const auto& initializers = at->graph->initializers;
      if (const auto found = initializers.find(name); found != initializers.end())
        return found->second;
      const auto& sparse = at->graph->sparse_initializers;
      if (const auto found = sparse.find(name); found != sparse.end())
        return dense_once(found->second);
    }
    throw breach("model/undefined-name", "the value '" + name + "' is not defined");
  }

  Tensor dense_once(const SparseTensor& sparse) {
    auto found = dense_.find(&sparse);
    if (found == dense_.end()) found = dense_.emplace(&sparse, dense(sparse)).first;
    return found->second;
  }

  void open(Frame& frame, const Node& holder, const Frame& caller) const {
    frame.caller = &caller;
    frame.holder = &holder;
    frame.depth = caller.depth + 1;
    const int most = options_.limits.graph_depth;
    if (frame.depth > most) throw over_limit("graph_depth", frame.depth, most);
  }

  std::vector<Value> run_subgraph(const Graph& graph, std::vector<Value> inputs, const Node& holder,
                                  const Frame& caller, Index iteration) {
    const Index most = options_.limits.loop_iterations;
    if (iteration >= most) throw over_limit("loop_iterations", iteration + 1, most);
    Frame frame;
    open(frame, holder, caller);
    frame.outer = &caller;
    frame.graph = &graph;
    frame.attributes = caller.attributes;
    for (const Subgraph& inner : subgraphs_of(holder)) {
      if (inner.graph.get() == &graph) frame.name = inner.name;
    }
    if (holder.op != "If")
      frame.name += "#" + std::to_string(iteration);  // only If runs a graph at most once
    return placed([&] { return graph_place(path_of(frame)); },
                  [&] {
                    if (inputs.size() > graph.inputs.size()) {
                      throw breach("model/input-count",
                                   "the graph has " + std::to_string(graph.inputs.size()) +
                                       " inputs, but is given " + std::to_string(inputs.size()));
                    }
                    for (std::size_t k = 0; k < inputs.size(); ++k) {
                      if (!inputs[k].absent())
                        frame.values.emplace(graph.inputs[k].name,
                                             as_declared(graph.inputs[k], std::move(inputs[k])));
                    }
                    return run_graph(frame);
                  });
  }

  void run_function(Call& call, const Frame& caller) {
    const Node& node = *call.node;
    const Function& function = *node.function;
    const Attributes attributes = attributes_of_call(node);
    Frame frame;
    open(frame, node, caller);
    frame.attributes = &attributes;
    for (std::size_t k = 0; k < function.inputs.size(); ++k) {
      // Inputs that the caller omits are absent inside too.
      frame.values.emplace(function.inputs[k], k < call.inputs.size() ? call.inputs[k] : Value());
    }
    run_nodes(function.nodes, function.inputs, function.outputs, frame);
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.wanted[k]) call.outputs[k] = look_up(function.outputs[k], frame);
    }
  }

  const RunOptions& options_;
  std::unordered_map<const std::vector<Node>*, Lifetimes> lifetimes_;
  std::unordered_map<const SparseTensor*, Tensor> dense_;
};

}  // namespace

std::map<std::string, Value> run(const Model& model, std::map<std::string, Value> feeds,
                                 const RunOptions& options) {
  const LimitsScope scope(options.limits);
  const Budget budget(options.limits, options.cancel, options.account);
  refuse_what_cannot_run(model);
  check_feeds(model.graph, feeds);
  std::vector<Value> outputs = Runner(options).run_main(model.graph, std::move(feeds));
  std::map<std::string, Value> named;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    named.emplace(model.graph.outputs[k].name, std::move(outputs[k]));
  }
  return named;
}

std::vector<Value> run_node(const Node& node,
                            const std::function<Value(const std::string& name)>& look_up,
                            const RunOptions& options) {
  const LimitsScope scope(options.limits);
  Frame frame;
  for (const std::string& name : names_used(node)) frame.values.emplace(name, look_up(name));
  Runner(options).run_node(node, frame);
  std::vector<Value> outputs;
  for (const std::string& name : node.outputs) {
    outputs.push_back(name.empty() ? Value() : std::move(frame.values[name]));
  }
  return outputs;
}

std::vector<Value> evaluate(const Signature& signature,
                            const std::map<std::string, Attribute>& attributes,
                            std::vector<Value> inputs, Index outputs) {
  Node node;
  node.domain = signature.domain;
  node.op = signature.op;
  node.attributes = attributes;
  node.signature = &signature;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    node.inputs.push_back(inputs[k].absent() ? "" : "input_" + std::to_string(k));
  }
  for (Index k = 0; k < outputs; ++k) node.outputs.push_back("output_" + std::to_string(k));
  Model model;
  model.graph.nodes.push_back(std::move(node));
  refuse_what_cannot_run(model);

  const RunOptions options{current_limits(), {}};
  const ScratchScope scratch;
  Call call;
  call.node = &model.graph.nodes.front();
  call.signature = &signature;
  call.inputs = std::move(inputs);
  Frame frame;
  frame.graph = &model.graph;
  placed([&] { return place_of(*call.node, ""); }, [&] { Runner(options).evaluate(call, frame); });
  return std::move(call.outputs);
}

}  // namespace touchstone
