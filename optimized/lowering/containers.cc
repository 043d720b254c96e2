// Family `containers`: sequences and optionals are made, taken apart and changed. Tensors are
// handed on; only one in the plan's memory is copied, when a container takes it.
#include <algorithm>
#include <array>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/plan/plan_memory.h"
#include "reference/held_bytes.h"
#include "reference/interpreter.h"

namespace touchstone::optimized {
namespace {

constexpr Index items_a_step = 4;  // of a list that are moved by one place

class Containers : public TensorStep {
 public:
  Containers(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), graph_(graph) {
    kernel = "view";
    kernel_class = KernelClass::view;
  }
  void read_last(const std::vector<Index>& values) override {
    const std::vector<Index>& inputs = fact().inputs;
    for (const Index value : values) {
      const std::optional<ValueType>& type = graph_.value(value).type;
      const bool is_tensor = !type || type->kind == ValueType::Kind::tensor;
      if (!is_tensor && std::count(inputs.begin(), inputs.end(), value) == 1)
        last_.push_back(value);
    }
  }
  void run(RunState& state) override {
    if (!handed_on(state)) run_on_reference(state);
  }

 protected:
  // Returns false, with all inputs as they were, for a call that the reference refuses.
  virtual bool handed_on(RunState& state) = 0;

  Value& value(const RunState& state, std::size_t k) const {
    return state.values[static_cast<std::size_t>(fact().inputs[k])];
  }
  // Returns input k, a list moved if no later step reads it.
  Value taken(RunState& state, std::size_t k) const {
    Value& from = value(state, k);
    if (std::find(last_.begin(), last_.end(), fact().inputs[k]) != last_.end())
      return std::move(from);
    charge_copy(from);
    return from;
  }
  // Returns input k as a member of a container, outside of the plan's memory.
  Value member(RunState& state, std::size_t k) const {
    const AnalyzedValue& input = graph_.value(fact().inputs[k]);
    if (!input.placeable() || input.constant) return taken(state, k);
    const Value& from = value(state, k);
    charge_work(1 + static_cast<Index>(from.tensor().bytes().size()) / bytes_a_step);
    return detached(from, nullptr);
  }
  // Returns the place that input k names in a sequence of `length`, counted from the end if it is
  // negative; nullopt if it is not one of `places`.
  std::optional<Index> place(const RunState& state, std::size_t k, Index length,
                             Index places) const {
    const auto* position = std::get_if<Tensor>(&value(state, k).is);
    if (position == nullptr || position->size() != 1) return std::nullopt;
    const Index named = position->type() == Type::int64   ? position->data<Index>()[0]
                        : position->type() == Type::int32 ? position->data<std::int32_t>()[0]
                                                          : places;
    if (named < -length || named >= places) return std::nullopt;
    return named < 0 ? named + length : named;
  }

 private:
  static constexpr Index bytes_a_step = 16;

  const AnalyzedGraph& graph_;
  std::vector<Index> last_;  // inputs that no later step reads
};

// Steps whose first input is a sequence.
class OfSequence : public Containers {
 protected:
  using Containers::Containers;
  virtual bool handed_on(RunState& state, const Sequence& from, Index length) = 0;

 private:
  bool handed_on(RunState& state) final {
    const auto* from = std::get_if<Sequence>(&value(state, 0).is);
    return from != nullptr && handed_on(state, *from, static_cast<Index>(from->items.size()));
  }
};

class SequenceConstruct : public Containers {
  using Containers::Containers;
  bool handed_on(RunState& state) override {
    const std::size_t inputs = fact().inputs.size();
    for (std::size_t k = 0; k < inputs; ++k) {
      if (!has_input(k) || !value(state, k).is_tensor()) return false;
    }
    const ValueType inner = value(state, 0).type();
    for (std::size_t k = 1; k < inputs; ++k) {
      if (!(value(state, k).type() == inner)) return false;
    }
    Sequence made{inner, {}};
    charge_scratch(static_cast<Index>(inputs * sizeof(Value)));
    for (std::size_t k = 0; k < inputs; ++k) made.items.push_back(member(state, k));
    put(state, 0, std::move(made));
    return true;
  }
};

class SequenceLength : public OfSequence {
  using OfSequence::OfSequence;
  bool handed_on(RunState& state, const Sequence&, Index length) override {
    output(state, 0, Type::int64, Shape()).data<Index>()[0] = length;
    return true;
  }
};

class SequenceAt : public OfSequence {
  using OfSequence::OfSequence;
  bool handed_on(RunState& state, const Sequence& from, Index length) override {
    const std::optional<Index> at = place(state, 1, length, length);
    if (!at) return false;
    put(state, 0, from.items[static_cast<std::size_t>(*at)]);
    return true;
  }
};

class SequenceInsert : public OfSequence {
  using OfSequence::OfSequence;
  bool handed_on(RunState& state, const Sequence& from, Index length) override {
    if (!(from.inner == value(state, 1).type())) return false;
    const std::optional<Index> at =
        has_input(2) ? place(state, 2, length, length + 1) : std::optional(length);
    if (!at) return false;
    charge_scratch((length + 1) * static_cast<Index>(sizeof(Value)));
    charge_work((length - *at) / items_a_step);
    Value item = member(state, 1), made = taken(state, 0);
    std::vector<Value>& items = std::get<Sequence>(made.is).items;
    items.insert(items.begin() + *at, std::move(item));
    put(state, 0, std::move(made));
    return true;
  }
};

class SequenceErase : public OfSequence {
  using OfSequence::OfSequence;
  bool handed_on(RunState& state, const Sequence&, Index length) override {
    const std::optional<Index> at =
        has_input(1) ? place(state, 1, length, length) : std::optional(length - 1);
    if (!at || *at < 0) return false;
    charge_work((length - *at) / items_a_step);
    Value made = taken(state, 0);
    std::vector<Value>& items = std::get<Sequence>(made.is).items;
    items.erase(items.begin() + *at);
    put(state, 0, std::move(made));
    return true;
  }
};

class OptionalStep : public Containers {
 protected:
  using Containers::Containers;
  // Returns the value that input 0 holds, or is; null for none.
  const Value* item(const RunState& state) const {
    if (!has_input(0) || value(state, 0).absent()) return nullptr;
    const auto* optional = std::get_if<Optional>(&value(state, 0).is);
    return optional ? optional->item.get() : &value(state, 0);
  }
};

class OptionalMake : public OptionalStep {
  using OptionalStep::OptionalStep;
  bool handed_on(RunState& state) override {
    const auto& attributes = node().attributes;
    const auto at = attributes.find("type");
    const ValueType* const named =
        at == attributes.end() ? nullptr : std::get_if<ValueType>(&at->second.is);
    const Value* const from = item(state);
    if (from == nullptr) {
      if (named == nullptr || has_input(0)) return false;
      put(state, 0, Optional{*named, nullptr});
      return true;
    }
    ValueType inner = from->type();
    if (from != &value(state, 0) || (named != nullptr && !(*named == inner))) return false;
    put(state, 0, Optional{std::move(inner), std::make_shared<const Value>(member(state, 0))});
    return true;
  }
};

class OptionalHas : public OptionalStep {
  using OptionalStep::OptionalStep;
  bool handed_on(RunState& state) override {
    const bool has = item(state) != nullptr;
    output(state, 0, Type::boolean, Shape()).data<bool>()[0] = has;
    return true;
  }
};

class OptionalGet : public OptionalStep {
  using OptionalStep::OptionalStep;
  bool handed_on(RunState& state) override {
    const Value* const from = item(state);
    if (from == nullptr) return false;
    if (from == &value(state, 0)) {
      put(state, 0, from->is_tensor() ? member(state, 0) : taken(state, 0));
      return true;
    }
    charge_copy(*from);
    put(state, 0, Value(*from));
    return true;
  }
};

struct Row {
  std::string_view op;
  MakeStep make;
};
constexpr std::array<Row, 8> rows{{{"Optional", make_step<OptionalMake>},
                                   {"OptionalGetElement", make_step<OptionalGet>},
                                   {"OptionalHasElement", make_step<OptionalHas>},
                                   {"SequenceAt", make_step<SequenceAt>},
                                   {"SequenceConstruct", make_step<SequenceConstruct>},
                                   {"SequenceErase", make_step<SequenceErase>},
                                   {"SequenceInsert", make_step<SequenceInsert>},
                                   {"SequenceLength", make_step<SequenceLength>}}};

MakeStep make_of(const Signature& signature) {
  if (!signature.domain.empty()) return nullptr;
  const auto* const row = std::find_if(rows.begin(), rows.end(),
                                       [&](const Row& each) { return each.op == signature.op; });
  return row == rows.end() ? nullptr : row->make;
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const bool made = fact.outputs.size() == 1 && fact.outputs[0] != no_value;
  return made && make_of(*fact.node->signature) != nullptr;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return make_of(*graph.node(node).node->signature)(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily containers_family{"containers", KernelClass::view, takes, step};

}  // namespace touchstone::optimized
