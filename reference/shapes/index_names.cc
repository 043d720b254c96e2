// Names of index programs: what a let, an attribute or a type constraint stands for in a call.
#include <cstdlib>

#include "reference/shapes/index_evaluator.h"

namespace touchstone {

double real_constant(std::string_view text) {
  return std::strtod(std::string(text).c_str(), nullptr);
}

Type IndexEvaluator::constraint_type(std::size_t k) const {
  const IndexProgram::Constraint& of = program_.constraints[k];
  if (of.only != Type::undefined) return of.only;
  for (const Index input : of.inputs) {
    const auto n = static_cast<std::size_t>(input);
    if (n < inputs_.size() && inputs_[n].given) return inputs_[n].type;
  }
  for (const Index output : of.outputs) {
    const auto n = static_cast<std::size_t>(output);
    if (n < output_types_.size()) return output_types_[n];
  }
  throw Undecided{};
}

Type IndexEvaluator::type_of(const IndexType& of) const {
  return of.constraint >= 0 ? constraint_type(static_cast<std::size_t>(of.constraint)) : of.type;
}

IndexValue IndexEvaluator::let(Index k) {
  IndexValue& value = lets_[static_cast<std::size_t>(k)];
  if (value.is.index() == 0) {
    const Scoped at_call(of_element_, false);
    value = evaluate(program_.lets[static_cast<std::size_t>(k)]);
  }
  return value;
}

IndexValue IndexEvaluator::attribute(Index k) {
  const IndexProgram::Attribute& of = program_.attributes[static_cast<std::size_t>(k)];
  const auto found = node_.attributes.find(std::string(of.name));
  const auto integers = [](const auto& numbers) {
    if (std::ssize(numbers) > max_items) throw Undecided{};
    IndexList items;
    for (const Index number : numbers) items.push_back({SymbolicInteger(number)});
    return IndexValue::list(std::move(items));
  };
  const auto reals = [](const auto& numbers) {
    if (std::ssize(numbers) > max_items) throw Undecided{};
    IndexList items;
    for (const double number : numbers) items.push_back({SymbolicReal(number)});
    return IndexValue::list(std::move(items));
  };
  if (found == node_.attributes.end()) {
    std::vector<double> numbers;
    for (const std::string_view text : of.texts) {
      if (of.kind == IndexAttribute::float_ || of.kind == IndexAttribute::floats)
        numbers.push_back(static_cast<double>(static_cast<float>(real_constant(text))));
    }
    switch (of.kind) {
      case IndexAttribute::int_:
        return {SymbolicInteger(of.has_default ? of.numbers[0] : 0)};
      case IndexAttribute::float_:
        return {SymbolicReal(of.has_default ? numbers[0] : 0)};
      case IndexAttribute::string:
        return {std::string(of.has_default ? of.texts[0] : "")};
      case IndexAttribute::ints:
        return integers(of.numbers);
      case IndexAttribute::floats:
        return reals(numbers);
      default:
        throw Undecided{};
    }
  }
  const auto& is = found->second.is;
  if (const auto* number = std::get_if<Index>(&is)) return {SymbolicInteger(*number)};
  if (const auto* number = std::get_if<float>(&is))
    return {SymbolicReal(static_cast<double>(*number))};
  if (const auto* text = std::get_if<std::string>(&is)) return {*text};
  if (const auto* numbers = std::get_if<std::vector<Index>>(&is)) return integers(*numbers);
  if (const auto* numbers = std::get_if<std::vector<float>>(&is)) return reals(*numbers);
  if (const auto* tensor = std::get_if<Tensor>(&is))
    return {tensor_of({true, tensor->type(), &tensor->shape(), tensor, nullptr})};
  throw Undecided{};
}

}  // namespace touchstone
