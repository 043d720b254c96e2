// Instances of idioms: holes take existing values whose extents match, formulas become numbers, and
// statements become nodes.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/numbers/convert.h"
#include "fuzz/graph/graph_grower.h"
#include "fuzz/graph/size_formula.h"

namespace touchstone::fuzz {
namespace {

std::optional<Index> number_in(const std::string& text) {
  Index value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_name(const std::string& port) {
  return port.find_first_of("[({*") == std::string::npos && port != "_";
}

}  // namespace

bool GraphGrower::grow_idiom() {
  const Idiom& idiom = library_.idioms[static_cast<std::size_t>(
      random_.below(static_cast<Index>(library_.idioms.size())))];
  const Index opset = opsets_.at("");
  if (opset < idiom.since || opset > idiom.until || builder_.depth() > 1) return false;
  constexpr int tries = 3;
  for (int k = 0; k < tries; ++k) {
    const bool grown = attempt([&] {
      Scope scope;
      fill_holes(idiom, scope);
      run(idiom.statements, scope);
      covered_.push_back("idiom/" + idiom.name);
    });
    if (grown) return true;
  }
  return false;
}

// Binds the hole's size parameters to a value's extents; the scope is unchanged if they differ.
bool GraphGrower::match(const Hole& hole, const KnownValue& value, Scope& scope) const {
  if (value.ill || value.element() != type_by_name(hole.element) || !value.same_rank_in_all_runs())
    return false;
  const auto count = static_cast<Index>(hole.dims.size());
  if (hole.leading ? value.rank() < count : value.rank() != count) return false;
  std::map<std::string, SizesByRun> bound = scope.sizes;
  for (Index k = 0; k < count; ++k) {
    const std::string& dim = hole.dims[static_cast<std::size_t>(k)];
    const SizesByRun sizes = value.extents(value.rank() - count + k);
    if (dim == "_") continue;
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return false;
    if (const auto fixed = number_in(dim)) {
      if (sizes != SizesByRun(builder_.runs(), *fixed)) return false;
    } else if (const auto at = bound.emplace(dim, sizes).first; at->second != sizes) {
      return false;
    }
  }
  scope.sizes = std::move(bound);
  return true;
}

ValueId GraphGrower::new_for(const Hole& hole, const Idiom& idiom, Scope& scope) {
  std::vector<SizesByRun> dims;
  bool fixed = true;
  if (hole.leading) {
    for (Index k = random_.below(3); k > 0; --k) dims.push_back(draw_size(1, 4, true));
  }
  for (const std::string& dim : hole.dims) {
    if (const auto number = number_in(dim)) {
      dims.emplace_back(builder_.runs(), *number);
      continue;
    }
    const auto range = std::find_if(idiom.sizes.begin(), idiom.sizes.end(),
                                    [&](const SizeRange& one) { return one.name == dim; });
    const SizeRange wanted = range == idiom.sizes.end() ? SizeRange{dim, 1, 6, true} : *range;
    const auto bound = scope.sizes.find(dim);
    const SizesByRun sizes = bound == scope.sizes.end()
                                 ? draw_size(wanted.low, wanted.high, wanted.dynamic)
                                 : bound->second;
    if (dim != "_") scope.sizes[dim] = sizes;
    dims.push_back(sizes);
  }
  Shape shape;
  for (const SizesByRun& dim : dims) {
    shape.push_back(dim.front());
    fixed = fixed && dim == SizesByRun(builder_.runs(), dim.front());
  }
  const Type type = type_by_name(hole.element);
  if (fixed && hole.regime == "real" && facts(type).is_float && !random_.one_in(3)) {
    const std::optional<ValueId> from = pick([&](const KnownValue& value) {
      return value.element() == type && !value.ill && value.rank() > 0;
    });
    ValueId fitted = GraphBuilder::omitted;
    if (from && attempt([&] { fitted = fit_to(*from, type, shape); })) return fitted;
  }
  return new_tensor(type, dims, hole.regime);
}

void GraphGrower::fill_holes(const Idiom& idiom, Scope& scope) {
  for (const Hole& hole : idiom.holes) {
    std::optional<ValueId> found;
    if (hole.regime == "real" && !random_.one_in(8)) {
      found = pick([&](const KnownValue& value) {
        Scope trial;
        trial.sizes = scope.sizes;
        return match(hole, value, trial);
      });
    }
    if (found) match(hole, builder_.value(*found), scope);
    scope.values[hole.name] = found ? *found : new_for(hole, idiom, scope);
  }
  for (const SizeRange& range : idiom.sizes) {
    if (!scope.sizes.contains(range.name))
      scope.sizes[range.name] = draw_size(range.low, range.high, false);
  }
}

// Replaces each <formula> by its number, which must be the same in all runs.
std::string GraphGrower::substitute(const std::string& text, const Scope& scope) const {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '<' ? text.find('>', at) : std::string::npos;
    if (end == std::string::npos) {
      made += text[at];
      continue;
    }
    const std::string formula = text.substr(at + 1, end - at - 1);
    at = end;
    if (const auto found = scope.texts.find(formula); found != scope.texts.end()) {
      made += found->second;
      continue;
    }
    std::optional<Index> number;
    for (std::size_t run = 0; run < builder_.runs(); ++run) {
      const Index size = compute_size(formula, [&](const std::string& name) {
        const auto known = scope.sizes.find(name);
        if (known == scope.sizes.end())
          throw Error(ErrorKind::usage, "no size is named '" + name + "'");
        return known->second[run];
      });
      if (number && *number != size) refuse("'" + formula + "' differs between runs");
      number = size;
    }
    made += std::to_string(*number);
  }
  return made;
}

ValueId GraphGrower::named(const std::string& name, const Scope& scope) const {
  const auto found = scope.values.find(name);
  if (found == scope.values.end())
    throw Error(ErrorKind::usage, "an idiom reads '" + name + "', which it does not define");
  return found->second;
}

void GraphGrower::run(const std::vector<Statement>& statements, Scope& scope) {
  for (const Statement& statement : statements) {
    try {
      switch (statement.kind) {
        case Statement::Kind::node:
          run_node_statement(statement, scope);
          break;
        case Statement::Kind::constant: {
          const Signature& any = all_signatures().front();
          const suites::Line line = parse_seeded(
              fmt::format("{}{}{}-{}({})", any.domain, any.domain.empty() ? "" : ".", any.op,
                          any.since, substitute(statement.ports.front(), scope)));
          scope.values[statement.outputs.front()] =
              builder_.add_initializer(line.inputs.front().value.tensor());
          break;
        }
        case Statement::Kind::chain:
          scope.values[statement.outputs.front()] = chain(named(statement.ports.front(), scope));
          break;
        case Statement::Kind::body:
        case Statement::Kind::function:
          run_block(statement, scope);
          break;
      }
    } catch (const Error& error) {
      if (error.kind != ErrorKind::usage) throw;
      throw Error(ErrorKind::internal, statement.place + ": " + error.message);
    }
  }
}

void GraphGrower::run_node_statement(const Statement& statement, Scope& scope) {
  std::vector<ValueId> inputs;
  std::vector<bool> outputs;
  std::string ports;
  for (const std::string& port : statement.ports)
    ports += (ports.empty() ? "" : ", ") + (is_name(port) ? "_" : substitute(port, scope));
  for (const std::string& name : statement.outputs) outputs.push_back(name != "_");
  Node node;
  suites::Line line;
  if (statement.op[0] == '@') {
    const auto function = scope.functions.find(statement.op.substr(1));
    if (function == scope.functions.end())
      throw Error(ErrorKind::usage, "no function is named '" + statement.op + "'");
    node.op = function->second->name;
    node.domain = function->second->domain;
    node.function = function->second;
    line.inputs.resize(statement.ports.size());
  } else {
    const std::size_t dot = statement.op.rfind('.');
    const std::string domain = dot == std::string::npos ? "" : statement.op.substr(0, dot);
    const std::string op = dot == std::string::npos ? statement.op : statement.op.substr(dot + 1);
    const Signature* const signature = builder_.signature(domain, op);
    if (!signature) refuse("this opset has no " + op);
    line = parse_seeded(fmt::format("{}-{}({}){}", statement.op, signature->since, ports,
                                    substitute(statement.attributes, scope)));
    node.signature = signature;
    node.op = op;
    node.attributes = line.attributes;
  }
  for (const auto& [attribute, body] : statement.graphs) {
    const auto found = scope.bodies.find(body);
    if (found == scope.bodies.end())
      throw Error(ErrorKind::usage, "no body is named '" + body + "'");
    node.attributes[attribute].is = found->second;
  }
  for (std::size_t k = 0; k < statement.ports.size(); ++k) {
    if (is_name(statement.ports[k])) {
      inputs.push_back(named(statement.ports[k], scope));
    } else {
      inputs.push_back(statement.ports[k] == "_" ? GraphBuilder::omitted
                                                 : fill_port(line.inputs[k]));
    }
  }
  const std::vector<ValueId> made = builder_.add_node(std::move(node), inputs, outputs);
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (outputs[k]) scope.values[statement.outputs[k]] = made[k];
  }
}

// Builds a body or a function on the values that its parameters have first.
void GraphGrower::run_block(const Statement& statement, Scope& scope) {
  const bool is_function = statement.kind == Statement::Kind::function;
  Scope inner = scope;
  if (is_function) inner.values.clear();
  std::vector<ValueId> first, results;
  for (const auto& [name, value] : statement.parameters) first.push_back(named(value, scope));
  const std::vector<ValueId> opened =
      is_function ? builder_.open_function(first) : builder_.open_body(first);
  for (std::size_t k = 0; k < opened.size(); ++k)
    inner.values[statement.parameters[k].first] = opened[k];
  run(statement.inner, inner);
  for (const std::string& name : statement.results) results.push_back(named(name, inner));
  if (is_function) {
    scope.functions[statement.outputs.front()] = builder_.close_function(results);
  } else {
    scope.bodies[statement.outputs.front()] = builder_.close_body(results);
  }
}

// Runs an adapter, whose hole x is the value and whose result is y.
ValueId GraphGrower::adapt(const std::string& how, ValueId from, Type type, const Shape& shape) {
  const auto list = library_.adapters.find(how);
  if (list == library_.adapters.end()) refuse("no adapter is for " + how);
  const Index opset = opsets_.at("");
  std::vector<const Idiom*> fitting;
  for (const Idiom& one : list->second) {
    if (opset >= one.since && opset <= one.until) fitting.push_back(&one);
  }
  if (fitting.empty()) refuse("no adapter of this opset is for " + how);
  const Idiom& idiom = *random_.pick(fitting);
  Scope scope;
  scope.values["x"] = from;
  scope.texts["T"] = name(type);
  scope.texts["TO"] = std::to_string(static_cast<int>(type));
  scope.texts["TYPE"] = fmt::format("{}", name(type));
  scope.texts["COUNT"] = std::to_string(count(shape));
  scope.texts["RANK"] = std::to_string(shape.size());
  std::string extents;
  for (const Index extent : shape) extents += (extents.empty() ? "" : ",") + std::to_string(extent);
  scope.texts["SHAPE"] = extents;
  run(idiom.statements, scope);
  covered_.push_back("adapter/" + idiom.name);
  return named("y", scope);
}

// Converts a value to a type and to a shape that is the same in all runs.
ValueId GraphGrower::fit_to(ValueId from, Type type, const Shape& shape) {
  if (builder_.value(from).element() != type) from = adapt("cast", from, type, {});
  const std::vector<Value>& at = builder_.value(from).at;
  const bool fits = std::all_of(at.begin(), at.end(), [&](const Value& one) {
    return one.is_tensor() && one.tensor().shape() == shape;
  });
  return fits ? from : adapt("shape", from, type, shape);
}

}  // namespace touchstone::fuzz
