// Reads the attributes of tree ensembles: trees by ids (versions 1 to 3), or branches and leaves in
// lists of their own (version 5).
#include "optimized/lowering/forest.h"

#include <limits>
#include <map>
#include <set>

#include "core/error.h"

namespace touchstone::optimized {
namespace {

// Thrown for an ensemble that is left to the reference.
struct NotTaken {};
void require(bool holds) {
  if (!holds) throw NotTaken{};
}

constexpr Index most = std::numeric_limits<std::int32_t>::max() / 4;

bool is_single(long double x) {
  return static_cast<long double>(static_cast<float>(x)) == x;  // false for NaN, which stays double
}

void note(ForestFacts& made, const Branch& branch) {
  made.features = std::max(made.features, branch.feature + 1);
  made.singles = made.singles && is_single(branch.split);
  for (const long double member : branch.members) made.singles = made.singles && is_single(member);
}

// Returns the most branches on a path. A branch that is reached from itself would never end.
Index depth_without_circle(const std::vector<Branch>& branches) {
  std::vector<Index> parents(branches.size(), 0), ends;
  const auto each_child = [&](Index k, auto&& visit) {
    const Branch& branch = branches[static_cast<std::size_t>(k)];
    for (const Index child : {branch.yes, branch.no}) {
      if (child >= 0) visit(child);
    }
  };
  const Index many = static_cast<Index>(branches.size());
  for (Index k = 0; k < many; ++k) {
    each_child(k, [&](Index child) { ++parents[static_cast<std::size_t>(child)]; });
  }
  for (Index k = 0; k < many; ++k) {
    if (parents[static_cast<std::size_t>(k)] == 0) ends.push_back(k);
  }
  Index seen = 0, deepest = 0;
  std::vector<Index> levels(branches.size(), 1);
  while (!ends.empty()) {
    const Index k = ends.back();
    ends.pop_back();
    ++seen;
    const Index level = levels[static_cast<std::size_t>(k)];
    deepest = std::max(deepest, level);
    each_child(k, [&](Index child) {
      Index& below = levels[static_cast<std::size_t>(child)];
      below = std::max(below, level + 1);
      if (--parents[static_cast<std::size_t>(child)] == 0) ends.push_back(child);
    });
  }
  require(seen == many);
  return deepest;
}

Transform transform_of(std::string_view how) {
  const std::vector<std::string> names = transform_names();
  require(std::find(names.begin(), names.end(), how) != names.end());
  return transform_called(how);
}

// -- versions 1 to 3

struct Nodes {
  std::map<std::pair<Index, Index>, Index> ids;
  std::vector<bool> is_leaf;
  Index at(Index tree, Index id) const {
    const auto found = ids.find({tree, id});
    require(found != ids.end());
    return is_leaf[static_cast<std::size_t>(found->second)] ? ~found->second : found->second;
  }
};

Nodes read_nodes(const Facts& facts, ForestFacts& made) {
  const IndexVector tree = facts.integers("nodes_treeids"), id = facts.integers("nodes_nodeids"),
                    feature = facts.integers("nodes_featureids"),
                    yes = facts.integers("nodes_truenodeids"),
                    no = facts.integers("nodes_falsenodeids"),
                    missing = facts.integers("nodes_missing_value_tracks_true");
  const std::vector<std::string> mode = facts.texts("nodes_modes");
  const Tensor splits = numbers_or_tensor(facts, "nodes_values", "nodes_values_as_tensor");
  const Index many = tree.size();
  require(many < most && id.size() == many && feature.size() == many && yes.size() == many &&
          no.size() == many && size(mode) == many && splits.size() == many &&
          (missing.empty() || missing.size() == many));
  const std::vector<std::string> modes{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                       "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  Nodes nodes;
  for (Index k = 0; k < many; ++k) {
    nodes.is_leaf.push_back(item(mode, k) == "LEAF");
    require(nodes.ids.emplace(std::pair(tree[k], id[k]), k).second);
  }
  std::set<Index> trees;
  for (Index k = 0; k < many; ++k) {
    if (trees.insert(tree[k]).second) made.forest.roots.push_back(nodes.at(tree[k], id[k]));
    made.forest.branches.emplace_back();
    if (nodes.is_leaf[static_cast<std::size_t>(k)]) {
      made.forest.branches.back().yes = made.forest.branches.back().no = ~k;
      continue;
    }
    const auto asks = std::find(modes.begin(), modes.end(), item(mode, k));
    require(asks != modes.end() && feature[k] >= 0 && feature[k] < most);
    made.forest.branches.back() = {static_cast<Asks>(asks - modes.begin()),
                                   feature[k],
                                   number_at(splits, k),
                                   {},
                                   !missing.empty() && missing[k] != 0,
                                   nodes.at(tree[k], yes[k]),
                                   nodes.at(tree[k], no[k])};
    note(made, made.forest.branches.back());
  }
  return nodes;
}

void read_votes(const Facts& facts, const Nodes& nodes, ForestFacts& made) {
  const std::string side = made.classifies ? "class" : "target";
  const IndexVector tree = facts.integers(side + "_treeids"),
                    node = facts.integers(side + "_nodeids"), of = facts.integers(side + "_ids");
  const Tensor weights = numbers_or_tensor(facts, side + "_weights", side + "_weights_as_tensor");
  const Tensor bases = numbers_or_tensor(facts, "base_values", "base_values_as_tensor");
  require(of.size() < most && node.size() == tree.size() && of.size() == tree.size() &&
          weights.size() == tree.size() && all_within(of, 0, made.targets));
  std::vector<Index> place;
  std::vector<std::int32_t>& starts = made.votes_of;
  starts.assign(made.forest.branches.size() + 1, 0);
  for (Index k = 0; k < of.size(); ++k) {
    const Index at = nodes.at(tree[k], node[k]);
    place.push_back(at < 0 ? ~at : at);
    ++starts[static_cast<std::size_t>(place.back()) + 1];
    made.probable = made.probable && number_at(weights, k) >= 0;
  }
  for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  std::vector<std::int32_t> next = starts;
  made.votes.resize(place.size());
  for (Index k = 0; k < of.size(); ++k) {
    std::int32_t& slot = next[static_cast<std::size_t>(item(place, k))];
    made.votes[static_cast<std::size_t>(slot++)] = {static_cast<std::int32_t>(of[k]),
                                                    element<float>(weights, k)};
  }
  made.lone = made.classifies && made.targets == 2 && !of.empty() && all_within(of, 0, 1) &&
              bases.size() < 2;
  require(bases.size() == 0 || bases.size() == made.targets || made.lone);
  for (Index k = 0; k < bases.size(); ++k) made.bases.push_back(element<float>(bases, k));
}

void read_by_ids(const Facts& facts, ForestFacts& made) {
  made.classifies = facts.signature().outputs.size() == 2;
  const std::string weights = made.classifies ? "class_weights" : "target_weights";
  for (const std::string& name : {std::string("nodes_values"), std::string("base_values"), weights})
    require(!facts.given(name) || !facts.given(name + "_as_tensor"));
  if (made.classifies) {
    made.labels = Labels(facts, "classlabels_int64s", "classlabels_strings");
    require(made.labels.integers.empty() != made.labels.texts.empty());
    made.targets = made.labels.size();
  } else {
    made.targets = facts.integer("n_targets");
    const std::string how = facts.text("aggregate_function", "SUM");
    const std::vector<std::string> known{"AVERAGE", "SUM", "MIN", "MAX"};
    const auto found = std::find(known.begin(), known.end(), how);
    require(made.targets > 0 && made.targets < most && found != known.end());
    made.aggregate = static_cast<Aggregate>(found - known.begin());
  }
  made.transform = transform_of(facts.text("post_transform", "NONE"));
  read_votes(facts, read_nodes(facts, made), made);
}

// -- version 5

void read_members(const Facts& facts, Type type, ForestFacts& made) {
  const Tensor* members = facts.tensor("membership_values");
  require(members == nullptr || members->type() == type);
  std::vector<std::vector<long double>> sets;
  bool fresh = true;
  for (Index k = 0; members != nullptr && k < members->size(); ++k) {
    if (fresh) sets.emplace_back();
    const long double member = number_at(*members, k);
    fresh = member != member;
    if (!fresh) sets.back().push_back(member);
  }
  std::size_t next = 0;
  for (Branch& branch : made.forest.branches) {
    if (branch.asks != Asks::member) continue;
    require(next < sets.size());
    branch.members = std::move(sets[next++]);
  }
  require(next == sets.size());
}

void read_by_lists(const Facts& facts, ForestFacts& made) {
  const IndexVector feature = facts.integers("nodes_featureids"),
                    missing = facts.integers("nodes_missing_value_tracks_true"),
                    yes = facts.integers("nodes_truenodeids"),
                    no = facts.integers("nodes_falsenodeids"),
                    yes_leaf = facts.integers("nodes_trueleafs"),
                    no_leaf = facts.integers("nodes_falseleafs"),
                    of = facts.integers("leaf_targetids"), roots = facts.integers("tree_roots");
  const Tensor &modes = given_tensor(facts, "nodes_modes"),
               &splits = given_tensor(facts, "nodes_splits"),
               &weights = given_tensor(facts, "leaf_weights");
  const Index many = feature.size(), aggregate = facts.integer("aggregate_function", 1),
              transform = facts.integer("post_transform");
  made.targets = facts.integer("n_targets");
  require(many < most && of.size() < most && made.targets > 0 && made.targets < most &&
          all_within(of, 0, made.targets) && weights.size() == of.size() && aggregate >= 0 &&
          aggregate < 4 && transform >= 0 && transform < 5 && yes.size() == many &&
          no.size() == many && yes_leaf.size() == many && no_leaf.size() == many &&
          modes.size() == many && splits.size() == many &&
          (missing.empty() || missing.size() == many) && splits.type() == weights.type() &&
          modes.type() == Type::uint8 && all_within(feature, 0, most) &&
          all_within(roots, 0, many));
  made.aggregate = static_cast<Aggregate>(aggregate);
  made.transform = static_cast<Transform>(transform);
  const auto child = [&](Index leaf, Index to) {
    require(to >= 0 && to < (leaf != 0 ? of.size() : many));
    return leaf != 0 ? ~to : to;
  };
  for (Index k = 0; k < many; ++k) {
    const auto asks = static_cast<Index>(number_at(modes, k));
    require(asks < 7);
    made.forest.branches.push_back({static_cast<Asks>(asks),
                                    feature[k],
                                    number_at(splits, k),
                                    {},
                                    !missing.empty() && missing[k] != 0,
                                    child(yes_leaf[k], yes[k]),
                                    child(no_leaf[k], no[k])});
  }
  made.forest.roots.assign(roots.begin(), roots.end());
  read_members(facts, splits.type(), made);
  for (const Branch& branch : made.forest.branches) note(made, branch);
  for (Index k = 0; k <= of.size(); ++k) made.votes_of.push_back(static_cast<std::int32_t>(k));
  for (Index k = 0; k < of.size(); ++k) {
    made.votes.push_back(
        {static_cast<std::int32_t>(of[k]), static_cast<double>(number_at(weights, k))});
  }
}

}  // namespace

std::optional<ForestFacts> forest_of(const Facts& facts) {
  try {
    ForestFacts made;
    if (facts.signature().op == "TreeEnsemble") {
      read_by_lists(facts, made);
    } else {
      read_by_ids(facts, made);
    }
    made.depth = depth_without_circle(made.forest.branches);
    constexpr std::size_t a_branch =
        sizeof(Branch) + sizeof(FlatBranch<double>) + Descent<double>::bytes_a_branch;
    made.charge = Charge(static_cast<Index>(made.forest.branches.size() * a_branch +
                                            made.votes.size() * sizeof(ForestFacts::Vote)));
    return made;
  } catch (const NotTaken&) {
  } catch (const Error& error) {
    if (error.kind == ErrorKind::limit || error.kind == ErrorKind::out_of_memory) throw;
  }
  return std::nullopt;
}

}  // namespace touchstone::optimized
