// Inverts terms: changes the draft so that a term has a given value.
#include <algorithm>

#include "fuzz/op/solver.h"
#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_extent = 4096;
constexpr std::size_t max_rank = 8;

}  // namespace

bool Solver::set_dims(std::size_t port, const List& to) {
  if (!draft_.given(port) || !draft_.ports[port].value.is_tensor() || to.size() > max_rank)
    return false;
  DraftValue& value = draft_.ports[port].value;
  const bool moved = to.size() != value.dims.size();
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (to[d] < 0 || to[d] > max_extent) return false;
    const bool changed = moved || to[d] != value.dims[d];
    if (changed && !loose_ && pinned_.dims.contains({port, static_cast<Index>(d)})) return false;
  }
  if (moved && !loose_ && pinned_.dims.contains({port, -1})) return false;
  const List before = value.dims;
  value.dims = to;
  if (value.size() > 4 * max_extent) {
    value.dims = before;
    return false;
  }
  if (value.regime.empty() && value.elements.empty() && value.size() > 0) value.regime = "whole";
  return true;
}

bool Solver::set_shape(const Term& tensor, const List& to) {
  if (tensor.kind == Term::Kind::name) {
    if (const Term* let = program_.let(tensor.text)) return set_shape(*let, to);
  } else if (tensor.is("if")) {
    const auto chosen = evaluate_.condition(tensor.args.at(0));
    return chosen && set_shape(tensor.args.at(*chosen ? 1 : 2), to);
  } else if (tensor.is("view")) {
    return assign(tensor.args.at(1), to);
  } else if (tensor.is("permuted")) {
    const auto order = evaluate_.list(tensor.args.at(1));
    if (!order || order->size() != to.size()) return false;
    List dims(to.size());
    for (std::size_t k = 0; k < to.size(); ++k) {
      const Index at = (*order)[k];
      if (at < 0 || at >= static_cast<Index>(to.size())) return false;
      dims[static_cast<std::size_t>(at)] = to[k];
    }
    return set_shape(tensor.args.at(0), dims);
  }
  const Result of = evaluate_(tensor);
  const auto* known = std::get_if<TensorTerm>(&of);
  return known && !known->seen && set_dims(known->port, to);
}

bool Solver::set_elements(std::size_t port, const List& to) {
  if (!draft_.given(port)) return false;
  DraftValue& value = draft_.ports[port].value;
  if (!value.is_tensor()) return false;
  if (static_cast<Index>(to.size()) != value.size()) {
    if (value.dims.size() > 1) return false;
    if (value.dims.empty() || !set_dims(port, {static_cast<Index>(to.size())})) return false;
  }
  set_integers(value, to);
  return true;
}

bool Solver::set_attribute(const std::string& name, const std::string& written) {
  if (pinned_.attributes.contains(name) && !loose_) return false;
  draft_.attributes[name] = written;
  return true;
}

bool Solver::set_type(std::size_t port, Type to) {
  const ParameterSpec* spec = port_spec(*draft_.signature, port);
  const std::string type = text(tensor_type(to));
  const auto types = admitted(*draft_.signature, port);
  if (!spec || std::find(types.begin(), types.end(), type) == types.end()) return false;
  for (std::size_t k = 0; k < draft_.ports.size(); ++k) {
    const ParameterSpec* other = port_spec(*draft_.signature, k);
    if (other && other->type == spec->type && draft_.given(k) &&
        !retype(draft_.ports[k].value, type))
      return false;
  }
  return true;
}

List Solver::resized(const List& list, Index size) {
  List made = list;
  while (static_cast<Index>(made.size()) > size)
    made.erase(random_.one_in(2) ? made.begin() : made.end() - 1);
  while (static_cast<Index>(made.size()) < size)
    made.push_back(made.empty() || random_.one_in(3) ? 1 + random_.below(3) : random_.pick(made));
  return made;
}

bool Solver::assign(const Term& term, const Result& to) {
  if (depth_ > max_depth || std::holds_alternative<std::monostate>(to)) return false;
  ++depth_;
  bool done = false;
  if (const auto* i = std::get_if<Index>(&to); i && term.kind == Term::Kind::integer)
    done = *i == term.number;
  else if (term.kind == Term::Kind::name)
    done = assign_name(term.text, to);
  else if (term.kind == Term::Kind::form)
    done = assign_form(term, to);
  --depth_;
  evaluate_.forget();
  return done;
}

bool Solver::assign_name(const std::string& name, const Result& to) {
  if (evaluate_.bound.contains(name)) return false;
  if (const Term* let = program_.let(name)) return assign(*let, to);
  const AttributeSpec* spec = attribute_spec(*draft_.signature, name);
  if (!spec) return false;
  if (const auto* i = std::get_if<Index>(&to)) {
    if (spec->kind == "int") return set_attribute(name, std::to_string(*i));
    return spec->kind == "float" && set_attribute(name, std::to_string(*i));
  }
  if (const auto* text = std::get_if<std::string>(&to))
    return spec->kind == "string" && set_attribute(name, fuzz::quoted(*text));
  if (const auto* items = std::get_if<List>(&to))
    return spec->kind == "ints" && set_attribute(name, join_list(*items));
  if (const auto* type = std::get_if<Type>(&to))
    return spec->kind == "int" && set_attribute(name, std::to_string(static_cast<int>(*type)));
  return false;
}

bool Solver::assign_form(const Term& term, const Result& to) {
  const std::string& head = term.text;
  if (head == "if") {
    const auto chosen = evaluate_.condition(term.args.at(0));
    return chosen && assign(term.args.at(*chosen ? 1 : 2), to);
  }
  if (head == "match") {
    const Result key = evaluate_(term.args.at(0));
    const auto* text = std::get_if<std::string>(&key);
    for (std::size_t k = 1; text && k < term.args.size(); ++k)
      if (term.args[k].text == *text || term.args[k].text == "else")
        return assign(term.args[k].args.at(0), to);
    return false;
  }
  if (head == "lower" || head == "real" || head == "ceil_index" || head == "floor_index")
    return assign(term.args.at(0), to);
  if (head == "type") {
    const auto* type = std::get_if<Type>(&to);
    const auto port = evaluate_.input(term.args.at(0).text);
    if (type && port) return set_type(*port, *type);
    return type && assign(term.args.at(0), to);
  }
  static const std::vector<std::string> arithmetic{
      "+", "-", "*", "/", "%", "neg", "min", "max", "ceil_div", "floor_div", "wrap"};
  if (std::find(arithmetic.begin(), arithmetic.end(), head) != arithmetic.end())
    return assign_arithmetic(term, to);
  if (const auto* items = std::get_if<List>(&to)) return assign_list(term, *items);
  if (const auto* i = std::get_if<Index>(&to)) return assign_integer(term, *i);
  return false;
}

bool Solver::assign_integer(const Term& term, Index to) {
  const std::string& head = term.text;
  if (head == "dim") {
    auto dims = evaluate_.shape(term.args.at(0));
    auto k = evaluate_.integer(term.args.at(1));
    if (!dims || !k) return false;
    if (*k < 0) *k += static_cast<Index>(dims->size());
    if (*k < 0 || *k >= static_cast<Index>(dims->size())) return false;
    (*dims)[static_cast<std::size_t>(*k)] = to;
    return set_shape(term.args.at(0), *dims);
  }
  if (head == "rank") {
    const auto dims = evaluate_.shape(term.args.at(0));
    if (!dims || to < 0 || to > static_cast<Index>(max_rank)) return false;
    return set_shape(term.args.at(0), resized(*dims, to));
  }
  if (head == "size") {
    const Result of = evaluate_(term.args.at(0));
    if (const auto* family = std::get_if<FamilyTerm>(&of)) {
      const Index wanted = to + static_cast<Index>(family->from);
      if (to < 1 || to > 8 || draft_.ports.size() <= family->from) return false;
      draft_.ports.resize(static_cast<std::size_t>(wanted), draft_.ports[family->from]);
      return true;
    }
    const auto* items = std::get_if<List>(&of);
    if (!items || to < 0 || to > max_extent) return false;
    return assign(term.args.at(0), resized(*items, to));
  }
  if (head == "count" || head == "total") {
    auto items = evaluate_.list(term.args.at(0));
    if (!items) return false;
    if (items->empty()) return assign(term.args.at(0), List{to});
    const auto k = static_cast<std::size_t>(random_.below(static_cast<Index>(items->size())));
    Index rest = head == "count" ? 1 : 0;
    for (std::size_t d = 0; d < items->size(); ++d)
      if (d != k) rest = head == "count" ? rest * (*items)[d] : rest + (*items)[d];
    if (head == "total") {
      (*items)[k] = to - rest;
      if (to < rest) {
        for (Index& item : *items) item = 0;
        (*items)[k] = to;
      }
    } else if (rest > 0 && to % rest == 0) {
      (*items)[k] = to / rest;
    } else {
      for (Index& item : *items) item = 1;
      (*items)[k] = to;
    }
    return assign(term.args.at(0), *items);
  }
  if (head == "read") {
    const auto k = evaluate_.integer(term.args.at(1));
    auto items = evaluate_.list(term.args.at(0));
    if (!k || !items || *k < 0 || *k >= static_cast<Index>(items->size())) return false;
    (*items)[static_cast<std::size_t>(*k)] = to;
    return assign(term.args.at(0), *items);
  }
  return false;
}

bool Solver::assign_list(const Term& term, const List& to) {
  const std::string& head = term.text;
  const auto size = static_cast<Index>(to.size());
  if (head == "shape") return set_shape(term.args.at(0), to);
  if (head == "value") {
    const Result of = evaluate_(term.args.at(0));
    const auto* tensor = std::get_if<TensorTerm>(&of);
    return tensor && !tensor->seen && set_elements(tensor->port, to);
  }
  if (head == "list" || head == "for") return assign_items(term, to);
  if (head == "repeat") {
    if (!to.empty() &&
        (std::count(to.begin(), to.end(), to[0]) != size || !assign(term.args[0], to[0])))
      return false;
    return assign(term.args.at(1), size);
  }
  const auto now = evaluate_.list(term.args.at(0));
  if (!now) return false;
  List made = *now;
  const auto total = static_cast<Index>(now->size());
  if (head == "head" || head == "tail" || head == "part") {
    const auto n = evaluate_.integer(term.args.at(1));
    if (!n) return false;
    const Index from = head == "head" ? 0 : *n;
    const auto part = head == "part" ? evaluate_.integer(term.args.at(2)) : std::nullopt;
    const Index until = head == "head" ? *n : head == "tail" ? total : from + part.value_or(0);
    if (from < 0 || until < from || until > total) return false;
    made.erase(made.begin() + from, made.begin() + until);
    made.insert(made.begin() + from, to.begin(), to.end());
    return assign(term.args.at(0), made);
  }
  if (head == "pick" || head == "replaced") {
    const Result at = evaluate_(term.args.at(1));
    const auto* one = std::get_if<Index>(&at);
    const auto* many = std::get_if<List>(&at);
    const List places = many ? *many : one ? List{*one} : List{};
    const auto inside = [&](Index k) { return k >= 0 && k < total; };
    if (!std::all_of(places.begin(), places.end(), inside)) return false;
    if (head == "pick" && places.size() != to.size()) return false;
    if (head == "replaced" && size != total) return false;
    if (head == "replaced") made = to;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto place = static_cast<std::size_t>(places[k]);
      made[place] = head == "pick" ? to[k] : (*now)[place];
    }
    return assign(term.args.at(0), made);
  }
  return false;
}

bool Solver::assign_items(const Term& term, const List& to) {
  if (term.is("for")) {
    const auto low = evaluate_.integer(term.args.at(1)), high = evaluate_.integer(term.args.at(2));
    if (!low || !high) return false;
    if (*high - *low != static_cast<Index>(to.size()))
      return assign(term.args.at(2), *low + static_cast<Index>(to.size()));
    bool done = true;
    for (std::size_t k = 0; k < to.size() && done; ++k) {
      evaluate_.bound[term.args.at(0).text] = *low + static_cast<Index>(k);
      evaluate_.forget();
      done = evaluate_.integer(term.args.at(4)) == to[k] || assign(term.args.at(4), to[k]);
    }
    evaluate_.bound.erase(term.args.at(0).text);
    return done;
  }
  // Spliced lists keep their lengths, but for the last one, which takes the rest.
  std::size_t at = 0, singles = 0, splices = 0;
  for (const Term& each : term.args) (each.is("splice") ? splices : singles) += 1;
  if (to.size() < singles || (splices == 0 && to.size() != singles)) return false;
  for (std::size_t k = 0; k < term.args.size(); ++k) {
    const Term& each = term.args[k];
    if (!each.is("splice")) {
      if (at >= to.size()) return false;
      evaluate_.forget();
      if (evaluate_.integer(each) != to[at] && !assign(each, to[at])) return false;
      ++at;
      continue;
    }
    --splices;
    const auto now = evaluate_.list(each.args.at(0));
    const auto after = static_cast<std::size_t>(
        std::count_if(term.args.begin() + static_cast<std::ptrdiff_t>(k) + 1, term.args.end(),
                      [](const Term& t) { return !t.is("splice"); }));
    if (!now || to.size() < at + after) return false;
    const std::size_t count = splices == 0 ? to.size() - at - after : now->size();
    if (at + count > to.size()) return false;
    const List part(to.begin() + static_cast<std::ptrdiff_t>(at),
                    to.begin() + static_cast<std::ptrdiff_t>(at + count));
    if (part != *now && !assign(each.args.at(0), part)) return false;
    at += count;
  }
  return at == to.size();
}

bool Solver::assign_arithmetic(const Term& term, const Result& to) {
  const std::string& how = term.text;
  const Term& left = term.args.at(0);
  if (how == "neg") {
    const auto* i = std::get_if<Index>(&to);
    return i && assign(left, -*i);
  }
  const Term& right = term.args.at(1);
  const Result a = evaluate_(left), b = evaluate_(right);
  if (how == "min" || how == "max") {  // the operand that decides
    const Result now = evaluate_(term);
    return assign(now == a ? left : right, to);
  }
  // Item by item, where a number stands for a list of it.
  const auto inverse = [&](Index result, Index x, Index y, bool of_left) -> std::optional<Index> {
    if (how == "+") return of_left ? result - y : result - x;
    if (how == "-") return of_left ? result + y : x - result;
    if (how == "wrap")
      return of_left ? std::optional<Index>(random_.one_in(3) ? result - y : result) : std::nullopt;
    if (how == "*") {
      const Index other = of_left ? y : x;
      if (other == 0 || result % other != 0) return std::nullopt;
      return result / other;
    }
    if (how == "%") {
      if (!of_left || y == 0) return of_left ? std::nullopt : std::optional<Index>(1);
      return std::max<Index>(x - x % y, random_.one_in(2) ? y : 0) + result;
    }
    if (!of_left || y <= 0) return std::nullopt;
    const Index within = random_.one_in(2) ? 0 : random_.below(y);
    return how == "ceil_div" ? result * y - within : result * y + within;
  };
  const bool first =
      how == "wrap" || how == "/" || how == "ceil_div" || how == "floor_div" || !random_.one_in(2);
  for (const bool of_left : {first, !first}) {
    const Result& self = of_left ? a : b;
    const auto* wanted = std::get_if<Index>(&to);
    const auto* x = std::get_if<Index>(&a);
    const auto* y = std::get_if<Index>(&b);
    if (wanted && x && y) {
      const auto made = inverse(*wanted, *x, *y, of_left);
      if (made && assign(of_left ? left : right, *made)) return true;
      evaluate_.forget();
      continue;
    }
    const auto* list = std::get_if<List>(&to);
    const auto* xs = std::get_if<List>(&a);
    const auto* ys = std::get_if<List>(&b);
    if (!list || !std::holds_alternative<List>(self)) continue;
    List made;
    for (std::size_t k = 0; k < list->size(); ++k) {
      const bool known =
          (x || (xs && (of_left || k < xs->size()))) && (y || (ys && (!of_left || k < ys->size())));
      if (!known) return false;
      const Index own = xs && k >= xs->size() ? 0 : xs ? (*xs)[k] : *x;
      const Index other = ys && k >= ys->size() ? 0 : ys ? (*ys)[k] : *y;
      const auto item = inverse((*list)[k], own, other, of_left);
      if (!item) break;
      made.push_back(*item);
    }
    if (made.size() == list->size() && assign(of_left ? left : right, made)) return true;
    evaluate_.forget();
  }
  return false;
}

}  // namespace touchstone::fuzz
