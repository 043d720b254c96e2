// Follows the outputs of an operator over symbols, beside their sizes and values at the hints.
#include "core/numbers/convert.h"
#include "reference/shapes/index_evaluator.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index max_elements = 64;
constexpr Index work_of_a_step = 32;

bool is_constant(const SymbolicTensor& of) {
  return std::all_of(of.sizes.begin(), of.sizes.end(),
                     [](const SymbolicInteger& size) { return size.constant().has_value(); });
}

// True if the element has that value at the hints.
bool agrees(const SymbolicElement& element, const Tensor& tensor, Index at) {
  const long double number = number_at(tensor, at);
  if (const auto* of = std::get_if<SymbolicInteger>(&element))
    return static_cast<long double>(of->hint()) == number;
  if (const auto* of = std::get_if<bool>(&element)) return *of == (number != 0);
  const double real = std::get<SymbolicReal>(element).hint();
  return static_cast<long double>(real) == number || (real != real && number != number);
}

bool is_constant(const SymbolicElement& element) {
  if (const auto* of = std::get_if<SymbolicInteger>(&element)) return of->constant().has_value();
  if (const auto* of = std::get_if<SymbolicReal>(&element)) return of->constant().has_value();
  return true;
}

// The sizes over symbols, if the program says them and they are those at the hints.
SymbolicTensor followed_sizes(IndexEvaluator& evaluator, std::size_t k, const Shape& hint) {
  SymbolicTensor made;
  try {
    made.sizes = evaluator.sizes(k);
    made.has_rank = std::equal(made.sizes.begin(), made.sizes.end(), hint.begin(), hint.end(),
                               [](const SymbolicInteger& a, Index b) { return a.hint() == b; });
  } catch (const Undecided&) {
  }
  if (!made.has_rank) made.sizes.clear();
  return made;
}

}  // namespace

SymbolicTensor symbolic_sizes(const std::optional<Shape>& shape, const SymbolicTensor* symbolic) {
  if (symbolic) return {symbolic->sizes, symbolic->has_rank, {}};
  SymbolicTensor made;
  made.has_rank = shape.has_value();
  if (shape) made.sizes.assign(shape->begin(), shape->end());
  return made;
}

SymbolicTensor symbolic_sizes(const PartialValue& known) {
  return symbolic_sizes(known.shape ? known.shape : known.inner, known.symbolic.get());
}

bool have_same_sizes(const PartialValue& a, const PartialValue& b) {
  const SymbolicTensor of_a = symbolic_sizes(a), of_b = symbolic_sizes(b);
  return of_a.has_rank == of_b.has_rank && of_a.sizes == of_b.sizes;
}

std::optional<SymbolicInteger> symbolic_number(const PartialValue& known) {
  if (!known.symbolic || known.symbolic->elements.size() != 1) return std::nullopt;
  const auto* number = std::get_if<SymbolicInteger>(&known.symbolic->elements[0]);
  return number ? std::optional(*number) : std::nullopt;
}

// Sizes that both have; one in which they differ is a symbol.
std::shared_ptr<const SymbolicTensor> ShapeWalk::joined_sizes(const PartialValue& a,
                                                              const PartialValue& b,
                                                              const PartialValue& both) {
  if (!state_.sizes || !both.shape || (have_same_sizes(a, b) && !a.symbolic)) return nullptr;
  SymbolicTensor made = symbolic_sizes(a);
  const SymbolicTensor other = symbolic_sizes(b);
  made.has_rank = made.has_rank && other.has_rank && made.sizes.size() == other.sizes.size();
  if (!made.has_rank) return std::make_shared<const SymbolicTensor>();
  for (std::size_t d = 0; d < made.sizes.size(); ++d) {
    if (made.sizes[d] == other.sizes[d]) continue;
    const Index hint = (*both.shape)[static_cast<Index>(d)];
    const auto drawn = std::find_if(drawn_.begin(), drawn_.end(),
                                    [&](const SymbolicInteger& one) { return one.hint() == hint; });
    made.sizes[d] =
        drawn != drawn_.end()
            ? *drawn
            : state_.sizes->symbol("#" + place_ + ":" + std::to_string(d), hint, 0, INT64_MAX);
  }
  return std::make_shared<const SymbolicTensor>(std::move(made));
}

// A size that is drawn for the node, an input's, or a number. Other passes refute false ones.
SymbolicTensor ShapeWalk::guessed_sizes(const std::vector<PartialValue>& inputs,
                                        const Shape& shape) const {
  SymbolicTensor made;
  made.has_rank = true;
  for (Index d = 0; d < shape.size(); ++d) {
    SymbolicInteger size = shape[d];
    const auto take = [&](const std::vector<SymbolicInteger>& from) {
      const auto found = std::find_if(from.begin(), from.end(), [&](const SymbolicInteger& one) {
        return !one.constant() && one.hint() == shape[d];
      });
      if (size.constant() && found != from.end()) size = *found;
    };
    take(drawn_);
    for (const PartialValue& input : inputs) {
      const SymbolicTensor of = symbolic_sizes(input);
      const auto at = static_cast<std::size_t>(d);
      if (at < of.sizes.size()) take({of.sizes[at]});
    }
    for (const PartialValue& input : inputs) take(symbolic_sizes(input).sizes);
    made.sizes.push_back(size);
  }
  return made;
}

void ShapeWalk::guess(const std::vector<PartialValue>& inputs, std::vector<PartialValue>& outputs) {
  const bool follows =
      !drawn_.empty() || std::any_of(inputs.begin(), inputs.end(),
                                     [](const PartialValue& known) { return known.symbolic; });
  if (!state_.sizes || !follows) return;
  for (PartialValue& known : outputs) {
    const std::optional<Shape>& shape = known.shape ? known.shape : known.inner;
    SymbolicTensor made;
    if (!proves() && shape) made = guessed_sizes(inputs, *shape);
    known.symbolic = std::make_shared<const SymbolicTensor>(std::move(made));
  }
}

// An output that is the same at all sizes stays without symbols.
void ShapeWalk::follow(const Node& node, const std::vector<PartialValue>& inputs,
                       std::vector<PartialValue>& outputs) {
  if (!state_.sizes ||
      (drawn_.empty() && std::none_of(inputs.begin(), inputs.end(),
                                      [](const PartialValue& known) { return known.symbolic; })))
    return;
  SymbolTable& symbols = *state_.sizes;
  const Index work_before = symbols.work();
  const IndexProgram* program = find_index_program(*node.signature);
  std::vector<IndexInput> given(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const PartialValue& known = inputs[k];
    given[k].given = !known.left_out;
    if (is_tensor(known)) given[k].type = known.type->element;
    if (known.symbolic) {
      given[k].symbolic = known.symbolic.get();
      continue;
    }
    if (known.shape) given[k].shape = &*known.shape;
    if (known.value) given[k].tensor = &*known.value;
  }
  std::vector<Type> types;
  for (const PartialValue& known : outputs)
    types.push_back(is_tensor(known) ? known.type->element : Type::undefined);
  std::optional<IndexEvaluator> evaluator;
  if (program) evaluator.emplace(symbols, *program, node, given, types);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    PartialValue& known = outputs[k];
    if (!is_tensor(known) || !known.shape) continue;
    SymbolicTensor made;
    if (evaluator) made = followed_sizes(*evaluator, k, *known.shape);
    if (!made.has_rank && !proves()) made = guessed_sizes(inputs, *known.shape);
    if (made.has_rank && is_constant(made)) {
      bool constant = true;
      if (known.value) constant = evaluator && follow_elements(*evaluator, k, *known.value, made);
      if (constant) continue;
    }
    known.symbolic = std::make_shared<const SymbolicTensor>(std::move(made));
  }
  if (evaluator)
    state_.steps_left -= (evaluator->work() + symbols.work() - work_before) / work_of_a_step;
}

// Returns true if all elements are constants. Those that symbols do not give become symbols.
bool ShapeWalk::follow_elements(IndexEvaluator& evaluator, std::size_t k, const Tensor& value,
                                SymbolicTensor& into) {
  if (value.size() > max_elements || value.type() == Type::string) return false;
  const TypeFacts& of = facts(value.type());
  bool all = true;
  for (const IndexVector& point : Box(value.shape())) {
    const auto at = std::ssize(into.elements);
    std::optional<SymbolicElement> element;
    try {
      element = evaluator.element(k, std::span(point.begin(), point.end()));
      if (!agrees(*element, value, at)) element.reset();
    } catch (const Undecided&) {
    }
    if (!element) {
      if (!of.is_integer) {
        into.elements.clear();
        return false;
      }
      const long double number = number_at(value, at);
      if (number >= 0x1p62L || number <= -0x1p62L) {
        into.elements.clear();
        return false;
      }
      element =
          state_.sizes->symbol("#" + place_ + "[" + std::to_string(at) + "]",
                               static_cast<Index>(number), of.is_signed ? INT64_MIN : 0, INT64_MAX);
    }
    all = all && is_constant(*element);
    into.elements.push_back(std::move(*element));
  }
  return all;
}

}  // namespace touchstone
