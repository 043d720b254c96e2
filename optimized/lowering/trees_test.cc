// Tests tree ensembles against the reference: every score has its bits, every label is its own.
#include <gmock/gmock.h>

#include "optimized/lowering/ml_testing.h"

namespace touchstone::optimized::ml {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Trees with random comparisons, of versions 1 to 3 or of version 5.
class Ensemble {
 public:
  // The first comparisons are `at most` alone, or all that order numbers, or all.
  enum Modes { at_most = 1, ordered = 4, any = 6 };
  Ensemble(bool classifies, Index trees, Index targets, Modes modes)
      : classifies_(classifies), targets_(targets), modes_(modes) {
    for (Index tree = 0; tree < trees; ++tree) grow(tree, tree % 7);
  }

  Model model(const std::map<std::string, Attribute>& further, Type type = Type::float32) const {
    const std::string side = classifies_ ? "class" : "target";
    Model made;
    made.ir_version = 8;
    made.opsets["ai.onnx.ml"] = 3;
    made.opsets[""] = 15;
    made.graph.name = "trees";
    ValueInfo& x = made.graph.inputs.emplace_back();
    x.name = "x";
    x.type = tensor_type(type);
    Node node;
    node.domain = "ai.onnx.ml";
    node.op = classifies_ ? "TreeEnsembleClassifier" : "TreeEnsembleRegressor";
    node.inputs = {"x"};
    node.outputs = {"y"};
    if (classifies_) node.outputs.emplace_back("z");
    const auto set = [&](const std::string& name, auto list) { node.attributes[name].is = list; };
    set("nodes_treeids", tree_);
    set("nodes_nodeids", id_);
    set("nodes_featureids", feature_);
    set("nodes_truenodeids", yes_);
    set("nodes_falsenodeids", no_);
    set("nodes_missing_value_tracks_true", missing_);
    set("nodes_modes", mode_);
    set("nodes_values", split_);
    set(side + "_treeids", vote_tree_);
    set(side + "_nodeids", vote_id_);
    set(side + "_ids", vote_of_);
    set(side + "_weights", weight_);
    if (!classifies_) set("n_targets", targets_);
    for (const auto& [name, attribute] : further) node.attributes[name] = attribute;
    made.graph.nodes.push_back(node);
    for (const std::string& name : node.outputs) {
      ValueInfo output;
      output.name = name;
      made.graph.outputs.push_back(output);
    }
    made.graph.outputs[0].type = tensor_type(classifies_ ? Type::int64 : Type::float32);
    if (classifies_) {
      made.graph.outputs[1].type = tensor_type(Type::float32);
      if (further.contains("classlabels_strings"))
        made.graph.outputs[0].type = tensor_type(Type::string);
    }
    resolve(made);
    return made;
  }

  static constexpr Index rows = 71, features = 5;
  std::vector<Index> yes_, no_;

 private:
  // Returns the node's id. Depth 0 is a leaf.
  Index grow(Index tree, Index depth) {
    const auto id = static_cast<Index>(id_.size());
    const bool leaf = depth == 0 || random_() % 8 == 0;
    static const std::vector<std::string> modes{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    tree_.push_back(tree);
    id_.push_back(id);
    feature_.push_back(static_cast<Index>(random_() % features));
    split_.push_back(static_cast<float>(random_() % 5) - 2);
    mode_.push_back(leaf ? "LEAF" : modes[random_() % modes_]);
    missing_.push_back(modes_ == at_most ? 0 : static_cast<Index>(random_() % 2));
    yes_.push_back(0);
    no_.push_back(0);
    if (leaf) {
      for (Index votes = static_cast<Index>(random_() % 3); votes > 0; --votes) {
        vote_tree_.push_back(tree);
        vote_id_.push_back(id);
        vote_of_.push_back(static_cast<Index>(random_()) % targets_);
        weight_.push_back(static_cast<float>(random_() % 1000) / 997 - 0.3F);
      }
      return id;
    }
    const Index yes = grow(tree, depth - 1), no = grow(tree, depth - 1);
    yes_[static_cast<std::size_t>(id)] = yes;
    no_[static_cast<std::size_t>(id)] = no;
    return id;
  }

  const bool classifies_;
  const Index targets_;
  const Modes modes_;
  std::mt19937 random_{7};
  std::vector<Index> tree_, id_, feature_, missing_, vote_tree_, vote_id_, vote_of_;
  std::vector<std::string> mode_;
  std::vector<float> split_, weight_;
};

Tensor rows_of(Type type, Index rows = Ensemble::rows) {
  Tensor x(type, {rows, Ensemble::features});
  for (Index k = 0; k < x.size(); ++k) set_number(x, k, static_cast<long double>(k * 7 % 11) - 5);
  if (type == Type::float32) {
    for (Index k = 3; k < x.size(); k += 17) x.data<float>()[k] = nan;
  }
  return x;
}

std::string checked(const Model& model, const Tensor& x) { return check(model, {{"x", x}}); }

TEST(Trees, Regressors) {
  for (const auto modes : {Ensemble::at_most, Ensemble::ordered, Ensemble::any}) {
    for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
      for (const Index targets : {1, 3}) {
        const Ensemble trees(false, 20, targets, modes);
        std::map<std::string, Attribute> further{
            {"aggregate_function", attribute(std::string(aggregate))}};
        if (targets == 3) further["base_values"] = attribute(std::vector<float>{0.5F, 0, -2});
        EXPECT_EQ(checked(trees.model(further), rows_of(Type::float32)), "trees; ");
      }
    }
  }
}

TEST(Trees, Classifiers) {
  for (const char* transform : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"}) {
    for (const Index targets : {1, 2, 4}) {  // one target: of two labels, the lone score
      const Ensemble trees(true, 20, targets, targets == 4 ? Ensemble::ordered : Ensemble::any);
      std::map<std::string, Attribute> further{
          {"post_transform", attribute(std::string(transform))}};
      if (targets == 4)
        further["classlabels_strings"] = attribute(std::vector<std::string>{"a", "b", "", "d"});
      else
        further["classlabels_int64s"] = attribute(std::vector<Index>{7, -3});
      EXPECT_EQ(checked(trees.model(further), rows_of(Type::float32)), "trees; ");
    }
  }
}

TEST(Trees, InputsOfOtherTypes) {
  const Ensemble trees(false, 9, 2, Ensemble::any);
  for (const Type type : {Type::float64, Type::int32, Type::int64})
    EXPECT_EQ(checked(trees.model({}, type), rows_of(type)), "trees; ");
  Tensor x = rows_of(Type::int64);  // beyond what a double holds
  x.data<std::int64_t>()[9] = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(checked(trees.model({}, Type::int64), x), "reference; ");
}

TEST(Trees, FewRows) {
  for (const Index targets : {1, 3}) {
    for (const Index trees : {1, 8, 21}) {
      const Ensemble few(false, trees, targets, Ensemble::ordered);
      for (const Index rows : {0, 1, 2, 7, 8, 9, 17})
        EXPECT_EQ(checked(few.model({}), rows_of(Type::float32, rows)), "trees; ");
    }
  }
}

// Splits at zeros and infinities, which a comparison with a neighbouring number must respect.
TEST(Trees, ComparisonsAtTheEdges) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> edges{
      0.0F, -0.0F, infinity, -infinity, nan, 1.0F, tiny, -tiny, std::numeric_limits<float>::max()};
  Tensor x(Type::float32, {static_cast<Index>(edges.size()), 1});
  std::copy(edges.begin(), edges.end(), x.data<float>());
  for (const char* mode : {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"}) {
    for (const float split : edges) {
      for (const Index missing : {0, 1}) {
        const std::string leaf = "LEAF";
        const auto three = [](Index a, Index b, Index c) {
          return attribute(std::vector<Index>{a, b, c});
        };
        const auto two = [](Index a, Index b) { return attribute(std::vector<Index>{a, b}); };
        const Attributes all{{"nodes_treeids", three(0, 0, 0)},
                             {"nodes_nodeids", three(0, 1, 2)},
                             {"nodes_featureids", three(0, 0, 0)},
                             {"nodes_truenodeids", three(1, 0, 0)},
                             {"nodes_falsenodeids", three(2, 0, 0)},
                             {"nodes_missing_value_tracks_true", three(missing, 0, 0)},
                             {"nodes_modes", attribute(std::vector<std::string>{mode, leaf, leaf})},
                             {"nodes_values", attribute(std::vector<float>{split, 0, 0})},
                             {"target_treeids", two(0, 0)},
                             {"target_nodeids", two(1, 2)},
                             {"target_ids", two(0, 0)},
                             {"target_weights", attribute(std::vector<float>{1, 2})},
                             {"n_targets", attribute(Index{1})}};
        const Feeds feeds{{"x", x}};
        EXPECT_EQ(check(one_node("TreeEnsembleRegressor", all, feeds, {Type::float32}), feeds),
                  "trees; ");
      }
    }
  }
}

TEST(Trees, PathsAreCharged) {
  const Ensemble trees(false, 40, 1, Ensemble::at_most);
  Session session(trees.model({}), SessionOptions{.threads = 1});
  const std::map<std::string, Value> feeds{{"x", rows_of(Type::float32)}};
  session.run(feeds);
  Limits limits;
  limits.work = 40 * Ensemble::rows * 2;
  const Budget budget(limits);
  EXPECT_THROW(session.run(feeds), Error);
}

TEST(Trees, RunningInACircle) {
  Ensemble trees(false, 9, 1, Ensemble::at_most);
  trees.yes_[1] = 1;  // the second tree's root
  EXPECT_THROW(Session(trees.model({})).run({{"x", rows_of(Type::float32)}}), Error);
}

}  // namespace
}  // namespace touchstone::optimized::ml
