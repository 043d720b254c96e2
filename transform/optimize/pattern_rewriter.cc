// Plans the replacement of a match as a whole, then inserts it before the root and erases the root.
#include "transform/optimize/pattern_rewriter.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/numbers/convert.h"

namespace touchstone::transform {

namespace {

const std::string& name_of(const GraphRewriter::Arg& arg) {
  return std::get<std::vector<std::string>>(arg.is)[0];
}

}  // namespace

const Tensor* PatternRewriter::constant(const std::string& value) const {
  return found.graph().constant(value);
}

const Tensor& PatternRewriter::constant(const Arg& arg) const {
  if (const Tensor* tensor = std::get_if<Tensor>(&arg.is)) return *tensor;
  const Tensor* constant = this->constant(name_of(arg));
  if (constant == nullptr) throw NotKnown{};
  return *constant;
}

// Weights split into rows that share one factor.
struct PatternRewriter::Weights {
  const Tensor &from, &by;
  Index along, part, rows, row;  // rows of `row` elements

  // Calls visit(first element of the row, combined index of the dimensions before the axis,
  // factor).
  template <class Visit>
  void each(Visit visit) const {
    const double* const factors = by.data<double>();
    for (Index outer = 0, k = 0; k < rows; ++outer) {
      const double* const own = by.size() == 1 ? factors : factors + outer / part * along;
      for (Index i = 0; i < along; ++i, ++k) visit(k * row, outer, own[by.size() == 1 ? 0 : i]);
    }
  }
  // Calls visit with a function from an element's index to its value.
  template <class Visit>
  void visit_numbers(Visit visit) const {
    if (from.type() == Type::float32)
      return visit([at = from.data<float>()](Index k) { return static_cast<double>(at[k]); });
    visit([this](Index k) { return static_cast<double>(number_at(from, k)); });
  }
};

PatternRewriter::Weights PatternRewriter::weights(const Arg& weights, const Arg& factors,
                                                  Index axis, Index groups) const {
  const Tensor &from = constant(weights), &by = constant(factors);
  const Shape& shape = from.shape();
  if (by.type() != Type::float64) BUG("factors that are no doubles");
  if (axis >= shape.size() || groups < 1 || shape[0] % groups != 0) throw NotKnown{};
  const Index along = shape[axis], outer = count(head(shape, axis));
  if (by.size() != 1 && by.size() != groups * along) throw NotKnown{};
  return {from,          by,
          along,         std::max<Index>(outer / groups, 1),
          outer * along, count(tail(shape, axis + 1))};
}

namespace {

bool is_finite(const Tensor& tensor) {
  bool finite = true;
  if (tensor.type() == Type::float32) {
    const float* const at = tensor.data<float>();
    for (Index k = 0; k < tensor.size(); ++k) finite &= at[k] - at[k] == 0;
  } else {
    for (Index k = 0; k < tensor.size(); ++k) finite &= std::isfinite(number_at(tensor, k));
  }
  return finite;
}

}  // namespace

PatternRewriter::Arg PatternRewriter::scaled(const Arg& weights, const Arg& factors, Index axis,
                                             Index groups) const {
  const Weights all = this->weights(weights, factors, axis, groups);
  Tensor made(all.from.type(), all.from.shape());
  all.visit_numbers([&](auto number) {
    if (made.type() == Type::float32) {
      float* const to = made.data<float>();
      all.each([&](Index first, Index, double factor) {
        for (Index k = first; k < first + all.row; ++k)
          to[k] = static_cast<float>(number(k) * factor);
      });
    } else {
      all.each([&](Index first, Index, double factor) {
        for (Index k = first; k < first + all.row; ++k) set_number(made, k, number(k) * factor);
      });
    }
  });
  if (!is_finite(made)) throw NotKnown{};  // what the weights multiply may be small
  return {std::move(made)};
}

PatternRewriter::Arg PatternRewriter::weighed(const Arg& weights, const Arg& factors,
                                              Index groups) const {
  const Weights all = this->weights(weights, factors, 1, groups);
  Tensor sums(Type::float64, Shape{all.from.shape()[0]});
  all.visit_numbers([&](auto number) {
    all.each([&](Index first, Index outer, double factor) {
      double& sum = sums.data<double>()[outer];
      for (Index k = first; k < first + all.row; ++k) sum += number(k) * factor;
    });
  });
  return {std::move(sums)};
}

namespace {

// Calls visit with a function from an element's index to its value.
template <class Visit>
void visit_integers(const Tensor& tensor, Visit visit) {
  const auto stored = [&](const auto* at) {
    visit([at](Index k) { return static_cast<double>(at[k]); });
  };
  switch (tensor.type()) {
    case Type::int8:
      return stored(tensor.data<std::int8_t>());
    case Type::uint8:
      return stored(tensor.data<std::uint8_t>());
    case Type::int32:
      return stored(tensor.data<std::int32_t>());
    default:
      visit([&](Index k) { return static_cast<double>(number_at(tensor, k)); });
  }
}

}  // namespace

PatternRewriter::Arg PatternRewriter::dequantised(const Arg& weights, const Arg& scale,
                                                  const Arg& zero, Index axis) const {
  const bool shifted = std::holds_alternative<Tensor>(zero.is) || !name_of(zero).empty();
  const Tensor &from = constant(weights), &by = constant(scale);
  const Shape& shape = from.shape();
  const bool one = by.size() == 1;
  if (by.type() != Type::float32 || (!one && (axis >= shape.size() || by.size() != shape[axis])))
    throw NotKnown{};
  if (shifted && constant(zero).size() != by.size()) throw NotKnown{};
  // A captured value keeps its name.
  if (found.graph().is_captured((*found.root)->outputs[0])) throw NotKnown{};
  if (!found.graph().reserve_bytes(4 * from.size())) throw NotKnown{};
  const Index along = one ? 1 : by.size(), row = one ? from.size() : count(tail(shape, axis + 1));
  Tensor made(Type::float32, shape);
  float* const to = made.data<float>();
  visit_integers(from, [&](auto number) {
    for (Index first = 0, i = 0; first < from.size(); first += row, i = (i + 1) % along) {
      const double factor = static_cast<double>(by.data<float>()[i]);
      const double less = shifted ? static_cast<double>(number_at(constant(zero), i)) : 0;
      for (Index k = first; k < first + row; ++k)
        to[k] = static_cast<float>((number(k) - less) * factor);
    }
  });
  return {std::move(made)};
}

PatternRewriter::Arg PatternRewriter::node(std::string_view local, std::string_view domain,
                                           std::string_view op, std::vector<Arg> inputs,
                                           Attributes attributes) {
  const std::string output =
      found.graph().fresh((*found.root)->outputs[0] + "/" + std::string(local));
  planned_.push_back({std::string(domain),
                      std::string(op),
                      std::move(inputs),
                      std::move(attributes),
                      {output},
                      std::string(local)});
  return named(output);
}

void PatternRewriter::result(const std::vector<Slot>& outputs, std::string_view domain,
                             std::string_view op, std::vector<Arg> inputs, Attributes attributes) {
  std::vector<std::string> names;
  for (Slot slot : outputs) names.push_back(found.value(slot));
  planned_.push_back({std::string(domain), std::string(op), std::move(inputs),
                      std::move(attributes), std::move(names), ""});
}

void PatternRewriter::result(Slot output, Arg value) {
  aliases_.emplace_back(found.value(output), std::move(value));
}

bool PatternRewriter::commit() {
  MutableGraph& graph = found.graph();
  const MutableGraph::Place root = *found.root;
  for (auto& [output, value] : aliases_) {
    if (Tensor* tensor = std::get_if<Tensor>(&value.is)) {
      // A node must compute a graph output, which keeps its name.
      if (graph.is_output(output)) return false;
      const std::string name = graph.fresh(output + "/value");
      graph.add_constant(name, std::move(*tensor));
      value = named(name);
    }
    if (!graph.replace_value(output, name_of(value))) return false;
  }
  // A node without a local name takes the root's name; the names of others are derived from it.
  for (Planned& planned : planned_) {
    Node node;
    node.domain = planned.domain;
    node.op = planned.op;
    node.name = root->name;
    node.metadata = root->metadata;
    if (!planned.local.empty() && !node.name.empty()) node.name += "/" + planned.local;
    for (std::size_t k = 0; k < planned.inputs.size(); ++k) {
      Arg& input = planned.inputs[k];
      if (Tensor* tensor = std::get_if<Tensor>(&input.is)) {
        const std::string& stem = planned.outputs[0];
        const std::string name = graph.fresh(stem + "/input_" + std::to_string(k));
        graph.add_constant(name, std::move(*tensor));
        node.inputs.push_back(name);
      } else {
        node.inputs.push_back(name_of(input));
      }
    }
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    node.outputs = std::move(planned.outputs);
    node.attributes = std::move(planned.attributes);
    graph.insert(root, std::move(node));
  }
  graph.erase(root);
  return true;
}

}  // namespace touchstone::transform
