// Family `bodies`: nodes with subgraphs run as the reference does, but each subgraph on plans of
// its own. If a subgraph fails, the reference runs the node, and raises the error with its place.
#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "model/check_node.h"
#include "model/rules.h"
#include "model/scopes.h"
#include "optimized/lowering/bodies.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/trips.h"
#include "reference/feeds.h"
#include "reference/held_bytes.h"
#include "reference/registry.h"

namespace touchstone::optimized {
namespace {

constexpr std::string_view operators[] = {"If", "Loop", "Scan", "SequenceMap"};

void refuse(Error error) { throw error; }

class Control : public TensorStep {
 public:
  Control(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)) {
    const Node& n = *graph.node(node).node;
    for (const Subgraph& inner : subgraphs_of(n)) {
      bodies_.try_emplace(inner.graph.get(), graph, *inner.graph, n.op != "If");
      depth_ = std::max(depth_, depth_of(*inner.graph));
    }
    for (const std::string& name : names_used(n)) used_.push_back(graph.find(name));
    const auto body_of = [&](const char* attribute) {
      return &bodies_.at(
          std::get<std::shared_ptr<const Graph>>(n.attributes.at(attribute).is).get());
    };
    if (n.op == "If") yes_ = body_of("then_branch"), no_ = body_of("else_branch");
    if (n.op == "Loop") trips_ = run_loop;
    if (n.op == "Scan") trips_ = run_scan;
    kernel = "plans of subgraphs";
    kernel_class = KernelClass::row_kernel;
  }

  std::vector<std::pair<std::string, Plan*>> plans() override {
    std::vector<std::pair<std::string, Plan*>> all;
    for (const Subgraph& inner : subgraphs_of(node())) {
      for (Plan* const plan : bodies_.at(inner.graph.get()).plans())
        all.emplace_back(inner.name, plan);
    }
    return all;
  }

  void run(RunState& state) override {
    const Released released{bodies_};
    try {
      run_bodies(state);
    } catch (const BodyFailed&) {
      run_on_reference(state);
      for (std::size_t k = 0; k < fact().outputs.size(); ++k) {
        if (has_output(k)) keep(state, k);
      }
    }
  }

 private:
  using Bodies = std::map<const Graph*, BodyPlans>;
  // Releases the values of a run at its end, also if an error leaves it.
  struct Released {
    Bodies& bodies;
    ~Released() {
      for (auto& [graph, body] : bodies) body.begin();
    }
  };

  Value& held(const RunState& state, Index value) const {
    return state.values[static_cast<std::size_t>(value)];
  }

  void run_bodies(RunState& state) {
    Call call;
    call.node = &node();
    call.signature = node().signature;
    Types types;
    for (const Index input : fact().inputs) {
      call.inputs.push_back(input == no_value ? Value() : held(state, input));
      Value& value = call.inputs.back();
      check_value(value, state.limits);
      types.push_back(value.absent() ? std::nullopt : std::optional(value.type()));
      if (value.absent() || value.is_tensor()) continue;
      charge_copy(value);
    }
    if (types != input_types_) {
      bind_types(node(), types, refuse);
      input_types_ = types;
    }
    call.outputs.resize(fact().outputs.size());
    for (const Index output : fact().outputs) call.wanted.push_back(output != no_value);
    run_bodies(call, state);
    types.assign(call.outputs.size(), std::nullopt);
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (!call.wanted[k]) continue;
      check_value(call.outputs[k], state.limits);
      charge_texts(call.outputs[k]);
      types[k] = call.outputs[k].type();
    }
    if (types != output_types_) {
      hold_output_types(*node().signature, types, refuse);
      output_types_ = types;
    }
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (!call.wanted[k]) continue;
      put(state, k, std::move(call.outputs[k]));
      keep(state, k);
    }
  }

  void run_bodies(Call& call, RunState& state) {
    if (yes_ != nullptr) return run_branch(call, state);
    if (trips_ != nullptr) {
      BodyPlans& body = bodies_.begin()->second;
      const RunBody run = [&](std::vector<Value>& outputs) { run_body(body, outputs, state); };
      if (trips_(call, body, run)) return;
    }
    call.run_graph = [&](const Graph& graph, std::vector<Value> inputs) {
      BodyPlans& body = bodies_.at(&graph);
      if (inputs.size() != graph.inputs.size()) throw BodyFailed{};
      std::move(inputs.begin(), inputs.end(), body.feeds().begin());
      std::vector<Value> outputs;
      run_body(body, outputs, state);
      return outputs;
    };
    find_entry(*node().signature)->native(call);
  }

  void run_branch(Call& call, RunState& state) {
    std::vector<Value> outputs;
    run_body(one_element<bool>(call.inputs[0], Type::boolean) ? *yes_ : *no_, outputs, state);
    if (outputs.size() < call.outputs.size()) throw BodyFailed{};
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.wanted[k]) call.outputs[k] = std::move(outputs[k]);
    }
  }

  void run_body(BodyPlans& body, std::vector<Value>& outputs, RunState& state) {
    charge_work(1);
    check_budget();  // a plan without steps looks at no budget
    const Index most = state.limits.loop_iterations;
    if (body.runs() >= most) throw over_limit("loop_iterations", body.runs() + 1, most);
    if (depth_ >= state.limits.graph_depth) throw BodyFailed{};
    for (std::size_t k = 0; k < body.body().inputs.size(); ++k) {
      if (body.feeds()[k].absent()) throw BodyFailed{};
    }
    try {
      body.run(outputs, state);
    } catch (const Error& error) {
      if (error.kind == ErrorKind::internal) throw;
      throw BodyFailed{};
    }
  }

  // Copies what shares memory with a value that the node reads, which later steps may overwrite.
  void keep(RunState& state, std::size_t k) const {
    if (is_placed(k)) return;
    Value& value = held(state, fact().outputs[k]);
    value = kept(state, value);
  }
  Value kept(const RunState& state, const Value& value) const {
    if (value.is_tensor()) {
      const Tensor& tensor = value.tensor();
      if (tensor.type() == Type::string || !is_shared(state, tensor)) return value;
      Tensor made(tensor.type(), tensor.shape());
      std::memcpy(made.bytes().data(), tensor.bytes().data(), made.bytes().size());
      return made;
    }
    if (const auto* sequence = std::get_if<Sequence>(&value.is)) {
      Sequence made{sequence->inner, {}};
      for (const Value& item : sequence->items) made.items.push_back(kept(state, item));
      return made;
    }
    if (const auto* optional = std::get_if<Optional>(&value.is)) {
      Optional made{optional->inner, nullptr};
      if (optional->item) made.item = std::make_shared<const Value>(kept(state, *optional->item));
      return made;
    }
    return value;
  }
  bool is_shared(const RunState& state, const Tensor& tensor) const {
    for (const Index read : used_) {
      const Value& value = held(state, read);
      if (!value.is_tensor() || value.tensor().type() == Type::string) continue;
      const std::span<const std::byte> bytes = value.tensor().bytes();
      const std::byte* const first = tensor.bytes().data();
      if (!bytes.empty() && first >= bytes.data() && first < bytes.data() + bytes.size())
        return true;
    }
    return false;
  }

  Bodies bodies_;
  BodyPlans *yes_ = nullptr, *no_ = nullptr;  // of a node that runs one of two graphs
  Types input_types_, output_types_;          // that fit the signature
  int depth_ = 0;                             // of the deepest subgraph
  // Runs the only body many times; null: the reference kernel does.
  bool (*trips_)(Call& call, BodyPlans& body, const RunBody& run) = nullptr;
  std::vector<Index> used_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const Node& n = *graph.node(node).node;
  if (!n.signature->domain.empty()) return false;
  if (std::find(std::begin(operators), std::end(operators), n.signature->op) == std::end(operators))
    return false;
  const ReferenceEntry* const entry = find_entry(*n.signature);
  if (entry == nullptr || entry->native == nullptr) return false;
  for (const std::string& name : names_used(n)) {
    if (graph.find(name) == no_value) return false;
  }
  for (const Subgraph& inner : subgraphs_of(n)) {
    // The interpreter wraps what such an input is given.
    for (const ValueInfo& input : inner.graph->inputs) {
      if (input.type && input.type->kind == ValueType::Kind::optional) return false;
    }
  }
  return true;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Control>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily bodies_family{"bodies", KernelClass::row_kernel, takes, step};

}  // namespace touchstone::optimized
