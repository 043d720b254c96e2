// Functions and arithmetic of the notation on integers and lists, as codegen/builtins.py lists
// them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "fuzz/op/evaluate.h"
#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

std::optional<Index> scalar(std::string_view how, Index a, Index b) {
  constexpr Index bound = Index{1} << 31;
  if (std::abs(a) > bound || std::abs(b) > bound) return std::nullopt;
  if (how == "+") return a + b;
  if (how == "-") return a - b;
  if (how == "*") return a * b;
  if (how == "min") return std::min(a, b);
  if (how == "max") return std::max(a, b);
  if (how == "wrap") return a < 0 ? a + b : a;
  if (b == 0) return std::nullopt;
  const Index quotient = a / b, rest = a % b;
  if (how == "/") return quotient;
  if (how == "%") return rest;
  if (how == "mod") return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  const bool inexact = rest != 0;
  if (how == "floor_div") return quotient - (inexact && (rest < 0) != (b < 0) ? 1 : 0);
  if (how == "ceil_div") return quotient + (inexact && (rest < 0) == (b < 0) ? 1 : 0);
  return std::nullopt;
}

Result combined(std::string_view how, const Result& a, const Result& b) {
  const auto* i = std::get_if<Index>(&a);
  const auto* j = std::get_if<Index>(&b);
  if (i && j) {
    const auto made = scalar(how, *i, *j);
    return made ? Result(*made) : Result();
  }
  const auto* x = std::get_if<List>(&a);
  const auto* y = std::get_if<List>(&b);
  if ((!x && !i) || (!y && !j) || (x && y && x->size() != y->size())) return {};
  List made;
  for (std::size_t k = 0; k < (x ? x : y)->size(); ++k) {
    const auto item = scalar(how, x ? (*x)[k] : *i, y ? (*y)[k] : *j);
    if (!item) return {};
    made.push_back(*item);
  }
  return made;
}

template <class T>
Result item_of(const std::vector<T>& list, Index k) {
  if (k < 0 || k >= static_cast<Index>(list.size())) return {};
  return list[static_cast<std::size_t>(k)];
}

Index product(const List& list) {
  Index all = 1;
  for (const Index n : list) all = std::min<Index>(all * std::abs(n), Index{1} << 31);
  return all;
}

Result slice(const List& list, Index from, Index count) {
  const Index size = static_cast<Index>(list.size());
  if (from < 0 || count < 0 || from + count > size) return {};
  return List(list.begin() + from, list.begin() + from + count);
}

}  // namespace

std::optional<List> broadcast(const std::vector<List>& shapes) {
  std::size_t rank = 0;
  for (const List& shape : shapes) rank = std::max(rank, shape.size());
  List made(rank, 1);
  for (const List& shape : shapes) {
    for (std::size_t k = 0; k < shape.size(); ++k) {
      Index& n = made[rank - shape.size() + k];
      if (n != 1 && shape[k] != 1 && n != shape[k]) return std::nullopt;
      if (n == 1) n = shape[k];
    }
  }
  return made;
}

Result Evaluator::arithmetic(const Term& term) {
  if (term.text == "neg") return combined("-", Index{0}, (*this)(term.args.at(0)));
  if (term.text == "clamp") {
    const Result low = combined("max", (*this)(term.args.at(0)), (*this)(term.args.at(1)));
    return combined("min", low, (*this)(term.args.at(2)));
  }
  Result made = (*this)(term.args.at(0));
  for (std::size_t k = 1; k < term.args.size(); ++k)
    made = combined(term.text, made, (*this)(term.args[k]));
  return made;
}

Result Evaluator::type(const Term& term) {
  const Result of = (*this)(term);
  if (const auto* code = std::get_if<Index>(&of))
    return *code >= 0 && *code <= 28 ? Result(static_cast<Type>(*code)) : Result();
  if (const auto* tensor = std::get_if<TensorTerm>(&of))
    return draft_.given(tensor->port) && draft_.ports[tensor->port].value.is_tensor()
               ? Result(draft_.ports[tensor->port].value.type)
               : Result();
  return {};
}

Result Evaluator::call(const Term& term) {
  const std::string& head = term.text;
  const auto arg = [&](std::size_t k) -> const Term& { return term.args.at(k); };
  if (head == "given") return given(arg(0).text);
  if (head == "wanted") return wanted(draft_, arg(0).text);
  if (head == "type") return type(arg(0));
  if (head == "in") {
    const Result of = (*this)(arg(0));
    const auto* type = std::get_if<Type>(&of);
    return type && *type != Type::undefined ? Result(is_of_class(*type, arg(1).text)) : Result();
  }
  if (head == "shape" || head == "rank" || head == "dim") {
    const auto dims = shape(arg(0));
    if (!dims) return {};
    if (head == "shape") return *dims;
    const auto rank = static_cast<Index>(dims->size());
    if (head == "rank") return rank;
    const auto k = integer(arg(1));
    return k ? item_of(*dims, *k < 0 ? *k + rank : *k) : Result();
  }
  if (head == "view" || head == "permuted") {
    const Result of = (*this)(arg(0));
    const auto* tensor = std::get_if<TensorTerm>(&of);
    const auto said = list(arg(1));
    if (!tensor || !said) return {};
    TensorTerm made{tensor->port, *said};
    if (head == "permuted") {
      const auto dims = shape(arg(0));
      if (!dims) return {};
      for (Index& k : *made.seen) {
        if (k < 0 || k >= static_cast<Index>(dims->size())) return {};
        k = (*dims)[static_cast<std::size_t>(k)];
      }
    }
    return made;
  }
  if (head == "value" || head == "reals") {
    const Result of = (*this)(arg(0));
    const auto* tensor = std::get_if<TensorTerm>(&of);
    if (!tensor || !draft_.given(tensor->port)) return {};
    const DraftValue& value = draft_.ports[tensor->port].value;
    if (head == "value") {
      const auto integers = integers_of(value);
      return integers ? Result(*integers) : Result();
    }
    if (!value.is_tensor() || !value.regime.empty() || value.size() > 4096 ||
        (value.elements.empty() && value.size() > 0))
      return {};
    std::vector<double> all(static_cast<std::size_t>(value.size()));
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string& text = value.elements[k % value.elements.size()];
      std::from_chars(text.data(), text.data() + text.size(), all[k]);
    }
    return all;
  }
  if (head == "broadcast" || head == "broadcastable") {
    std::vector<List> shapes;
    for (const Term& each : term.args) {
      const Result of = (*this)(each);
      if (const auto* family = std::get_if<FamilyTerm>(&of)) {
        for (std::size_t k = family->from; k < draft_.ports.size(); ++k)
          shapes.push_back(draft_.ports[k].value.dims);
      } else if (const auto* dims = std::get_if<List>(&of)) {
        shapes.push_back(*dims);
      } else {
        return {};
      }
    }
    const auto made = broadcast(shapes);
    if (head == "broadcastable") return made.has_value();
    return made ? Result(*made) : Result();
  }
  if (head == "read") {
    const Result of = (*this)(arg(0));
    const auto k = integer(arg(1));
    if (!k) return {};
    if (const auto* family = std::get_if<FamilyTerm>(&of))
      return TensorTerm{family->from + static_cast<std::size_t>(*k), {}};
    if (const auto* items = std::get_if<List>(&of)) return item_of(*items, *k);
    if (const auto* items = std::get_if<std::vector<double>>(&of)) return item_of(*items, *k);
    if (const auto* items = std::get_if<std::vector<std::string>>(&of)) return item_of(*items, *k);
    return {};
  }
  if (head == "contains") {
    const Result of = (*this)(arg(0)), item = (*this)(arg(1));
    const auto* text = std::get_if<std::string>(&item);
    const auto* texts = std::get_if<std::vector<std::string>>(&of);
    if (text && texts) return std::find(texts->begin(), texts->end(), *text) != texts->end();
    const auto* i = std::get_if<Index>(&item);
    const auto* items = std::get_if<List>(&of);
    if (i && items) return std::find(items->begin(), items->end(), *i) != items->end();
    return {};
  }
  if (head == "real") {
    const auto i = integer(arg(0));
    return i ? Result(static_cast<double>(*i)) : Result();
  }
  if (head == "floor_index" || head == "ceil_index") {
    const Result of = (*this)(arg(0));
    if (std::holds_alternative<Index>(of)) return of;
    const auto* x = std::get_if<double>(&of);
    if (!x || !(std::abs(*x) < 1e9)) return {};
    return static_cast<Index>(head == "floor_index" ? std::floor(*x) : std::ceil(*x));
  }
  return list_call(term);
}

Result Evaluator::list_call(const Term& term) {
  const std::string& head = term.text;
  if (head == "list") {
    List made;
    std::vector<std::string> texts;
    for (const Term& each : term.args) {
      const Result item = (*this)(each.is("splice") ? each.args.at(0) : each);
      if (const auto* i = std::get_if<Index>(&item)) {
        made.push_back(*i);
      } else if (const auto* items = std::get_if<List>(&item)) {
        made.insert(made.end(), items->begin(), items->end());
      } else if (const auto* text = std::get_if<std::string>(&item)) {
        texts.push_back(*text);
      } else {
        return {};
      }
    }
    return texts.empty() ? Result(made) : Result(texts);
  }
  if (head == "for") {
    const auto low = integer(term.args.at(1)), high = integer(term.args.at(2));
    if (!low || !high || *high - *low > 256) return {};
    List made;
    const std::string& variable = term.args.at(0).text;
    bool whole = true;
    for (Index i = *low; i < *high; ++i) {
      bound[variable] = i;
      if (condition(term.args.at(3)) != false) {
        const auto item = integer(term.args.at(4));
        whole &= item.has_value();
        made.push_back(item.value_or(0));
      }
    }
    bound.erase(variable);
    return whole ? Result(made) : Result();
  }
  if (head == "repeat") {
    const auto item = integer(term.args.at(0)), count = integer(term.args.at(1));
    if (!item || !count || *count < 0 || *count > 4096) return {};
    return List(static_cast<std::size_t>(*count), *item);
  }
  if (term.args.empty()) return {};
  const Result of = (*this)(term.args.at(0));
  if (head == "size") {
    if (const auto* family = std::get_if<FamilyTerm>(&of))
      return static_cast<Index>(draft_.ports.size() - std::min(family->from, draft_.ports.size()));
    if (const auto* reals = std::get_if<std::vector<double>>(&of))
      return static_cast<Index>(reals->size());
    if (const auto* texts = std::get_if<std::vector<std::string>>(&of))
      return static_cast<Index>(texts->size());
  }
  const auto* items = std::get_if<List>(&of);
  if (!items) return {};
  const auto size = static_cast<Index>(items->size());
  if (head == "size") return size;
  if (head == "count") return product(*items);
  if (head == "total") {
    Index all = 0;
    for (const Index n : *items) all += n;
    return all;
  }
  const std::set<Index> once(items->begin(), items->end());
  if (head == "distinct") return once.size() == items->size();
  if (head == "is_permutation")
    return once.size() == items->size() &&
           (once.empty() || (*once.begin() == 0 && *once.rbegin() == size - 1));
  const Result with = term.args.size() > 1 ? (*this)(term.args[1]) : Result();
  const auto* n = std::get_if<Index>(&with);
  const auto* at = std::get_if<List>(&with);
  if (head == "head" && n) return slice(*items, 0, *n);
  if (head == "tail" && n) return slice(*items, *n, size - *n);
  if (head == "part" && n) {
    const auto count = integer(term.args.at(2));
    return count ? slice(*items, *n, *count) : Result();
  }
  if (head == "position" && n) {
    const auto found = std::find(items->begin(), items->end(), *n);
    return found == items->end() ? Index{-1} : static_cast<Index>(found - items->begin());
  }
  if (head != "pick" && head != "without" && head != "replaced") return {};
  const List places = at ? *at : n ? List{*n} : List{};
  if (std::any_of(places.begin(), places.end(), [&](Index k) { return k < 0 || k >= size; }))
    return {};
  List made = head == "pick" ? List{} : *items;
  if (head == "pick") {
    for (const Index k : places) made.push_back((*items)[static_cast<std::size_t>(k)]);
    return made;
  }
  if (head == "without") {
    List rest;
    for (Index k = 0; k < size; ++k)
      if (std::find(places.begin(), places.end(), k) == places.end())
        rest.push_back((*items)[static_cast<std::size_t>(k)]);
    return rest;
  }
  const Result by = (*this)(term.args.at(2));
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto* one = std::get_if<Index>(&by);
    const auto* many = std::get_if<List>(&by);
    if (!one && (!many || k >= many->size())) return {};
    made[static_cast<std::size_t>(places[k])] = one ? *one : (*many)[k];
  }
  return made;
}

}  // namespace touchstone::fuzz
