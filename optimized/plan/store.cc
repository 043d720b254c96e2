// Check of stored values against the plan's types.
#include "optimized/plan/store.h"

#include "core/error.h"

namespace touchstone::optimized {
namespace {

bool has_type(const Value& made, const ValueType& type) {
  if (made.is_tensor() && type.kind == ValueType::Kind::tensor)
    return made.tensor().type() == type.element;
  return made.type() == type;
}

}  // namespace

void store(RunState& state, const AnalyzedGraph& graph, Index at, Value made) {
  const AnalyzedValue& fact = graph.value(at);
  if (fact.type && !made.absent() && !has_type(made, *fact.type))
    throw Error(ErrorKind::internal, "'" + fact.name + "' was made as " + text(made.type()) +
                                         ", but was planned as " + text(*fact.type))
        .with_help("this is a fault of Touchstone, not of the model: please report it");
  state.values[static_cast<std::size_t>(at)] = std::move(made);
}

}  // namespace touchstone::optimized
