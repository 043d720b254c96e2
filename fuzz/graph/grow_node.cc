// Single nodes from templates. A template's ports take existing values: as they are, or adapted to
// the type and shape of the template. What remains becomes inputs and initializers.
#include <fmt/format.h>

#include <algorithm>

#include "core/numbers/convert.h"
#include "fuzz/graph/graph_grower.h"

namespace touchstone::fuzz {
namespace {

constexpr const char* seed_attribute = "seed_of_data";

bool is_number(Type type) {
  return type != Type::undefined && type != Type::string && !facts(type).is_complex;
}

// Rotates the elements of a float tensor, so that each run has data of its own.
Value rotated(const Value& value, Index by) {
  if (!value.is_tensor()) return value;
  const Tensor& from = value.tensor();
  if (from.size() < 2 || from.type() == Type::string || !facts(from.type()).is_float) return value;
  Tensor made(from.type(), from.shape());
  for (Index k = 0; k < from.size(); ++k) set_code(made, k, code_at(from, (k + by) % from.size()));
  return made;
}

std::vector<bool> named_outputs(const suites::Line& line) {
  std::vector<bool> named;
  for (const char c : suites::output_mask(line)) named.push_back(c == 'x');
  return named;
}

}  // namespace

suites::Line GraphGrower::parse_seeded(const std::string& text) {
  suites::Line line =
      suites::parse_line(fmt::format("{} {}={}", text, seed_attribute, random_.bits() >> 12U));
  line.attributes.erase(seed_attribute);
  return line;
}

const Signature* GraphGrower::draw_signature() {
  const std::vector<NodeTemplates::Operator>& all = library_.templates.operators;
  if (!options_.only_op.empty()) {
    for (const NodeTemplates::Operator& one : all) {
      if (one.op == options_.only_op) return builder_.signature(one.domain, one.op);
    }
    return nullptr;
  }
  const NodeTemplates::Operator& drawn =
      all[static_cast<std::size_t>(random_.below(static_cast<Index>(all.size())))];
  return builder_.signature(drawn.domain, drawn.op);
}

bool GraphGrower::grow_node() {
  const Signature* const signature = draw_signature();
  if (!signature || signature->deprecated) return false;
  if (signature->kind == "random" && options_.only_op.empty() && !random_.one_in(8)) return false;
  const auto lines = library_.templates.lines.find(signature);
  if (lines == library_.templates.lines.end()) return false;
  const bool floats = !lines->second.floats.empty() && random_.below(3) < 2;
  return grow_template(*signature, random_.pick(floats ? lines->second.floats : lines->second.all));
}

bool GraphGrower::grow_template(const Signature& signature, const std::string& text) {
  const std::string drawn = random_.one_in(40) ? text : with_tame_data(text);
  suites::Line line;
  if (!attempt([&] { line = parse_seeded(drawn); })) return false;
  const bool reads = std::any_of(line.inputs.begin(), line.inputs.end(),
                                 [](const suites::LinePort& port) { return !port.value.absent(); });
  for (const Fit fit : {Fit::as_is, Fit::adapted, Fit::fresh}) {
    if (fit == Fit::fresh && reads && options_.only_op.empty() && !random_.one_in(3)) return false;
    if (!reads && options_.only_op.empty() && !random_.one_in(4)) return false;
    if (attempt([&] { place(line, fit, std::nullopt); })) {
      covered_.push_back(fmt::format("template/{}", signature.op));
      return true;
    }
  }
  return false;
}

// Adds the node of a line. `first`: the value that its first port reads.
std::vector<ValueId> GraphGrower::place(const suites::Line& line, Fit fit,
                                        std::optional<ValueId> first) {
  std::vector<ValueId> inputs;
  bool connected = fit == Fit::fresh;
  for (std::size_t port = 0; port < line.inputs.size(); ++port) {
    const Value& value = line.inputs[port].value;
    if (value.absent()) {
      inputs.push_back(GraphBuilder::omitted);
    } else if (first && port == 0) {
      inputs.push_back(*first);
      connected = true;
    } else {
      const std::size_t before = builder_.value_count();
      const ValueId id =
          fit == Fit::fresh ? fill_port(line.inputs[port]) : connect(line, port, fit, inputs);
      connected = connected || id < before || fit == Fit::adapted;
      inputs.push_back(id);
    }
  }
  if (!connected && !line.inputs.empty()) refuse("no value fits a port");
  Node node;
  node.signature = line.signature;
  node.op = line.signature->op;
  node.attributes = line.attributes;
  return add(std::move(node), inputs, named_outputs(line));
}

// Adds a node, and refuses most that turn well-conditioned values into others.
std::vector<ValueId> GraphGrower::add(Node node, const std::vector<ValueId>& inputs,
                                      const std::vector<bool>& outputs) {
  std::vector<ValueId> made = builder_.add_node(std::move(node), inputs, outputs);
  const auto ill = [&](ValueId id) {
    return id != GraphBuilder::omitted && builder_.value(id).ill;
  };
  const bool was = std::any_of(inputs.begin(), inputs.end(), ill);
  if (!was && std::any_of(made.begin(), made.end(), ill) && !random_.one_in(16))
    refuse("an element is not finite, or too large");
  return made;
}

// Returns a value for a port of the line; `chosen` are those of the ports before it.
ValueId GraphGrower::connect(const suites::Line& line, std::size_t port, Fit fit,
                             std::vector<ValueId>& chosen) {
  const suites::LinePort& wanted = line.inputs[port];
  const Type type = wanted.value.is_tensor() ? wanted.value.tensor().type() : Type::undefined;
  const bool computed = type == Type::undefined || !facts(type).is_integer;
  if (random_.below(computed ? 5 : 10) == 0 || (!computed && !random_.one_in(4)))
    return fill_port(wanted);
  if (fit == Fit::adapted) {
    if (!is_number(type) || !computed) return fill_port(wanted);
    const std::optional<ValueId> from = pick([&](const KnownValue& value) {
      return is_number(value.element()) && (value.element() == type || random_.one_in(4));
    });
    return from ? fit_to(*from, type, wanted.value.tensor().shape()) : fill_port(wanted);
  }
  const bool pointwise = line.signature->form == "elementwise";
  for (const ValueId earlier : chosen) {
    if (!pointwise || earlier == GraphBuilder::omitted) continue;
    if (builder_.value(earlier).element() == type && is_number(type))
      return broadcast_partner(earlier);
    break;
  }
  const ValueType kind = wanted.value.type();
  const bool same_rank = !pointwise && type != Type::undefined && !random_.one_in(3);
  const std::optional<ValueId> from = pick([&](const KnownValue& value) {
    return value.at.front().type() == kind &&
           (!same_rank || value.rank() == wanted.value.tensor().shape().size());
  });
  return from ? *from : fill_port(wanted);
}

// Returns a value that broadcasts with another one: of the same shapes, or with extents of 1.
ValueId GraphGrower::broadcast_partner(ValueId with) {
  const KnownValue value = builder_.value(with);
  if (random_.one_in(2)) {
    const std::optional<ValueId> same = pick([&](const KnownValue& other) {
      return other.element() == value.element() && other.same_shapes(value);
    });
    if (same) return *same;
  }
  std::vector<SizesByRun> dims;
  if (!value.same_rank_in_all_runs()) refuse("the rank differs between runs");
  for (Index axis = random_.below(value.rank() + 1); axis < value.rank(); ++axis) {
    const SizesByRun sizes = value.extents(axis);
    dims.push_back(random_.one_in(4) ? SizesByRun(builder_.runs(), 1) : sizes);
  }
  return new_tensor(value.element(), dims, "real");
}

ValueId GraphGrower::fill_port(const suites::LinePort& port) {
  if (port.value.is_tensor() && (port.held || builder_.depth() > 1 || random_.one_in(2)))
    return builder_.add_initializer(port.value.tensor());
  std::vector<Value> by_run;
  for (std::size_t run = 0; run < builder_.runs(); ++run)
    by_run.push_back(rotated(port.value, static_cast<Index>(run)));
  std::optional<std::vector<Dim>> dims;
  if (port.value.is_tensor()) dims = declare(by_run);
  return builder_.add_input(std::move(by_run), std::move(dims));
}

// Adds one to three nodes after a value, and returns one of the same type and shapes.
ValueId GraphGrower::chain(ValueId from) {
  constexpr int max_tries = 40;
  Index wanted = 1 + random_.below(3);
  for (int tries = 0; tries < max_tries && wanted > 0; ++tries) {
    const Signature* const signature = draw_signature();
    if (!signature || signature->deprecated || signature->kind == "random") continue;
    const auto lines = library_.templates.lines.find(signature);
    if (lines == library_.templates.lines.end()) continue;
    const auto& list =
        builder_.value(from).element() == Type::float32 ? lines->second.floats : lines->second.all;
    if (list.empty()) continue;
    ValueId made = GraphBuilder::omitted;
    const bool added = attempt([&] {
      const suites::Line line = parse_seeded(with_tame_data(random_.pick(list)));
      for (const ValueId id : place(line, Fit::as_is, from)) {
        if (id != GraphBuilder::omitted &&
            builder_.value(id).element() == builder_.value(from).element() &&
            builder_.value(id).same_shapes(builder_.value(from)))
          made = id;
      }
      if (made == GraphBuilder::omitted) refuse("no output has the input's shape");
    });
    if (!added) continue;
    from = made;
    --wanted;
  }
  if (wanted > 0) refuse("no chain of nodes keeps the shape");
  return from;
}

}  // namespace touchstone::fuzz
