// Adds values and nodes, and takes them back. Nodes run one by one on the reference kernels.
#include "fuzz/graph/graph_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/budget.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "model/check_node.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_elements = 4096;
constexpr Index max_work = 400'000;  // elementary operations of one node in one run
constexpr long double large = 30, too_large = 1e4L;
constexpr std::string_view function_domain = "local";

// Returns the largest magnitude; infinity if an element is not finite.
long double magnitude(const Tensor& tensor) {
  long double most = 0;
  if (tensor.type() == Type::string || !facts(tensor.type()).is_float) return most;
  for (Index k = 0; k < tensor.size(); ++k) {
    const long double x = number_at(tensor, k);
    if (!std::isfinite(x)) return std::numeric_limits<long double>::infinity();
    most = std::max(most, std::fabs(x));
  }
  return most;
}

void require_small(const Value& value) {
  if (value.is_tensor()) {
    if (value.tensor().size() > max_elements)
      throw Error(ErrorKind::limit, "a value has too many elements");
  } else if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
    if (sequence->items.size() > 64) throw Error(ErrorKind::limit, "a sequence has too many items");
    for (const Value& item : sequence->items) require_small(item);
  }
}

}  // namespace

Type KnownValue::element() const {
  return is_tensor() ? at.front().tensor().type() : Type::undefined;
}

std::vector<Index> KnownValue::extents(Index axis) const {
  std::vector<Index> sizes;
  for (const Value& one : at) sizes.push_back(one.tensor().shape()[axis]);
  return sizes;
}

bool KnownValue::same_rank_in_all_runs() const {
  return std::all_of(at.begin(), at.end(), [&](const Value& one) {
    return one.is_tensor() && one.tensor().shape().size() == rank();
  });
}

bool KnownValue::same_shapes(const KnownValue& other) const {
  if (!is_tensor() || !other.is_tensor()) return false;
  for (std::size_t run = 0; run < at.size(); ++run) {
    if (!(at[run].tensor().shape() == other.at[run].tensor().shape())) return false;
  }
  return true;
}

GraphBuilder::GraphBuilder(std::size_t runs, std::map<std::string, Index> opsets)
    : runs_(runs), opsets_(std::move(opsets)), frames_(1) {}

Limits GraphBuilder::limits() {
  Limits limits = Limits::fuzz();
  limits.elements = Index{1} << 14;
  limits.milliseconds = 0;  // the same case on every machine, however slow
  limits.memory = Index{1} << 29;
  limits.work = 400'000'000;
  return limits;
}

const Signature* GraphBuilder::signature(std::string_view domain, std::string_view op) const {
  const auto opset = opsets_.find(std::string(domain));
  return opset == opsets_.end() ? nullptr : find_signature(domain, op, opset->second);
}

GraphBuilder::Mark GraphBuilder::mark() const {
  Mark made{frames_.size(), values_.size(), inputs_.size(), functions_.size(), node_count_, {}, {}};
  for (const Frame& frame : frames_) {
    made.frame_nodes.push_back(frame.graph.nodes.size());
    made.frame_initializers.push_back(frame.initializers.size());
  }
  return made;
}

void GraphBuilder::drop_values(std::size_t count) {
  for (std::size_t id = count; id < values_.size(); ++id) ids_.erase(values_[id].name);
  values_.resize(count);
}

void GraphBuilder::roll_back(const Mark& mark) {
  frames_.resize(mark.frames);
  for (std::size_t k = 0; k < mark.frames; ++k) {
    Frame& frame = frames_[k];
    for (std::size_t n = mark.frame_nodes[k]; n < frame.graph.nodes.size(); ++n) {
      for (const std::string& name : frame.graph.nodes[n].inputs) {
        if (const auto id = ids_.find(name); id != ids_.end()) --values_[id->second].uses;
      }
    }
    frame.graph.nodes.resize(mark.frame_nodes[k]);
    for (std::size_t n = mark.frame_initializers[k]; n < frame.initializers.size(); ++n)
      frame.graph.initializers.erase(frame.initializers[n]);
    frame.initializers.resize(mark.frame_initializers[k]);
  }
  drop_values(mark.values);
  for (std::size_t n = mark.inputs; n < inputs_.size(); ++n)
    frames_.front().graph.inputs.pop_back();
  inputs_.resize(mark.inputs);
  functions_.resize(mark.functions);
  node_count_ = mark.nodes;
}

std::string GraphBuilder::fresh_name(const char* stem) { return stem + std::to_string(names_++); }

ValueId GraphBuilder::hold(KnownValue value) {
  for (const Value& one : value.at) {
    require_small(one);
    if (!one.is_tensor()) continue;
    const long double most = magnitude(one.tensor());
    value.large = value.large || most > large;
    value.ill = value.ill || most > too_large;
  }
  ids_[value.name] = values_.size();
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

ValueId GraphBuilder::add_input(std::vector<Value> by_run, std::optional<std::vector<Dim>> dims) {
  if (frames_.size() > 1) throw Error(ErrorKind::unsupported, "only the main graph has fed inputs");
  const std::string name = fresh_name("in");
  frames_.front().graph.inputs.push_back({name, by_run.front().type(), std::move(dims)});
  inputs_.push_back({name, by_run});
  return hold({.name = name, .at = std::move(by_run), .made_by = {}});
}

ValueId GraphBuilder::add_initializer(Tensor tensor) {
  if (in_function()) throw Error(ErrorKind::unsupported, "a function holds no initializers");
  const std::string name = fresh_name("c");
  frames_.back().graph.initializers.emplace(name, tensor);
  frames_.back().initializers.push_back(name);
  return hold({.name = name,
               .at = std::vector<Value>(runs_, Value(std::move(tensor))),
               .made_by = {},
               .constant = true});
}

std::vector<ValueId> GraphBuilder::add_node(Node node, const std::vector<ValueId>& inputs,
                                            const std::vector<bool>& outputs) {
  Graph& graph = frames_.back().graph;
  node.index = static_cast<Index>(graph.nodes.size());
  node.inputs.clear();
  for (const ValueId id : inputs) node.inputs.push_back(id == omitted ? "" : values_[id].name);
  node.outputs.clear();
  for (const bool named : outputs) node.outputs.push_back(named ? fresh_name("v") : "");
  if (node.signature) {
    node.domain = node.signature->domain;
    check_node(node, nullptr, [](Error error) { throw error; });
  }
  node.name = "n_" + (node.outputs.empty() ? std::string() : node.outputs.front());

  std::vector<KnownValue> made(outputs.size());
  const RunOptions options{.limits = limits(), .tap = {}};
  for (std::size_t run = 0; run < runs_; ++run) {
    const Budget budget("work", max_work);
    const auto look_up = [&](const std::string& name) -> Value {
      const auto id = ids_.find(name);
      if (id == ids_.end()) throw Error(ErrorKind::internal, "no value is named '" + name + "'");
      return values_[id->second].at[run];
    };
    std::vector<Value> values = run_node(node, look_up, options);
    for (std::size_t k = 0; k < outputs.size(); ++k) made[k].at.push_back(std::move(values[k]));
  }
  std::vector<ValueId> ids;
  const std::size_t before = values_.size();
  try {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      ids.push_back(omitted);
      if (!outputs[k]) continue;
      made[k].name = node.outputs[k];
      made[k].made_by = node.op;
      const auto differs = [&](const Value& one) { return one.type() != made[k].at[0].type(); };
      if (std::any_of(made[k].at.begin(), made[k].at.end(), differs))
        throw Error(ErrorKind::unsupported, "a value has another type in another run");
      ids.back() = hold(std::move(made[k]));
    }
  } catch (const Error&) {
    drop_values(before);
    throw;
  }
  for (const ValueId id : inputs) {
    if (id != omitted) ++values_[id].uses;
  }
  graph.nodes.push_back(std::move(node));
  ++node_count_;
  return ids;
}

std::vector<ValueId> GraphBuilder::open_body(const std::vector<ValueId>& first) {
  Frame frame;
  frame.values = values_.size();
  frame.graph.name = fresh_name("body");
  frames_.push_back(std::move(frame));
  std::vector<ValueId> ids;
  for (const ValueId id : first) {
    KnownValue input{.name = fresh_name("b"), .at = values_[id].at, .made_by = {}};
    frames_.back().graph.inputs.push_back({input.name, input.at.front().type(), {}});
    ids.push_back(hold(std::move(input)));
  }
  return ids;
}

std::shared_ptr<const Graph> GraphBuilder::close_body(const std::vector<ValueId>& outputs) {
  Frame frame = std::move(frames_.back());
  for (const ValueId id : outputs) {
    if (id < frame.values) throw Error(ErrorKind::unsupported, "a body returns an outer value");
    frame.graph.outputs.push_back({values_[id].name, values_[id].at.front().type(), {}});
  }
  frames_.pop_back();
  drop_values(frame.values);
  return std::make_shared<const Graph>(std::move(frame.graph));
}

std::vector<ValueId> GraphBuilder::open_function(const std::vector<ValueId>& first) {
  std::vector<ValueId> ids = open_body(first);
  frames_.back().is_function = true;
  return ids;
}

std::shared_ptr<Function> GraphBuilder::close_function(const std::vector<ValueId>& outputs) {
  const std::shared_ptr<const Graph> body = close_body(outputs);
  auto function = std::make_shared<Function>();
  function->name = fresh_name("function");
  function->domain = function_domain;
  for (const ValueInfo& input : body->inputs) function->inputs.push_back(input.name);
  for (const ValueInfo& output : body->outputs) function->outputs.push_back(output.name);
  function->nodes = body->nodes;
  function->opsets = opsets_;
  functions_.push_back(function);
  return function;
}

Model GraphBuilder::model(const std::vector<ValueId>& outputs) const {
  Model made;
  made.ir_version = 10;
  made.producer = "touchstone fuzz";
  made.opsets = opsets_;
  made.functions = functions_;
  if (!functions_.empty()) made.opsets[std::string(function_domain)] = 1;
  made.graph = frames_.front().graph;
  made.graph.name = "graph";
  for (const ValueId id : outputs)
    made.graph.outputs.push_back({values_[id].name, values_[id].at.front().type(), {}});
  return made;
}

std::vector<std::map<std::string, Value>> GraphBuilder::feeds() const {
  std::vector<std::map<std::string, Value>> by_run(runs_);
  for (const Input& input : inputs_) {
    for (std::size_t run = 0; run < runs_; ++run) by_run[run][input.name] = input.by_run[run];
  }
  return by_run;
}

}  // namespace touchstone::fuzz
