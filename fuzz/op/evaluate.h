// Evaluates terms of rules on a draft, before any model exists.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fuzz/op/draft.h"
#include "fuzz/op/program.h"

namespace touchstone::fuzz {

using List = std::vector<Index>;

struct TensorTerm {  // an input, or a view of it under another shape
  std::size_t port = 0;
  std::optional<List> seen;
  bool operator==(const TensorTerm&) const = default;
};
struct FamilyTerm {  // a variadic input
  std::size_t from = 0;
  bool operator==(const FamilyTerm&) const = default;
};

// Nothing (monostate): the draft does not determine it.
using Result = std::variant<std::monostate, bool, Index, double, std::string, Type, List,
                            std::vector<double>, std::vector<std::string>, TensorTerm, FamilyTerm>;

class Evaluator {
 public:
  Evaluator(const Draft& draft, const Program& program) : draft_(draft), program_(program) {}

  Result operator()(const Term& term);
  void forget() { known_.clear(); }  // after a change of the draft

  std::optional<bool> condition(const Term& term);
  std::optional<Index> integer(const Term& term);
  std::optional<List> list(const Term& term);
  std::optional<List> shape(const Term& tensor);

  // Index variables of reductions and comprehensions.
  std::map<std::string, Result, std::less<>> bound;

  // Calls `body` for each point of the binders for which `where` holds; stops when it returns
  // false. Returns false if a range is unknown or too large.
  template <class F>
  bool each(const std::vector<Term>& binders, std::size_t k, const Term& where, F body);

  std::optional<std::size_t> input(std::string_view name) const;
  Result attribute(const AttributeSpec& spec) const;
  bool given(std::string_view name) const;

 private:
  Result name(const std::string& name);
  Result form(const Term& term);
  Result call(const Term& term);
  Result list_call(const Term& term);
  Result arithmetic(const Term& term);
  Result compare(const Term& term);
  Result reduce(const Term& term);
  Result logic(const Term& term);
  Result type(const Term& term);

  const Draft& draft_;
  const Program& program_;
  std::map<std::string, Result, std::less<>> known_;  // values of lets
};

// The output is named in the draft's mask, or required if it has none.
bool wanted(const Draft& draft, std::string_view output);

std::optional<List> broadcast(const std::vector<List>& shapes);
bool is_of_class(Type type, std::string_view name);  // "integers", "floats" ...

template <class F>
bool Evaluator::each(const std::vector<Term>& binders, std::size_t k, const Term& where, F body) {
  constexpr Index max_points = 256;
  if (k == binders.size()) {
    return condition(where) == false || body();
  }
  const Term& binder = binders[k];
  const std::string variable = binder.args.at(0).text;
  const auto run = [&](Result value) {
    bound[variable] = std::move(value);
    const bool more = each(binders, k + 1, where, body);
    bound.erase(variable);
    return more;
  };
  if (binder.is("range")) {
    const auto low = integer(binder.args.at(1)), high = integer(binder.args.at(2));
    if (!low || !high || *high - *low > max_points) return false;
    for (Index i = *low; i < *high; ++i)
      if (!run(i)) return false;
    return true;
  }
  if (!binder.is("family")) return false;
  const auto from = input(binder.args.at(1).text);
  if (!from) return false;
  for (std::size_t port = *from; port < draft_.ports.size(); ++port)
    if (!run(TensorTerm{port, {}})) return false;
  return true;
}

}  // namespace touchstone::fuzz
