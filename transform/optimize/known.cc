// Infers shapes for sampled sizes and for those of feeds, and finds the facts on which all samples
// agree.
#include "transform/optimize/known.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "reference/shapes/proved_shapes.h"

namespace touchstone::transform {

namespace {

constexpr Index small_bytes = 8192;  // larger constants never decide shapes

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = (a * 0x100000001b3 + b + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// Rule for sampling sizes: step * (low .. low + count - 1), drawn for each symbol separately or
// once for all. `ones` sets half of the symbols to 1. `few` draws large sizes for a third of them
// and small ones for the others, since a tensor with only large sizes exceeds the limits.
enum class Of { each, all, ones, few };
struct Draw {
  std::uint64_t seed;
  Of of;
  Index step, low;
  std::uint64_t count;

  Index size(std::size_t symbol) const {
    const std::uint64_t z = mixed(seed, of == Of::all ? 0 : symbol);
    const std::uint64_t chosen = mixed(seed + 1000, symbol);
    if (of == Of::ones && chosen % 2 == 0) return 1;
    if (of == Of::few && chosen % 3 != 0)
      return step == 1 ? 2 + static_cast<Index>(z % 7) : step * (1 + static_cast<Index>(z % 2));
    return step * (low + static_cast<Index>(z % count));
  }
};
// One of each kind first; a row that moves keeps its seed. Each is a walk over the model: `enough`
// on which no rule breaks suffice if what they agree on is verified for the feeds.
constexpr std::size_t enough = 10;
constexpr Draw ways_to_draw[] = {
    {0, Of::all, 1, 1, 1},       {1, Of::all, 1, 2, 1},       {2, Of::each, 1, 3, 7},
    {4, Of::each, 1, 100, 300},  {5, Of::few, 1, 1000, 9000}, {10, Of::ones, 1, 2, 98},
    {14, Of::all, 64, 2, 3},     {15, Of::each, 64, 1, 4},    {17, Of::few, 64, 17, 64},
    {20, Of::ones, 64, 1, 4},    {3, Of::each, 1, 2, 98},     {6, Of::few, 1, 1000, 9000},
    {7, Of::few, 1, 1000, 9000}, {8, Of::all, 1, 11, 80},     {9, Of::all, 1, 101, 99},
    {11, Of::ones, 1, 2, 98},    {12, Of::ones, 1, 100, 300}, {13, Of::all, 64, 1, 1},
    {16, Of::each, 64, 1, 4},    {18, Of::few, 64, 17, 64},   {19, Of::few, 64, 17, 64},
    {21, Of::ones, 64, 1, 4},    {22, Of::ones, 64, 1, 4}};

// The inputs' shapes with a size in place of each one that the file leaves open.
class OpenSizes {
 public:
  explicit OpenSizes(const Graph& graph) {
    for (const ValueInfo& input : graph.inputs) {
      const bool tensor = input.type && input.type->kind == ValueType::Kind::tensor;
      const bool has_default =
          graph.initializers.contains(input.name) || graph.sparse_initializers.contains(input.name);
      if (!tensor || !input.shape || has_default) continue;
      std::vector<Size>& sizes = inputs_[input.name];
      for (const Dim& dim : *input.shape) {
        if (dim.size && *dim.size >= 0) {
          sizes.push_back({*dim.size, 0});
        } else {
          sizes.push_back({std::nullopt, dim.size ? symbol("") : symbol(dim.symbol)});
        }
      }
    }
  }
  bool any() const { return count_ > 0; }
  FedShapes drawn(const Draw& draw) const {
    FedShapes shapes;
    for (const auto& [name, sizes] : inputs_) {
      Shape& shape = shapes[name];
      for (const Size& size : sizes)
        shape.push_back(size.number ? *size.number : draw.size(size.symbol));
    }
    return shapes;
  }

 private:
  struct Size {
    std::optional<Index> number;
    std::size_t symbol;
  };
  std::size_t symbol(const std::string& name) {
    if (name.empty()) return count_++;
    const auto [at, is_new] = by_name_.try_emplace(name, count_);
    if (is_new) ++count_;
    return at->second;
  }

  std::map<std::string, std::vector<Size>> inputs_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::size_t count_ = 0;
};

// Returns the proofs of the main graph's values and conditions.
ProvedShapes proved(const Graph& graph, const ShapeProver& prover) {
  ProvedShapes made;
  for (const ValueInfo& input : graph.inputs)
    made.values.emplace(input.name, prover.value(input.name));
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) made.values.emplace(output, prover.value(output));
    }
  }
  made.conditions = prover.conditions();
  return made;
}

const std::optional<Shape>& shape_in(const ProvedShapes& walk, const std::string& name) {
  static const std::optional<Shape> none;
  const auto found = walk.values.find(name);
  return found == walk.values.end() ? none : found->second.shape;
}

// A sample has no shape for a value if it exceeds the limits or depends on values. True if at least
// half of the samples have one.
bool are_most(Index said, std::size_t walks) {
  return said > 0 && 2 * said >= static_cast<Index>(walks);
}

// True if all samples with an answer satisfy `same`. Every fed sample must have an answer, or,
// without feeds, at least half of the sampled ones.
template <class Same>
bool agree(const KnownValue& of, Same&& same) {
  Index said = 0;
  for (std::size_t k = 0; k < of.drawn.size(); ++k) {
    const std::optional<bool> answer = same(of.drawn, k);
    if (answer == false) return false;
    if (answer) ++said;
  }
  for (std::size_t k = 0; k < of.fed.size(); ++k) {
    if (same(of.fed, k) != true) return false;
  }
  return !of.fed.empty() || (of.trusted && are_most(said, of.drawn.size()));
}

using Walks = std::vector<std::optional<Shape>>;

// True if an input may be left to its default. Samples of drawn sizes read all defaults.
bool has_defaults(const Graph& graph) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](const ValueInfo& input) {
    return graph.initializers.contains(input.name) ||
           graph.sparse_initializers.contains(input.name);
  });
}

// Returns the condition on which all samples agree. Feeds alone decide if each feed is verified.
std::optional<bool> common_condition(const std::string& name,
                                     const std::vector<ProvedShapes>& drawn,
                                     const std::vector<ProvedShapes>& fed, bool checked,
                                     bool trusted) {
  std::optional<bool> common;
  const auto agree = [&](const std::vector<ProvedShapes>& walks) {
    return std::all_of(walks.begin(), walks.end(), [&](const ProvedShapes& walk) {
      const auto found = walk.conditions.find(name);
      if (found == walk.conditions.end()) return false;
      if (!common) common = found->second;
      return *common == found->second;
    });
  };
  const bool all = agree(fed) && ((checked && !fed.empty()) || (trusted && agree(drawn)));
  return all ? common : std::nullopt;
}

}  // namespace

std::optional<Index> KnownValue::size(Index axis) const {
  if (!rank || axis < 0 || axis >= *rank) return std::nullopt;
  std::optional<Index> first;
  const bool all = agree(*this, [&](const Walks& walks, std::size_t k) -> std::optional<bool> {
    if (!walks[k]) return std::nullopt;
    if (!first) first = (*walks[k])[axis];
    return *first == (*walks[k])[axis];
  });
  return all ? first : std::nullopt;
}

bool same_size(const KnownValue& a, Index axis_of_a, const KnownValue& b, Index axis_of_b) {
  if (!a.rank || !b.rank || axis_of_a >= *a.rank || axis_of_b >= *b.rank) return false;
  if (a.drawn.size() != b.drawn.size() || a.fed.size() != b.fed.size()) return false;
  return agree(a, [&](const Walks& walks, std::size_t k) -> std::optional<bool> {
    const std::optional<Shape>& other = &walks == &a.fed ? b.fed[k] : b.drawn[k];
    if (!walks[k] || !other) return std::nullopt;
    return (*walks[k])[axis_of_a] == (*other)[axis_of_b];
  });
}

std::unordered_map<std::string, KnownValue> known_values(const Model& model,
                                                         const WalkOptions& options) {
  const OpenSizes open(model.graph);
  std::vector<ProvedShapes> drawn, fed;
  std::size_t draws = 0;
  ShapeProver prover(model, options.limits);  // visits what only constants decide once
  const std::size_t most = options.checked ? enough : std::size(ways_to_draw);
  for (; options.draws && draws < std::size(ways_to_draw) && drawn.size() < most &&
         (draws == 0 || open.any());
       ++draws) {
    prover.prove(open.drawn(ways_to_draw[draws]));
    if (!prover.breaks_surely()) drawn.push_back(proved(model.graph, prover));
  }
  for (const FedShapes& shapes : options.fed) {
    prover.prove(shapes);
    fed.push_back(proved(model.graph, prover));
  }

  std::set<std::string> names;
  for (const std::vector<ProvedShapes>* walks : {&drawn, &fed}) {
    for (const ProvedShapes& walk : *walks) {
      for (const auto& [name, value] : walk.values) names.insert(name);
    }
  }
  for (const std::vector<ProvedShapes>* walks : {&drawn, &fed}) {
    for (const ProvedShapes& walk : *walks) {
      for (const auto& [name, condition] : walk.conditions) names.insert(name);
    }
  }
  const bool defaults = has_defaults(model.graph);
  std::unordered_map<std::string, KnownValue> all;
  for (const std::string& name : names) {
    KnownValue& known = all[name];
    known.trusted = options.checked || 2 * drawn.size() >= draws;
    bool one_rank = true;
    const auto take = [&](const std::vector<ProvedShapes>& walks, Walks& shapes) {
      for (const ProvedShapes& walk : walks) {
        const std::optional<Shape>& shape = shape_in(walk, name);
        const auto found = walk.values.find(name);
        if (found != walk.values.end() && found->second.type) known.type = found->second.type;
        shapes.push_back(shape);
        if (!shape) continue;
        if (!known.rank) known.rank = shape->size();
        one_rank = one_rank && *known.rank == shape->size();
      }
    };
    take(drawn, known.drawn);
    take(fed, known.fed);
    known.condition = common_condition(name, drawn, fed, options.checked, known.trusted);
    if (defaults && !options.checked) known.condition.reset();
    if (!one_rank) known.rank.reset();
    if (!known.rank) known.drawn.clear(), known.fed.clear();
  }
  return all;
}

Assumed without_large_constants(Model model) {
  Assumed made{std::move(model), {}, {}};
  Graph& graph = made.model.graph;
  std::unordered_set<std::string> inputs;
  for (const ValueInfo& input : graph.inputs) inputs.insert(input.name);
  for (auto at = graph.initializers.begin(); at != graph.initializers.end();) {
    const auto& [name, tensor] = *at;
    if (inputs.contains(name) || tensor.type() == Type::string ||
        static_cast<Index>(tensor.bytes().size()) <= small_bytes) {
      ++at;
      continue;
    }
    ValueInfo input;
    input.name = name;
    input.type = tensor_type(tensor.type());
    graph.inputs.push_back(std::move(input));
    made.constants.emplace(name, tensor.shape());
    at = graph.initializers.erase(at);
  }
  return made;
}

bool hold(const Assumed& assumed, ShapeProver& prover, const FedShapes& feeds) {
  if (assumed.all.empty()) return true;
  FedShapes shapes = feeds;
  shapes.insert(assumed.constants.begin(), assumed.constants.end());
  prover.prove(shapes);
  const auto size = [&](const std::string& value, Index axis) -> std::optional<Index> {
    const std::optional<Shape> shape = prover.value(value).shape;
    if (!shape || axis < 0 || axis >= shape->size()) return std::nullopt;
    return (*shape)[axis];
  };
  return std::all_of(assumed.all.begin(), assumed.all.end(), [&](const ShapeAssumption& it) {
    if (it.is_condition) {
      const auto found = prover.conditions().find(it.value);
      return found != prover.conditions().end() && found->second == (it.number != 0);
    }
    if (!it.axis) {
      const std::optional<Shape> shape = prover.value(it.value).shape;
      return shape && shape->size() == it.number;
    }
    const std::optional<Index> is = size(it.value, *it.axis);
    if (it.other.empty()) return is == it.number;
    return is && is == size(it.other, it.axis_of_other);
  });
}

}  // namespace touchstone::transform
