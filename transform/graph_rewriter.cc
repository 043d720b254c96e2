// Constants of replacements.
#include "transform/graph_rewriter.h"

#include <algorithm>

#include "core/error.h"
#include "reference/interpreter.h"
#include "transform/constants.h"

namespace touchstone::transform {

GraphRewriter::Arg GraphRewriter::ints(const IndexVector& list) {
  return {tensor_of_integers(list)};
}

GraphRewriter::Arg GraphRewriter::floats(const std::vector<float>& list) {
  Tensor tensor(Type::float32, {static_cast<Index>(list.size())});
  std::copy(list.begin(), list.end(), tensor.data<float>());
  return {tensor};
}

GraphRewriter::Arg GraphRewriter::scalar(Index value) { return {tensor_of_integer(value)}; }
GraphRewriter::Arg GraphRewriter::real(double value) {
  return {tensor_of_number(value, Type::float64)};
}
GraphRewriter::Arg GraphRewriter::number(double value, Slot like) const {
  return {tensor_of_number(value, match_.type(like))};
}

GraphRewriter::Arg GraphRewriter::compute(std::string_view domain, std::string_view op,
                                          const std::vector<Arg>& inputs,
                                          Attributes attributes) const {
  const Signature* signature = find_signature(domain, op, newest_opset(domain));
  if (signature == nullptr) BUG("a rewrite rule computes by an operator that there is not");
  std::vector<Value> values;
  for (const Arg& input : inputs) {
    if (const Tensor* tensor = std::get_if<Tensor>(&input.is)) {
      values.emplace_back(*tensor);
      continue;
    }
    for (const std::string& name : std::get<std::vector<std::string>>(input.is)) {
      const Tensor* value = name.empty() ? nullptr : constant(name);
      if (!name.empty() && value == nullptr) throw NotKnown{};
      values.push_back(value ? Value(*value) : Value());
    }
  }
  while (!values.empty() && values.back().absent()) values.pop_back();
  return {evaluate(*signature, attributes, std::move(values))[0].tensor()};
}

GraphRewriter::Attributes joined(GraphRewriter::Attributes base,
                                 const GraphRewriter::Attributes& with) {
  for (const auto& [name, attribute] : with) base.insert_or_assign(name, attribute);
  return base;
}

}  // namespace touchstone::transform
