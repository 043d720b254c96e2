// Sizes shrink by groups of equal ones first, since rules mostly relate equal sizes, then alone.
#include "fuzz/op/simplify.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "conformance/suites/line.h"
#include "core/numbers/convert.h"
#include "fuzz/op/solver.h"
#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

using Drafts = std::vector<Draft>;

bool is_plain(const std::string& element) { return element == "1" || element == "0"; }

Index complexity(const DraftValue& value) {
  Index all = value.kind == DraftValue::Kind::omitted ? 0 : 50;
  for (const Index n : value.dims) all += 4 + 4 * n;
  for (const std::string& symbol : value.symbols) all += symbol.empty() ? 0 : 2;
  if (value.is_tensor() && value.type != Type::float32) all += 2;
  if (!value.regime.empty()) all += value.regime == "whole" ? 120 : 124;
  for (const std::string& element : value.elements)
    all += (is_plain(element) ? 1 : 2) + static_cast<Index>(element.size() > 3);
  for (const DraftValue& item : value.items) all += complexity(item);
  return all;
}

// Each tensor of the draft, those in containers included.
template <class F>
void each_tensor(DraftValue& value, F f) {
  if (value.is_tensor()) f(value);
  for (DraftValue& item : value.items) each_tensor(item, f);
}
template <class F>
void each_tensor(Draft& draft, F f) {
  for (DraftPort& port : draft.ports) each_tensor(port.value, f);
}

void fewer_parts(const Draft& draft, Drafts& all) {
  const Signature& signature = *draft.signature;
  if (!draft.attributes.empty()) {
    Draft made = draft;
    std::erase_if(made.attributes, [&](const auto& pair) {
      const AttributeSpec* spec = attribute_spec(signature, pair.first);
      return !spec || !spec->required;
    });
    all.push_back(made);
    for (const auto& [name, value] : draft.attributes) {
      made = draft;
      made.attributes.erase(name);
      all.push_back(made);
    }
  }
  for (std::size_t k = draft.ports.size(); k-- > 0;) {
    const ParameterSpec* spec = port_spec(signature, k);
    if (!draft.given(k) || !spec || (!spec->optional && !spec->variadic)) continue;
    Draft made = draft;
    if (spec->variadic) {
      made.ports.erase(made.ports.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      made.ports[k] = {};
    }
    made.trim();
    all.push_back(made);
  }
  if (!draft.outputs.empty()) {
    Draft made = draft;
    made.outputs.clear();
    all.push_back(made);
  }
  Draft made = draft;
  for (DraftPort& port : made.ports) port.held = false;
  each_tensor(made, [](DraftValue& value) { value.symbols.assign(value.dims.size(), ""); });
  all.push_back(made);
}

void smaller_sizes(const Draft& draft, Drafts& all) {
  std::set<Index, std::greater<>> sizes;
  Draft copy = draft;
  each_tensor(copy, [&](DraftValue& value) { sizes.insert(value.dims.begin(), value.dims.end()); });
  for (const Index from : sizes) {
    for (const Index to : {Index{1}, Index{2}, Index{3}, Index{4}, from / 2, from - 1}) {
      if (to >= from || to < 1) continue;
      Draft made = draft;
      each_tensor(made, [&](DraftValue& value) {
        std::replace(value.dims.begin(), value.dims.end(), from, to);
      });
      all.push_back(made);
    }
  }
  for (std::size_t k = 0; k < draft.ports.size(); ++k) {
    const std::vector<Index>& dims = draft.ports[k].value.dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      for (const Index to : {Index{1}, Index{2}, dims[d] - 1}) {
        if (to >= dims[d] || to < 1) continue;
        Draft made = draft;
        made.ports[k].value.dims[d] = to;
        all.push_back(made);
      }
    }
  }
}

void lower_ranks(const Draft& draft, Drafts& all) {
  for (const bool front : {true, false}) {
    Draft made = draft;
    bool any = false;
    each_tensor(made, [&](DraftValue& value) {
      if (value.dims.size() < 2) return;
      any = true;
      value.dims.erase(front ? value.dims.begin() : value.dims.end() - 1);
      value.symbols.assign(value.dims.size(), "");
    });
    if (any) all.push_back(made);
  }
  for (std::size_t k = 0; k < draft.ports.size(); ++k) {
    if (draft.ports[k].value.dims.empty()) continue;
    Draft made = draft;
    made.ports[k].value.dims.erase(made.ports[k].value.dims.begin());
    made.ports[k].value.symbols.clear();
    all.push_back(made);
  }
}

void fewer_items(const Draft& draft, Drafts& all) {
  for (std::size_t k = 0; k < draft.ports.size(); ++k) {
    for (std::size_t i = 0; i < draft.ports[k].value.items.size(); ++i) {
      Draft made = draft;
      std::vector<DraftValue>& items = made.ports[k].value.items;
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back(made);
    }
  }
}

// The elements of a tensor as a line writes them; nothing for types that a number does not hold.
std::optional<std::vector<std::string>> written_out(const Tensor& tensor) {
  const TypeFacts& is = facts(tensor.type());
  if (tensor.type() == Type::string || is.is_complex) return std::nullopt;
  std::vector<std::string> elements;
  for (Index k = 0; k < tensor.size(); ++k) {
    const auto number = number_at(tensor, k);
    std::array<char, 64> text{};
    std::to_chars_result end{};
    if (!is.is_float)
      end = std::to_chars(text.begin(), text.end(), number, std::chars_format::fixed);
    else if (is.bits <= 32)
      end = std::to_chars(text.begin(), text.end(), static_cast<float>(number));
    else
      end = std::to_chars(text.begin(), text.end(), static_cast<double>(number));
    elements.emplace_back(text.begin(), end.ptr);
  }
  return elements;
}

// Regimes of small tensors with their elements written out: any change of a line changes the
// elements of its regimes.
void without_regimes(const Draft& draft, Drafts& all) {
  Draft made = draft;
  made.refused.clear();
  const suites::Line line = suites::parse_line(text(made));
  made.refused = draft.refused;
  bool any = false;
  for (std::size_t k = 0; k < made.ports.size(); ++k) {
    DraftValue& value = made.ports[k].value;
    if (!value.is_tensor() || value.regime.empty() || value.size() > max_written) continue;
    auto elements = written_out(line.inputs.at(k).value.tensor());
    if (!elements) continue;
    any = true;
    value.regime.clear();
    value.elements = std::move(*elements);
  }
  if (any) all.push_back(made);
}

void plainer_data(const Draft& draft, Drafts& all) {
  for (std::size_t k = 0; k < draft.ports.size(); ++k) {
    const DraftValue& value = draft.ports[k].value;
    if (!value.is_tensor() || value.size() == 0) continue;
    const auto with = [&](const std::string& regime, std::vector<std::string> elements) {
      Draft made = draft;
      made.ports[k].value.regime = regime;
      made.ports[k].value.elements = std::move(elements);
      all.push_back(made);
    };
    const bool is_text = value.type == Type::string;
    with("", {is_text ? "\"1\"" : "1"});
    if (!is_text) with("", {"0"});
    if (!value.regime.empty()) {
      if (value.regime != "whole") with("whole", {});
      continue;
    }
    const std::size_t count =
        std::min(value.elements.size(), static_cast<std::size_t>(value.size()));
    if (count < value.elements.size())
      with("",
           {value.elements.begin(), value.elements.begin() + static_cast<std::ptrdiff_t>(count)});
    for (std::size_t e = 0; e < count; ++e) with("", {value.elements[e]});
    for (std::size_t e = 0; e < count; ++e) {
      std::vector<std::string> elements = value.elements;
      if (is_plain(elements[e])) continue;
      elements[e] = is_text ? "\"1\"" : "1";
      with("", std::move(elements));
    }
  }
}

void plainer_types(const Draft& draft, Drafts& all) {
  for (const ConstraintSpec& constraint : draft.signature->types) {
    Draft made = draft;
    bool done = false;
    for (std::size_t k = 0; k < made.ports.size(); ++k) {
      const ParameterSpec* spec = port_spec(*draft.signature, k);
      if (!spec || spec->type != constraint.name || !made.given(k)) continue;
      done |= retype(made.ports[k].value, "tensor(float)");
    }
    if (done) all.push_back(made);
  }
}

}  // namespace

Index complexity(const Draft& draft) {
  Index all = static_cast<Index>(draft.outputs.size());
  for (const DraftPort& port : draft.ports) all += complexity(port.value) + (port.held ? 1 : 0);
  for (const auto& [name, value] : draft.attributes) all += 50 + static_cast<Index>(value.size());
  return all;
}

std::vector<Draft> simplifications(const Draft& draft) {
  Drafts all;
  fewer_parts(draft, all);
  fewer_items(draft, all);
  lower_ranks(draft, all);
  smaller_sizes(draft, all);
  plainer_types(draft, all);
  without_regimes(draft, all);
  plainer_data(draft, all);
  return all;
}

std::optional<Draft> solved_simpler(const Draft& candidate, const Draft& before,
                                    const Knowledge& known, const Bounds& bounds) {
  Draft made = candidate;
  Random random(suites::hash_of_line(text(candidate)));
  if (made.refused.empty()) {
    Solver solver(made, known.programs.of(*made.signature), known.seeds.of(*made.signature), {},
                  random);
    if (!solver.solve(false)) return std::nullopt;
  }
  if (complexity(made) >= complexity(before)) return std::nullopt;
  suites::LineModel model;
  const std::optional<Trial> found = try_draft(made, bounds, model);
  if (!found || (made.refused.empty() ? !found->valid : found->rule != made.refused))
    return std::nullopt;
  return made;
}

}  // namespace touchstone::fuzz
