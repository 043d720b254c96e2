// Tensors, statements and expressions of index programs.
#include "reference/shapes/index_evaluator.h"

#include "core/numbers/convert.h"
#include "reference/shapes/index_functions.h"

namespace touchstone {
namespace {

constexpr Index max_steps = 20'000;  // expressions for one question
constexpr int max_depth = 200;

IndexValue element_of(const Tensor& tensor, std::span<const Index> point) {
  Index at = 0;
  for (std::size_t d = 0; d < point.size(); ++d)
    at = at * tensor.shape()[static_cast<Index>(d)] + point[d];
  const TypeFacts& of = facts(tensor.type());
  if (tensor.type() == Type::boolean) return {number_at(tensor, at) != 0};
  if (of.is_integer) {
    const long double number = number_at(tensor, at);
    if (number >= 0x1p63L) throw Undecided{};
    return {SymbolicInteger(static_cast<Index>(number))};
  }
  if (tensor.type() != Type::float32 && tensor.type() != Type::float64) throw Undecided{};
  return {SymbolicReal(static_cast<double>(number_at(tensor, at)))};
}

IndexValue value_of(const SymbolicElement& element) {
  return std::visit([](const auto& one) { return IndexValue{one}; }, element);
}

}  // namespace

IndexEvaluator::IndexEvaluator(SymbolTable& symbols, const IndexProgram& program, const Node& node,
                               std::span<const IndexInput> inputs,
                               std::span<const Type> output_types)
    : symbols_(symbols),
      program_(program),
      node_(node),
      inputs_(inputs),
      output_types_(output_types),
      tensors_(std::max(inputs.size(), program.inputs.size())),
      slots_(static_cast<std::size_t>(program.slots)),
      lets_(program.lets.size()),
      definitions_(2 * (program.outputs.size() + static_cast<std::size_t>(program.buffers))) {}

IndexEvaluator::Output IndexEvaluator::output(std::size_t k) const {
  const std::size_t last = program_.outputs.size() - 1;
  return k <= last ? Output{k, 0} : Output{last, k - last};
}

std::vector<SymbolicInteger> IndexEvaluator::sizes(std::size_t k) {
  steps_ = max_steps;
  const Output of = output(k);
  const IndexProgram::Output& said = program_.outputs[of.parameter];
  if (said.has_shape) {
    if (said.family_slot >= 0)
      slots_[static_cast<std::size_t>(said.family_slot)] = {
          SymbolicInteger(static_cast<Index>(of.within))};
    std::vector<SymbolicInteger> sizes;
    const IndexValue shape = evaluate(said.shape);
    for (const IndexValue& size : list(shape)) sizes.push_back(symbols_.named(integer(size)));
    return sizes;
  }
  const TensorPointer made = whole(static_cast<Index>(of.parameter));
  std::vector<SymbolicInteger> sizes = dims(*made);
  for (SymbolicInteger& size : sizes) size = symbols_.named(size);
  return sizes;
}

SymbolicElement IndexEvaluator::element(std::size_t k, std::span<const Index> point) {
  steps_ = max_steps;
  const Output of = output(k);
  const IndexValue value = converted(
      defined(true, static_cast<Index>(of.parameter), static_cast<Index>(of.within), point),
      output_types_[k]);
  if (const auto* number = value.as<SymbolicInteger>()) return symbols_.named(*number);
  if (const auto* number = value.as<SymbolicReal>()) return *number;
  if (const auto* number = value.as<bool>()) return *number;
  throw Undecided{};
}

// -- tensors and types

IndexEvaluator::TensorPointer IndexEvaluator::tensor_of(const IndexInput& input) const {
  auto made = std::make_shared<IndexTensor>();
  made->type = input.type;
  if (input.symbolic) {
    const SymbolicTensor& of = *input.symbolic;
    made->sizes = of.sizes, made->has_rank = of.has_rank;
    for (SymbolicInteger& size : made->sizes) size = symbols_.normal(size);
    made->element = [&of](std::span<const Index> point) {
      Index at = 0;
      for (std::size_t d = 0; d < point.size(); ++d) {
        const std::optional<Index> size = of.sizes[d].constant();
        if (!size) throw Undecided{};
        at = at * *size + point[d];
      }
      if (at < 0 || at >= std::ssize(of.elements)) throw Undecided{};
      return value_of(of.elements[static_cast<std::size_t>(at)]);
    };
    return made;
  }
  made->has_rank = input.shape != nullptr;
  if (input.shape) {
    for (const Index size : *input.shape) made->sizes.emplace_back(size);
  }
  made->element = [tensor = input.tensor](std::span<const Index> point) {
    if (!tensor || std::ssize(point) != tensor->shape().size()) throw Undecided{};
    return element_of(*tensor, point);
  };
  return made;
}

IndexEvaluator::TensorPointer IndexEvaluator::input_tensor(Index parameter) {
  const auto k = static_cast<std::size_t>(parameter);
  if (k >= inputs_.size() || !inputs_[k].given) throw Undecided{};
  if (!tensors_[k]) tensors_[k] = tensor_of(inputs_[k]);
  return tensors_[k];
}

const std::vector<SymbolicInteger>& IndexEvaluator::dims(const IndexTensor& of) const {
  if (!of.has_rank) throw Undecided{};
  return of.sizes;
}

// -- statements

// The statement that defines an output or a buffer here; null if there is none.
const IndexStatement* IndexEvaluator::definition(const std::vector<IndexStatement>& block,
                                                 bool of_output, Index target) {
  const IndexStatement* found = nullptr;
  bool taken = false;
  for (const IndexStatement& one : block) {
    const IndexStatement* inner = nullptr;
    if (one.is == IndexStatementKind::when) {
      taken = predicate(evaluate(one.value));
      if (taken) inner = definition(one.block, of_output, target);
    } else if (one.is == IndexStatementKind::otherwise) {
      if (!taken) inner = definition(one.block, of_output, target);
    } else if (one.of_output == of_output && one.target == target) {
      if (one.is == IndexStatementKind::opaque) throw Undecided{};
      inner = &one;
    }
    if (!found) found = inner;
  }
  return found;
}

IndexEvaluator::TensorPointer IndexEvaluator::whole(Index output) {
  const IndexStatement* found = definition(program_.body, true, output);
  if (!found || found->is != IndexStatementKind::whole) throw Undecided{};
  return tensor(evaluate(found->value));
}

void IndexEvaluator::bind(const IndexStatement& of, std::span<const Index> point) {
  std::vector<Index> counts;  // -1: a single index; -2: all that are left
  Index fixed = 0;
  for (const IndexStatement::Place& place : of.places) {
    Index count = -1;
    if (place.is == IndexPlace::over) {
      const IndexValue extent = evaluate(place.size);
      if (const auto* many = extent.as<std::shared_ptr<const IndexList>>())
        count = std::ssize(**many);
    } else if (place.is == IndexPlace::pack) {
      count = place.size ? constant(evaluate(place.size)) : -2;
    }
    counts.push_back(count);
    fixed += count == -1 ? 1 : std::max<Index>(count, 0);
  }
  std::size_t at = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    IndexValue& slot = slots_[static_cast<std::size_t>(of.places[k].slot)];
    if (counts[k] == -1) {
      if (at >= point.size()) throw Undecided{};
      slot = {SymbolicInteger(point[at++])};
      continue;
    }
    IndexList items;
    Index count = counts[k] == -2 ? std::ssize(point) - fixed : counts[k];
    for (; count > 0; --count) {
      if (at >= point.size()) throw Undecided{};
      items.push_back({SymbolicInteger(point[at++])});
    }
    slot = IndexValue::list(std::move(items));
  }
}

IndexValue IndexEvaluator::defined(bool of_output, Index target, Index family,
                                   std::span<const Index> point) {
  const std::size_t place = 2 * static_cast<std::size_t>(target) + (of_output ? 0 : 1);
  if (!definitions_[place]) definitions_[place] = definition(program_.body, of_output, target);
  const IndexStatement* found = definitions_[place];
  if (!found) throw Undecided{};
  if (found->is == IndexStatementKind::whole) {
    const TensorPointer made = tensor(evaluate(found->value));
    return made->element(point);
  }
  if (found->family_slot >= 0)
    slots_[static_cast<std::size_t>(found->family_slot)] = {SymbolicInteger(family)};
  std::vector<Index> seen(point.begin(), point.end());
  if (found->view) {
    const IndexProgram::Output& said = program_.outputs[static_cast<std::size_t>(target)];
    IndexFunctions functions(*this);
    const IndexValue shape = evaluate(said.shape), view = evaluate(found->view);
    seen = functions.viewed(point, list(shape), list(view));
  }
  // An element may be defined by others of the same statement.
  const std::vector<IndexValue> before = slots_;
  bind(*found, seen);
  const Scoped in_element(of_element_, true);
  IndexValue value = evaluate(found->value);
  slots_ = before;
  return value;
}

// -- expressions

IndexValue IndexEvaluator::evaluate(const Expression& e) {
  ++work_;
  if (--steps_ < 0 || depth_ > max_depth) throw Undecided{};
  const Scoped nested(depth_, depth_ + 1);
  return evaluated(e);
}

IndexValue IndexEvaluator::evaluated(const Expression& e) {
  const auto place = static_cast<std::size_t>(e.number);
  switch (e.is) {
    case IndexOperation::number:
      return {SymbolicInteger(e.number)};
    case IndexOperation::real_: {
      const double number = real_constant(e.text);
      return {SymbolicReal(of_element_ ? number : static_cast<double>(static_cast<float>(number)))};
    }
    case IndexOperation::text_:
      return {std::string(e.text)};
    case IndexOperation::boolean:
      return {e.number != 0};
    case IndexOperation::input:
      if (program_.inputs[place].variadic) {
        IndexTensors family;
        for (std::size_t k = place; k < inputs_.size(); ++k)
          family.push_back(input_tensor(static_cast<Index>(k)));
        return {std::move(family)};
      }
      return {input_tensor(e.number)};
    case IndexOperation::attribute:
      return attribute(e.number);
    case IndexOperation::let:
      return let(e.number);
    case IndexOperation::constraint:
      return {constraint_type(place)};
    case IndexOperation::type_:
      return {static_cast<Type>(e.number)};
    case IndexOperation::slot:
      return slots_[place];
    case IndexOperation::scalar_input:
      if (place >= inputs_.size() || !inputs_[place].given)
        return evaluate(program_.inputs[place].default_element);
      [[fallthrough]];
    case IndexOperation::scalar_attribute: {
      const TensorPointer of = e.is == IndexOperation::scalar_input ? input_tensor(e.number)
                                                                    : tensor(attribute(e.number));
      return of->element(std::vector<Index>(dims(*of).size(), 0));
    }
    case IndexOperation::coerce:
      return coerced(evaluate(e.operands[0]), e);
    case IndexOperation::negative:
      return negated(evaluate(e.operands[0]), e);
    case IndexOperation::negation:
      return {!predicate(evaluate(e.operands[0]))};
    case IndexOperation::conjunction:
    case IndexOperation::disjunction:
      return {logical(e)};
    case IndexOperation::add:
    case IndexOperation::subtract:
    case IndexOperation::multiply:
    case IndexOperation::divide:
    case IndexOperation::remainder:
      return arithmetic(e);
    case IndexOperation::less:
    case IndexOperation::greater:
    case IndexOperation::less_equal:
    case IndexOperation::greater_equal:
    case IndexOperation::equal:
    case IndexOperation::unequal:
      return {compared(e.is, evaluate(e.operands[0]), evaluate(e.operands[1]))};
    case IndexOperation::condition:
      return conditional(e);
    case IndexOperation::match:
      return matched(e);
    case IndexOperation::splice:
      return evaluate(e.operands[0]);
    case IndexOperation::list:
      return IndexValue::list(laid_out(e.operands));
    case IndexOperation::comprehension:
      return comprehension(e);
    case IndexOperation::reduction:
      return reduction(e);
    case IndexOperation::item:
      return item(evaluate(e.operands[0]), evaluate(e.operands[1]));
    case IndexOperation::element:
    case IndexOperation::element_or:
      return read(e, false, nullptr);
    case IndexOperation::given_input:
      return {place < inputs_.size() && inputs_[place].given};
    case IndexOperation::given_attribute:
      return {node_.attributes.contains(std::string(program_.attributes[place].name))};
    case IndexOperation::wanted:
      return {place < node_.outputs.size() && !node_.outputs[place].empty()};
    case IndexOperation::convert: {
      const IndexValue to = evaluate(e.operands[0]);
      if (!to.as<Type>()) throw Undecided{};
      return converted(evaluate(e.operands[1]), *to.as<Type>());
    }
    default: {
      IndexFunctions functions(*this);
      return functions.called(e);
    }
  }
}

}  // namespace touchstone
