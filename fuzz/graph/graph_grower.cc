// The course of one graph's growth: opsets, inputs, steps, outputs.
#include "fuzz/graph/graph_grower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/budget.h"
#include "model/scopes.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_nodes = 60;
constexpr Index tries_of_a_node = 12;

// Mixes the number, so that neighbouring numbers give unrelated graphs.
std::uint64_t seed_of(std::uint64_t number) {
  Random random(number ^ 0x67726170680a0001);
  return random.bits();
}

std::map<std::string, Index> draw_opsets(Random& random) {
  std::map<std::string, Index> opsets;
  for (const Signature& signature : all_signatures()) {
    const std::string domain(signature.domain);
    if (opsets.contains(domain)) continue;
    const Index newest = newest_opset(domain);
    opsets[domain] = random.one_in(3) ? 1 + random.below(newest) : newest;
  }
  return opsets;
}

// The mean of the least of draws with this chance is `mean`.
Index draw_count(Random& random, Index mean) {
  Index count = 1;
  while (count < max_nodes && !random.one_in(mean)) ++count;
  return count;
}

bool is_float(const KnownValue& value) { return value.element() == Type::float32; }

}  // namespace

GraphLibrary::GraphLibrary(const std::filesystem::path& lines, const std::filesystem::path& folder)
    : templates(lines) {
  for (Idiom& one : read_idioms(folder)) {
    std::vector<Idiom>& list = one.adapts.empty() ? idioms : adapters[one.adapts];
    list.push_back(std::move(one));
  }
}

GraphGrower::GraphGrower(const GraphLibrary& library, std::uint64_t number,
                         const GrowthOptions& options)
    : library_(library),
      number_(number),
      options_(options),
      random_(seed_of(number)),
      dynamic_(!random_.one_in(3)),
      opsets_(draw_opsets(random_)),
      builder_(static_cast<std::size_t>(dynamic_ ? 2 + random_.below(3) : 1 + random_.below(2)),
               opsets_) {}

Case GraphGrower::grow() {
  const Limits limits = GraphBuilder::limits();
  const LimitsScope scope(limits);
  const Budget budget(limits);
  grow_inputs();
  const Index wanted = options_.only_op.empty() ? draw_count(random_, options_.nodes) : 1;
  for (Index tries = 0; builder_.node_count() < wanted && tries < tries_of_a_node * wanted; ++tries)
    grow_step();
  if (builder_.node_count() == 0) refuse("no node fits");
  return finish();
}

void GraphGrower::grow_inputs() {
  constexpr std::array types{Type::int64, Type::boolean, Type::float64, Type::float16,
                             Type::int32, Type::uint8,   Type::int8,    Type::bfloat16};
  constexpr Index max_extent = 33, max_first = 1024;
  const Index count = 1 + random_.below(3);
  for (Index k = 0; k < count; ++k) {
    const Type type = k > 0 && random_.one_in(4)
                          ? types[static_cast<std::size_t>(random_.below(types.size()))]
                          : Type::float32;
    std::vector<SizesByRun> dims;
    const Index rank = random_.one_in(8) ? random_.below(2) : 2 + random_.below(3);
    std::vector<Index> elements(builder_.runs(), 1);
    for (Index axis = 0; axis < rank; ++axis) {
      SizesByRun dim = draw_size(1, rank > 3 ? 8 : max_extent, random_.below(5) < 2);
      bool fits = true;
      for (std::size_t run = 0; run < dim.size(); ++run) {
        elements[run] *= dim[run];
        fits = fits && elements[run] <= max_first;
      }
      if (!fits) break;
      dims.push_back(std::move(dim));
    }
    new_input(type, dims, "real");
  }
}

void GraphGrower::grow_step() {
  const std::size_t before = builder_.value_count();
  const bool idiom =
      options_.only_op.empty() && options_.idiom_share > 0 && random_.one_in(options_.idiom_share);
  if (!(idiom ? grow_idiom() : grow_node())) return;
  const std::size_t after = builder_.value_count();
  for (ValueId id = before; id < after; ++id) {
    if (builder_.value(id).large && is_float(builder_.value(id)) && builder_.value(id).uses == 0 &&
        random_.one_in(2))
      calm(id);
  }
}

// Continues a value of large elements by one near normal.
void GraphGrower::calm(ValueId from) {
  attempt([&] { adapt("calm", from, builder_.value(from).element(), {}); });
}

std::vector<ValueId> GraphGrower::choose_outputs() {
  std::vector<ValueId> chosen, leaves;
  const bool every = random_.one_in(8);
  for (ValueId id = 0; id < builder_.value_count(); ++id) {
    const KnownValue& value = builder_.value(id);
    if (value.made_by.empty()) continue;
    const bool leaf = value.uses == 0;
    if (leaf) leaves.push_back(id);
    if (every || (leaf ? !random_.one_in(5) : random_.one_in(8))) chosen.push_back(id);
  }
  if (chosen.empty()) chosen.push_back(leaves.empty() ? builder_.value_count() - 1 : leaves.back());
  for (std::size_t k = 1; k < chosen.size(); ++k)  // any order
    std::swap(chosen[k],
              chosen[static_cast<std::size_t>(random_.below(static_cast<Index>(k) + 1))]);
  return chosen;
}

Case GraphGrower::finish() {
  Case made;
  made.text = fmt::format("graph {}", number_);
  made.model = builder_.model(choose_outputs());
  made.feeds = builder_.feeds();
  std::set<std::string> used{""}, covered(covered_.begin(), covered_.end());
  std::map<std::string, const Node*> makers;
  const auto visit = [&](const Node& node) {
    used.insert(node.domain);
    if (node.signature) covered.insert(fmt::format("op/{}-{}", node.op, node.signature->since));
    for (const std::string& name : node.inputs) {
      const auto maker = makers.find(name);
      if (maker != makers.end() && maker->second->signature && node.signature)
        covered.insert(fmt::format("pair/{}/{}", maker->second->op, node.op));
    }
    for (const std::string& name : node.outputs) makers[name] = &node;
  };
  for_each_node(made.model.graph.nodes, visit);
  for (const auto& function : made.model.functions) for_each_node(function->nodes, visit);
  std::erase_if(made.model.opsets, [&](const auto& one) { return !used.contains(one.first); });
  for (const auto& function : made.model.functions)
    std::erase_if(function->opsets, [&](const auto& one) { return !used.contains(one.first); });
  if (made.feeds.size() > 1) covered.insert(fmt::format("runs/{}", made.feeds.size()));
  made.covered.assign(covered.begin(), covered.end());
  return made;
}

}  // namespace touchstone::fuzz
