// The loop takes the first broken rule each turn. After half of the turns pinned places give way.
#include "fuzz/op/solver.h"

#include <algorithm>

#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {

const NamedTerm* Solver::broken() {
  evaluate_.forget();
  for (const NamedTerm& rule : program_.rules)
    if (evaluate_.condition(rule.term) == false) return &rule;
  return nullptr;
}

bool Solver::solve(bool redraw) {
  for (int turn = 0; turn < max_turns; ++turn) {
    loose_ = turn >= max_turns / 2;
    const NamedTerm* const rule = broken();
    if (!rule) return place_positions(redraw);
    depth_ = 0;
    satisfy(rule->term, true);
  }
  return false;
}

bool Solver::breach(const Term& rule) {
  depth_ = 0;
  loose_ = true;
  evaluate_.forget();
  if (!satisfy(rule, false)) return false;
  evaluate_.forget();
  return evaluate_.condition(rule) == false &&
         std::all_of(program_.rules.begin(), program_.rules.end(), [&](const NamedTerm& other) {
           return &other.term == &rule || evaluate_.condition(other.term) != false;
         });
}

// Draws elements of inputs that are positions within an extent.
bool Solver::place_positions(bool redraw) {
  for (const auto& [name, term] : program_.positions) {
    const auto port = evaluate_.input(name);
    const auto extent = evaluate_.integer(term);
    if (!port || !extent || !draft_.given(*port)) continue;
    DraftValue& value = draft_.ports[*port].value;
    if (!value.is_tensor() || value.size() == 0) continue;
    if (*extent <= 0) return false;
    const auto now = integers_of(value);
    const auto fits = [&](Index i) { return i >= -*extent && i < *extent; };
    if (now && std::all_of(now->begin(), now->end(), fits) && (!redraw || !random_.one_in(3)))
      continue;
    const bool is_signed = facts(value.type).is_signed;
    const Index most = std::min<Index>(*extent, 100);
    List drawn;
    const Index count = std::min(value.size(), max_written);
    for (Index k = 0; k < count; ++k) {
      Index i = random_.one_in(4) ? *extent - 1 : random_.below(most);
      if (is_signed && random_.one_in(4)) i -= *extent;
      drawn.push_back(i >= -128 && i < 128 ? i : 0);
    }
    set_integers(value, drawn);
  }
  return true;
}

bool Solver::satisfy(const Term& term, bool want) {
  evaluate_.forget();
  if (evaluate_.condition(term) == want) return true;
  if (depth_ > max_depth) return false;
  ++depth_;
  bool done = false;
  const std::string& head = term.text;
  if (term.kind == Term::Kind::name) {
    const Term* const let = program_.let(head);
    done = let && satisfy(*let, want);
  } else if (term.kind != Term::Kind::form) {
    done = false;
  } else if (head == "and" || head == "or" || head == "not") {
    done = satisfy_logic(term, want);
  } else if (head == "if") {
    const auto chosen = evaluate_.condition(term.args.at(0));
    done = chosen && satisfy(term.args.at(*chosen ? 1 : 2), want);
  } else if (head == "reduce") {
    done = satisfy_reduction(term, want);
  } else if (head == "given") {
    done = satisfy_given(term.args.at(0).text, want);
  } else if (head == "wanted") {
    done = satisfy_wanted(term.args.at(0).text, want);
  } else if (head == "in") {
    done = satisfy_class(term.args.at(0), term.args.at(1).text, want);
  } else if (head == "broadcastable" && want) {
    done = satisfy_broadcast(term.args);
  } else if (head == "contains" || head == "distinct" || head == "is_permutation") {
    done = satisfy_list(term, want);
  } else if (term.args.size() == 2) {
    done = satisfy_comparison(term, want);
  }
  --depth_;
  evaluate_.forget();
  return done;
}

bool Solver::satisfy_logic(const Term& term, bool want) {
  if (term.text == "not") return satisfy(term.args.at(0), !want);
  if ((term.text == "and") == want) {  // all must hold
    bool done = true;
    for (const Term& arg : term.args) {
      evaluate_.forget();
      const auto now = evaluate_.condition(arg);
      if (now && *now != want) done &= satisfy(arg, want);
    }
    return done;
  }
  const auto first = static_cast<std::size_t>(random_.below(static_cast<Index>(term.args.size())));
  for (std::size_t k = 0; k < term.args.size(); ++k)
    if (satisfy(term.args[(first + k) % term.args.size()], want)) return true;
  return false;
}

bool Solver::satisfy_reduction(const Term& term, bool want) {
  const std::string& how = term.args.at(0).text;
  if (how != "all" && how != "any") return false;
  const bool everywhere = (how == "all") == want;
  bool done = everywhere;
  Index points = 0;
  evaluate_.each(term.args.at(1).args, 0, term.args.at(2), [&] {
    evaluate_.forget();
    const auto now = evaluate_.condition(term.args.at(3));
    ++points;
    if (everywhere) {
      if (now && *now != want) done &= satisfy(term.args.at(3), want);
      return true;
    }
    done = now == want || (!random_.one_in(3) && satisfy(term.args.at(3), want));
    return !done;
  });
  return done && points > 0;
}

bool Solver::satisfy_comparison(const Term& term, bool want) {
  static const std::map<std::string_view, std::string_view> opposite{
      {"==", "!="}, {"!=", "=="}, {"<", ">="}, {">=", "<"}, {">", "<="}, {"<=", ">"}};
  const auto known = opposite.find(term.text);
  if (known == opposite.end()) return false;
  const std::string_view how = want ? known->first : known->second;
  if (how == "==") return satisfy_equal(term.args[0], term.args[1]);
  return satisfy_order(term, how);
}

bool Solver::satisfy_equal(const Term& left, const Term& right) {
  const Result a = evaluate_(left), b = evaluate_(right);
  if (left.is("broadcast")) {  // the shapes broadcast to the right side
    const auto* to = std::get_if<List>(&b);
    if (!to) return false;
    for (const Term& each : left.args) {
      evaluate_.forget();
      auto now = evaluate_.list(each);
      if (!now || now == *to) continue;
      if (now->size() > to->size()) now->resize(to->size());
      const std::size_t skipped = to->size() - now->size();
      for (std::size_t k = 0; k < now->size(); ++k)
        if ((*now)[k] != 1) (*now)[k] = (*to)[skipped + k];
      if (!assign(each, *now)) return false;
    }
    return true;
  }
  // If one side is a bool, the other one is made equal to it.
  if (const auto* wanted = std::get_if<bool>(&b); wanted && random_.one_in(2))
    return satisfy(left, *wanted);
  if (const auto* wanted = std::get_if<bool>(&a)) return satisfy(right, *wanted);
  const bool swapped = random_.one_in(2);
  if (swapped ? assign(right, a) : assign(left, b)) return true;
  evaluate_.forget();
  return swapped ? assign(left, b) : assign(right, a);
}

bool Solver::satisfy_order(const Term& term, std::string_view how) {
  const Term& left = term.args[0];
  const Term& right = term.args[1];
  const Result a = evaluate_(left), b = evaluate_(right);
  const auto* i = std::get_if<Index>(&a);
  const auto* j = std::get_if<Index>(&b);
  if (i && j) {
    const Index more = random_.one_in(2) ? 0 : random_.below(3);
    const Index strict = how == "<" || how == ">" || how == "!=" ? 1 : 0;
    const bool below = how == "<" || how == "<=";
    const auto value = [&](Index other, bool low) {
      return low ? other - strict - more : other + strict + more;
    };
    const bool swapped = random_.one_in(2);
    for (const bool right_side : {swapped, !swapped}) {
      if (right_side ? assign(right, value(*i, !below)) : assign(left, value(*j, below)))
        return true;
      evaluate_.forget();
    }
    return false;
  }
  if (const auto* x = std::get_if<std::string>(&a); x && how == "!=") return assign(left, *x + "x");
  if (const auto* x = std::get_if<List>(&a); x && how == "!=") {
    List other = *x;
    if (other.empty()) return assign(left, List{1});
    random_.pick(other) += 1;
    return assign(left, other);
  }
  return false;
}

bool Solver::satisfy_broadcast(const std::vector<Term>& terms) {
  std::vector<std::size_t> ports;  // of a variadic input
  std::vector<List> shapes;
  for (const Term& each : terms) {
    const Result of = evaluate_(each);
    if (const auto* family = std::get_if<FamilyTerm>(&of)) {
      for (std::size_t k = family->from; k < draft_.ports.size(); ++k) {
        ports.push_back(k);
        shapes.push_back(draft_.ports[k].value.dims);
      }
    } else if (const auto* dims = std::get_if<List>(&of)) {
      shapes.push_back(*dims);
    } else {
      return false;
    }
  }
  const auto first = static_cast<std::size_t>(random_.below(static_cast<Index>(shapes.size())));
  for (std::size_t turn = 0; turn < shapes.size(); ++turn) {
    const List base = shapes[(first + turn) % shapes.size()];
    bool done = true;
    for (std::size_t k = 0; k < shapes.size() && done; ++k) {
      List dims = shapes[k];
      for (std::size_t d = 1; d <= std::min(dims.size(), base.size()); ++d) {
        Index& own = dims[dims.size() - d];
        const Index to = base[base.size() - d];
        if (own != to && own != 1 && to != 1) own = random_.one_in(3) ? 1 : to;
      }
      if (dims == shapes[k]) continue;
      done = ports.empty() ? assign(terms[k], dims) : set_dims(ports[k], dims);
      evaluate_.forget();
    }
    if (done) return true;
  }
  return false;
}

bool Solver::satisfy_given(const std::string& name, bool want) {
  if (const AttributeSpec* spec = attribute_spec(*draft_.signature, name)) {
    if (pinned_.attributes.contains(name) && !loose_) return false;
    if (!want) return !spec->required && draft_.attributes.erase(name) > 0;
    const auto& values = seeds_.values.at(name);
    return !values.empty() && set_attribute(name, random_.pick(values));
  }
  const auto port = evaluate_.input(name);
  if (!port) return false;
  if (!want) {
    if (!draft_.signature->inputs[*port].optional) return false;
    draft_.at(*port) = {};
    draft_.trim();
    return true;
  }
  const auto known = seeds_.ports.find(*port);
  if (known == seeds_.ports.end()) return false;
  draft_.at(*port) = random_.pick(known->second);
  return true;
}

bool Solver::satisfy_wanted(std::string_view output, bool want) {
  const auto& outputs = draft_.signature->outputs;
  std::string mask = draft_.outputs;
  for (std::size_t k = 0; draft_.outputs.empty() && k < outputs.size(); ++k)
    mask += outputs[k].optional ? '_' : 'x';
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].name != output && "out_" + std::string(outputs[k].name) != output) continue;
    if (mask.size() <= k) mask.resize(k + 1, '_');
    mask[k] = want ? 'x' : '_';
    mask.resize(mask.find_last_not_of('_') + 1);
    if (mask.empty()) return false;
    if (draft_.signature->all_outputs && outputs[mask.size() - 1].optional)
      mask.resize(outputs.size(), '_');
    draft_.outputs = mask;
    return true;
  }
  return false;
}

bool Solver::satisfy_class(const Term& term, const std::string& name, bool want) {
  const Term* const let = term.kind == Term::Kind::name ? program_.let(term.text) : nullptr;
  if (let) return satisfy_class(*let, name, want);
  for (std::size_t k = 0; k < draft_.ports.size(); ++k) {
    const ParameterSpec* spec = port_spec(*draft_.signature, k);
    const bool is_it = term.is("type") ? evaluate_.input(term.args.at(0).text) == k
                                       : spec && spec->type == term.text;
    if (!is_it || !draft_.given(k) || !draft_.ports[k].value.is_tensor()) continue;
    std::vector<Type> types;
    for (const std::string_view type : admitted(*draft_.signature, k)) {
      const ValueType is = parse_value_type(type);
      if (is.kind == ValueType::Kind::tensor && is_of_class(is.element, name) == want)
        types.push_back(is.element);
    }
    return !types.empty() && set_type(k, random_.pick(types));
  }
  return false;
}

bool Solver::satisfy_list(const Term& term, bool want) {
  if (term.text == "contains") {
    const Result of = evaluate_(term.args.at(0));
    if (const auto* texts = std::get_if<std::vector<std::string>>(&of))
      return assign(
          term.args.at(1),
          want && !texts->empty()
              ? (*texts)[static_cast<std::size_t>(random_.below(static_cast<Index>(texts->size())))]
              : std::string("no such choice"));
    return false;
  }
  auto items = evaluate_.list(term.args.at(0));
  if (!items) return false;
  const auto size = static_cast<Index>(items->size());
  if (!want) {
    if (size < 2) return false;
    (*items)[1] = (*items)[0];
  } else if (term.text == "is_permutation") {
    for (Index k = 0; k < size; ++k) (*items)[static_cast<std::size_t>(k)] = k;
    for (Index k = size - 1; k > 0; --k)
      std::swap((*items)[static_cast<std::size_t>(k)],
                (*items)[static_cast<std::size_t>(random_.below(k + 1))]);
  } else {
    std::set<Index> used;
    for (Index& item : *items) {
      while (used.contains(item)) item = item > 0 ? item - 1 : item < 0 ? item + 1 : size;
      if (used.size() > 64) return false;
      used.insert(item);
    }
  }
  return assign(term.args.at(0), *items);
}

}  // namespace touchstone::fuzz
