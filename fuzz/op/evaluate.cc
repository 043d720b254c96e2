// Three-valued evaluation: a term that reads elements of a regime is unknown, and so is all that
// depends on it.
#include "fuzz/op/evaluate.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

double real_of(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <class T, class F>
std::vector<T> each_of(const std::vector<std::string>& items, F of) {
  std::vector<T> made;
  for (const std::string& item : items) made.push_back(of(item));
  return made;
}

}  // namespace

std::optional<bool> Evaluator::condition(const Term& term) {
  const Result found = (*this)(term);
  const bool* const value = std::get_if<bool>(&found);
  return value ? std::optional<bool>(*value) : std::nullopt;
}

std::optional<Index> Evaluator::integer(const Term& term) {
  const Result found = (*this)(term);
  const Index* const value = std::get_if<Index>(&found);
  return value ? std::optional<Index>(*value) : std::nullopt;
}

std::optional<List> Evaluator::list(const Term& term) {
  const Result found = (*this)(term);
  const List* const value = std::get_if<List>(&found);
  return value ? std::optional<List>(*value) : std::nullopt;
}

std::optional<List> Evaluator::shape(const Term& tensor) {
  const Result found = (*this)(tensor);
  const auto* const value = std::get_if<TensorTerm>(&found);
  if (!value) return std::nullopt;
  if (value->seen) return value->seen;
  if (!draft_.given(value->port) || !draft_.ports[value->port].value.is_tensor())
    return std::nullopt;
  return draft_.ports[value->port].value.dims;
}

std::optional<std::size_t> Evaluator::input(std::string_view name) const {
  const auto& inputs = draft_.signature->inputs;
  for (const bool renamed : {false, true}) {
    if (renamed && !name.starts_with("in_")) break;
    const std::string_view own = renamed ? name.substr(3) : name;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (inputs[k].name == own) return k;
  }
  return std::nullopt;
}

bool Evaluator::given(std::string_view name) const {
  if (attribute_spec(*draft_.signature, name)) return draft_.attributes.contains(std::string(name));
  const auto port = input(name);
  return port && draft_.given(*port);
}

Result Evaluator::attribute(const AttributeSpec& spec) const {
  const auto at = draft_.attributes.find(std::string(spec.name));
  const std::string written = at != draft_.attributes.end() ? at->second : default_of(spec);
  if (spec.kind == "int") return integer_of(written).value_or(0);
  if (spec.kind == "float") return real_of(written);
  if (spec.kind == "string") return unquoted(written).value_or("");
  const std::vector<std::string> items = split_list(written).value_or(std::vector<std::string>{});
  if (spec.kind == "ints") return integers_of(items).value_or(List{});
  if (spec.kind == "floats") return each_of<double>(items, real_of);
  if (spec.kind == "strings")
    return each_of<std::string>(items,
                                [](const std::string& i) { return unquoted(i).value_or(""); });
  return {};
}

Result Evaluator::name(const std::string& name) {
  if (const auto at = bound.find(name); at != bound.end()) return at->second;
  if (const auto at = known_.find(name); at != known_.end()) return at->second;
  if (const Term* let = program_.let(name)) {
    known_[name] = Result();  // no let depends on itself
    return known_[name] = (*this)(*let);
  }
  if (name == "true" || name == "false") return name == "true";
  if (const AttributeSpec* spec = attribute_spec(*draft_.signature, name)) return attribute(*spec);
  if (const auto port = input(name)) {
    if (draft_.signature->inputs[*port].variadic) return FamilyTerm{*port};
    return TensorTerm{*port, {}};
  }
  if (const Type type = type_by_name(name); type != Type::undefined) return type;
  for (std::size_t k = 0; k < draft_.ports.size(); ++k) {
    const ParameterSpec* spec = port_spec(*draft_.signature, k);
    if (spec && spec->type == name && draft_.ports[k].value.is_tensor())
      return draft_.ports[k].value.type;
  }
  return {};
}

Result Evaluator::operator()(const Term& term) {
  switch (term.kind) {
    case Term::Kind::integer:
      return term.number;
    case Term::Kind::real:
      return term.real;
    case Term::Kind::string:
      return term.text;
    case Term::Kind::name:
      return name(term.text);
    case Term::Kind::form:
      return form(term);
  }
  return {};
}

Result Evaluator::form(const Term& term) {
  const std::string& head = term.text;
  if (head == "and" || head == "or" || head == "not") return logic(term);
  if (head == "if") {
    const auto chosen = condition(term.args.at(0));
    return chosen ? (*this)(term.args.at(*chosen ? 1 : 2)) : Result();
  }
  if (head == "match") {
    const Result key = (*this)(term.args.at(0));
    const auto* text = std::get_if<std::string>(&key);
    for (std::size_t k = 1; text && k < term.args.size(); ++k)
      if (term.args[k].text == *text || term.args[k].text == "else")
        return (*this)(term.args[k].args.at(0));
    return {};
  }
  if (head == "reduce") return reduce(term);
  static const std::vector<std::string> comparisons{"==", "!=", "<", "<=", ">", ">="};
  if (std::find(comparisons.begin(), comparisons.end(), head) != comparisons.end())
    return compare(term);
  static const std::vector<std::string> operators{"+",    "-",     "*",   "/",        "%",
                                                  "neg",  "min",   "max", "ceil_div", "floor_div",
                                                  "wrap", "clamp", "mod"};
  if (std::find(operators.begin(), operators.end(), head) != operators.end())
    return arithmetic(term);
  return call(term);
}

Result Evaluator::logic(const Term& term) {
  if (term.text == "not") {
    const auto value = condition(term.args.at(0));
    return value ? Result(!*value) : Result();
  }
  const bool decides = term.text == "or";
  bool unknown = false;
  for (const Term& arg : term.args) {
    const auto value = condition(arg);
    if (value == decides) return decides;
    unknown |= !value;
  }
  return unknown ? Result() : Result(!decides);
}

Result Evaluator::compare(const Term& term) {
  const Result a = (*this)(term.args.at(0)), b = (*this)(term.args.at(1));
  const std::string& how = term.text;
  const auto ordered = [&](auto x, auto y) -> Result {
    return how == "=="   ? x == y
           : how == "!=" ? x != y
           : how == "<"  ? x < y
           : how == "<=" ? x <= y
           : how == ">"  ? x > y
                         : x >= y;
  };
  const auto number = [](const Result& r) -> std::optional<double> {
    if (const auto* i = std::get_if<Index>(&r)) return static_cast<double>(*i);
    if (const auto* x = std::get_if<double>(&r)) return *x;
    return std::nullopt;
  };
  if (const auto x = number(a), y = number(b); x && y) {
    if (a.index() == b.index() && a.index() == 2) return ordered(std::get<2>(a), std::get<2>(b));
    return ordered(*x, *y);
  }
  if (a.index() != b.index() || (how != "==" && how != "!=")) return {};
  const auto equal = [&](const auto& x) -> Result {
    return (x == std::get<std::decay_t<decltype(x)>>(b)) == (how == "==");
  };
  if (const auto* x = std::get_if<bool>(&a)) return equal(*x);
  if (const auto* x = std::get_if<std::string>(&a)) return equal(*x);
  if (const auto* x = std::get_if<Type>(&a)) return equal(*x);
  if (const auto* x = std::get_if<List>(&a)) return equal(*x);
  return {};
}

Result Evaluator::reduce(const Term& term) {
  const std::string& how = term.args.at(0).text;
  const Term& where = term.args.at(2);
  const Term& body = term.args.at(3);
  bool unknown = false, any = false, all = true;
  Index sum = 0, low = 0, high = 0, points = 0;
  const bool whole = each(term.args.at(1).args, 0, where, [&] {
    const Result found = (*this)(body);
    if (const auto* b = std::get_if<bool>(&found)) {
      any |= *b;
      all &= *b;
    } else if (const auto* i = std::get_if<Index>(&found)) {
      low = points == 0 ? *i : std::min(low, *i);
      high = points == 0 ? *i : std::max(high, *i);
      sum += *i;
    } else {
      unknown = true;
    }
    ++points;
    return true;
  });
  if (how == "all" && !all) return false;
  if (how == "any" && any) return true;
  if (!whole || unknown) return {};
  if (how == "all") return true;
  if (how == "any") return false;
  if (how == "sum") return sum;
  if (how == "min" && points > 0) return low;
  if (how == "max" && points > 0) return high;
  return {};
}

bool wanted(const Draft& draft, std::string_view output) {
  const auto& outputs = draft.signature->outputs;
  for (const bool renamed : {false, true}) {
    if (renamed && !output.starts_with("out_")) break;
    const std::string_view own = renamed ? output.substr(4) : output;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (outputs[k].name == own)
        return draft.outputs.empty() ? !outputs[k].optional
                                     : k < draft.outputs.size() && draft.outputs[k] == 'x';
  }
  return false;
}

bool is_of_class(Type type, std::string_view name) {
  if (type == Type::undefined) return false;
  const TypeFacts& is = facts(type);
  if (name == "integers") return is.is_integer;
  if (name == "floats") return is.is_float;
  if (name == "signed") return is.is_integer && is.is_signed;
  if (name == "unsigned") return is.is_integer && !is.is_signed;
  if (name == "numbers") return is.is_integer || is.is_float;
  if (name == "complexes") return is.is_complex;
  if (name == "strings") return type == Type::string;
  return name == "booleans" && type == Type::boolean;
}

}  // namespace touchstone::fuzz
