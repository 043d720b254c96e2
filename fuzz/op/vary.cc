// Sizes are drawn around vector tails and cache blocks. Equal sizes of data inputs change together,
// since rules mostly relate equal sizes.
#include "fuzz/op/vary.h"

#include <algorithm>
#include <array>

#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_rank = 6;
constexpr Index max_special = 160;  // elements of a tensor whose elements are written out

using Names = std::vector<std::string>;
using Ports = std::vector<std::size_t>;

template <class F>
Ports ports_where(const Draft& draft, F holds) {
  Ports found;
  for (std::size_t k = 0; k < draft.ports.size(); ++k)
    if (holds(k, draft.ports[k].value)) found.push_back(k);
  return found;
}

}  // namespace

Index Variation::drawn_size() {
  static constexpr std::array<Index, 6> blocks{9, 10, 12, 15, 16, 17};
  static constexpr std::array<Index, 6> vectors{31, 32, 33, 63, 64, 65};
  static constexpr std::array<Index, 6> lines{127, 128, 129, 255, 256, 257};
  const Index at = random_.below(100);
  if (at < 5) return 0;
  if (at < 18) return 1;
  if (at < 60) return 2 + random_.below(7);
  return at < 76 ? random_.pick(blocks) : at < 92 ? random_.pick(vectors) : random_.pick(lines);
}

bool Variation::fits() const {
  Index all = 0;
  for (const DraftPort& port : draft_.ports) all += port.value.size();
  return all <= max_elements_;
}

void Variation::types() {
  const Signature& signature = *draft_.signature;
  if (signature.types.empty()) return;
  const ConstraintSpec& constraint = random_.pick(signature.types);
  const std::string type(random_.pick(constraint.types));
  Draft made = draft_;
  for (std::size_t k = 0; k < made.ports.size(); ++k) {
    const ParameterSpec* port = port_spec(signature, k);
    if (!port || port->type != constraint.name || !made.given(k)) continue;
    if (!retype(made.ports[k].value, type)) return;
  }
  draft_ = std::move(made);
}

void Variation::sizes() {
  const Signature& signature = *draft_.signature;
  const Ports ports = ports_where(draft_, [&](std::size_t k, const DraftValue& value) {
    return value.is_tensor() && !value.dims.empty() &&
           (is_data(signature, k) || value.dims.size() > 1 || random_.one_in(4));
  });
  if (ports.empty()) return;
  const Draft before = draft_;
  const std::size_t port = random_.pick(ports);
  const std::vector<Index>& dims = draft_.ports[port].value.dims;
  const auto d = static_cast<std::size_t>(random_.below(static_cast<Index>(dims.size())));
  const Index from = dims[d];
  const bool alone = random_.one_in(2);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Index to = drawn_size();
    if (to == from) continue;
    for (const std::size_t k : ports) {
      std::vector<Index>& own = draft_.ports[k].value.dims;
      for (std::size_t e = 0; e < own.size(); ++e) {
        if (alone ? k == port && e == d : own[e] == from) {
          own[e] = to;
          pinned_.dims.emplace(k, static_cast<Index>(e));
        }
      }
    }
    if (fits()) return;
    draft_ = before;
  }
}

void Variation::ranks() {
  const Signature& signature = *draft_.signature;
  Ports ports = ports_where(draft_, [&](std::size_t k, const DraftValue& value) {
    return value.is_tensor() && is_data(signature, k);
  });
  if (ports.empty()) return;
  const Draft before = draft_;
  if (random_.one_in(3)) ports = {random_.pick(ports)};
  const bool more = !random_.one_in(3), front = !random_.one_in(3);
  const Index size = random_.one_in(3) ? 1 : 1 + random_.below(4);
  for (const std::size_t k : ports) {
    std::vector<Index>& dims = draft_.ports[k].value.dims;
    const Index rank = static_cast<Index>(dims.size());
    if (more && rank < max_rank) {
      dims.insert(front ? dims.begin() : dims.end(), size);
    } else if (!more && rank > 0) {
      dims.erase(front ? dims.begin() : dims.end() - 1);
    }
    pinned_.dims.emplace(k, -1);
  }
  if (!fits()) draft_ = before;
}

void Variation::attribute() {
  const Signature& signature = *draft_.signature;
  if (signature.attributes.empty()) return;
  const AttributeSpec& spec = random_.pick(signature.attributes);
  const std::string name(spec.name);
  pinned_.attributes.insert(name);
  if (!spec.required && random_.one_in(5)) {
    draft_.attributes.erase(name);
    return;
  }
  static const Names integers{"0", "1", "2", "-1", "3", "-2"};
  static const Names reals{"0", "1", "0.5", "-0.5", "2", "1e-05", "-3", "0.25"};
  const Names& seen = seeds_.values.at(name);
  const bool is_number = spec.kind == "int" || spec.kind == "float";
  if (is_number && (seen.empty() || random_.one_in(3)))
    draft_.attributes[name] = random_.pick(spec.kind == "int" ? integers : reals);
  else if (!seen.empty())
    draft_.attributes[name] = random_.pick(seen);
  if (spec.kind == "ints" && random_.one_in(2)) {  // another item
    auto items = split_list(draft_.attributes[name]);
    if (!items || items->empty()) return;
    random_.pick(*items) = std::to_string(random_.one_in(3) ? drawn_size() : random_.below(6) - 2);
    draft_.attributes[name] = join_list(*items);
  }
}

void Variation::inputs() {
  const Signature& signature = *draft_.signature;
  if (signature.inputs.empty()) return;
  const ParameterSpec& last = signature.inputs.back();
  const std::size_t fixed = signature.inputs.size() - 1;
  if (last.variadic && draft_.ports.size() > fixed && random_.one_in(2)) {
    if (random_.one_in(2) && draft_.ports.size() < fixed + 6) {
      draft_.ports.push_back(draft_.ports[fixed]);
    } else if (draft_.ports.size() > fixed + static_cast<std::size_t>(std::max(1, last.least))) {
      draft_.ports.pop_back();
    }
    return;
  }
  Ports optional;
  for (std::size_t k = 0; k < signature.inputs.size(); ++k)
    if (signature.inputs[k].optional && seeds_.ports.contains(k)) optional.push_back(k);
  if (optional.empty()) return;
  const std::size_t k = random_.pick(optional);
  if (draft_.given(k)) {
    draft_.ports[k] = {};
    draft_.trim();
    return;
  }
  DraftPort port = random_.pick(seeds_.ports.at(k));
  // The type that the other inputs of its constraint have.
  for (std::size_t other = 0; other < draft_.ports.size(); ++other) {
    const ParameterSpec* spec = port_spec(signature, other);
    const DraftValue& value = draft_.ports[other].value;
    if (spec && spec->type == signature.inputs[k].type && value.is_tensor() &&
        port.value.is_tensor())
      retype(port.value, text(tensor_type(value.type)));
  }
  draft_.at(k) = port;
}

void Variation::contents() {
  const Ports ports = ports_where(draft_, [](std::size_t, const DraftValue& value) {
    return value.kind == DraftValue::Kind::container && value.container.starts_with("seq(");
  });
  if (ports.empty()) return;
  std::vector<DraftValue>& items = draft_.ports[random_.pick(ports)].value.items;
  const Index how = random_.below(4);
  if (items.empty() || how == 0) {
    items.clear();
  } else if (how == 1 && items.size() < 8) {
    items.push_back(
        items[static_cast<std::size_t>(random_.below(static_cast<Index>(items.size())))]);
  } else if (how == 2) {
    items.pop_back();
  } else {
    DraftValue& item = random_.pick(items);
    if (item.is_tensor() && !item.dims.empty()) random_.pick(item.dims) = drawn_size();
  }
  if (!fits()) items.resize(1);
}

void Variation::put_specials(DraftValue& value) {
  static const Names floats{"nan", "inf", "-inf", "-0", "0", "1e30", "-1e30", "1e-40", "65504"};
  static const Names plain{"-2", "-1", "-0.5", "0.5", "1", "2", "3", "1.5"};
  const TypeFacts& is = facts(value.type);
  const Index size = value.size();
  const Index top =
      is.bits == 64 ? (Index{1} << 53) : (Index{1} << (is.bits - (is.is_signed ? 1 : 0))) - 1;
  const Names integers{std::to_string(top), is.is_signed ? std::to_string(-top - 1) : "0", "0"};
  value.regime.clear();
  value.elements.clear();
  for (Index k = 0; k < size; ++k)
    value.elements.push_back(is.is_float
                                 ? random_.pick(plain)
                                 : std::to_string(is.is_signed && is.bits > 2 ? random_.below(7) - 3
                                                                              : random_.below(2)));
  static constexpr std::array<Index, 4> widths{4, 8, 16, 32};
  const Index width = random_.pick(widths);
  const Index tail = size - size % width;  // first element after the last whole vector
  for (const Index k : {size - 1, tail, tail - 1, Index{0}}) {
    if (k < 0 || k >= size || random_.one_in(2)) continue;
    value.elements[static_cast<std::size_t>(k)] = random_.pick(is.is_float ? floats : integers);
  }
}

void Variation::fill(DraftValue& value, bool is_data) {
  for (DraftValue& item : value.items) fill(item, is_data);
  if (!value.is_tensor() || value.size() == 0 || !is_data) return;
  static constexpr std::array<const char*, 13> regimes{
      "real",     "whole", "special", "logs", "unit",     "cancel", "giant",
      "constant", "two",   "size",    "far",  "positive", "above"};
  const TypeFacts& is = facts(value.type);
  const bool is_number = (is.is_float || is.is_integer) && value.type != Type::boolean;
  const Index at = random_.below(8);
  if (at < 2) return;
  if (at < 4 && is_number && value.size() <= max_special) {
    put_specials(value);
    return;
  }
  value.elements.clear();
  value.regime =
      at < 6 ? regimes[static_cast<std::size_t>(random_.below(4))] : random_.pick(regimes);
}

void Variation::data() {
  for (std::size_t k = 0; k < draft_.ports.size(); ++k)
    fill(draft_.ports[k].value, is_data(*draft_.signature, k) && !computed_.contains(k));
}

void Variation::declared() {
  const Index how = random_.below(6);  // of symbols; below 3: numbers
  std::map<Index, std::string> names;
  for (DraftPort& port : draft_.ports) {
    DraftValue& value = port.value;
    if (!value.is_tensor()) continue;
    if (random_.one_in(4)) port.held = !port.held;
    value.symbols.assign(value.dims.size(), "");
    if (port.held || how < 3) continue;
    for (std::size_t d = 0; d < value.dims.size(); ++d) {
      if (how == 5 && random_.one_in(2)) continue;
      const bool named = how == 3 || (how == 5 && random_.one_in(2));
      const auto [at, added] = names.emplace(value.dims[d], "");
      if (added) at->second = std::string(1, "nmkpqrstuvabcdefghijl"[(names.size() - 1) % 21]);
      value.symbols[d] = named ? at->second : "?";
    }
  }
}

}  // namespace touchstone::fuzz
