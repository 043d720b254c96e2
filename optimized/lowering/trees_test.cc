// Tests tree ensembles against the reference: every score has its bits, every label is its own.
#include <gmock/gmock.h>

#include "optimized/testing.h"

namespace touchstone {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Trees with random comparisons, of versions 1 to 3 or of version 5.
class Ensemble {
 public:
  Ensemble(bool classifies, Index trees, Index targets, bool only_at_most)
      : classifies_(classifies), targets_(targets), only_at_most_(only_at_most) {
    for (Index tree = 0; tree < trees; ++tree) grow(tree, tree % 7);
  }

  Model model(const std::map<std::string, Attribute>& further, Type type = Type::float32) const {
    const std::string side = classifies_ ? "class" : "target";
    Model made;
    made.ir_version = 8;
    made.opsets["ai.onnx.ml"] = 3;
    made.opsets[""] = 15;
    made.graph.name = "trees";
    ValueInfo x = info("x", {rows, features});
    x.type = tensor_type(type);
    made.graph.inputs.push_back(x);
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
    mode_.push_back(leaf ? "LEAF" : only_at_most_ ? modes[0] : modes[random_() % modes.size()]);
    missing_.push_back(only_at_most_ ? 0 : static_cast<Index>(random_() % 2));
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
  const bool only_at_most_;
  std::mt19937 random_{7};
  std::vector<Index> tree_, id_, feature_, missing_, vote_tree_, vote_id_, vote_of_;
  std::vector<std::string> mode_;
  std::vector<float> split_, weight_;
};

template <class T>
Attribute attribute(T held) {
  Attribute made;
  made.is = std::move(held);
  return made;
}

Tensor rows_of(Type type) {
  Tensor x(type, {Ensemble::rows, Ensemble::features});
  for (Index k = 0; k < x.size(); ++k) set_number(x, k, static_cast<long double>(k * 7 % 11) - 5);
  if (type == Type::float32) {
    for (Index k = 3; k < x.size(); k += 17) x.data<float>()[k] = nan;
  }
  return x;
}

// Runs both runtimes, and compares them by bits. Returns the kernels.
std::string check(const Model& model, const Tensor& x) {
  const std::map<std::string, Value> feeds{{"x", x}}, expected = run(model, feeds);
  std::string kernels;
  for (const Index threads : {1, 3}) {
    Session session(model, SessionOptions{.threads = threads});
    for (int again = 0; again < 2; ++again) {
      const std::map<std::string, Value> made = session.run(feeds);
      for (const auto& [name, value] : expected) {
        const Tensor &wanted = value.tensor(), &got = made.at(name).tensor();
        EXPECT_EQ(got.shape(), wanted.shape());
        EXPECT_EQ(got.type(), wanted.type());
        for (Index k = 0; k < wanted.size(); ++k) {
          if (wanted.type() == Type::string)
            EXPECT_EQ(got.data<std::string>()[k], wanted.data<std::string>()[k]);
          else
            EXPECT_EQ(code_at(got, k), code_at(wanted, k)) << name << ", element " << k;
        }
      }
    }
    kernels.clear();
    for (const Placement& row : session.placement()) kernels += row.kernel + "; ";
  }
  return kernels;
}

TEST(Trees, Regressors) {
  for (const bool only_at_most : {true, false}) {
    for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
      for (const Index targets : {1, 3}) {
        const Ensemble trees(false, 20, targets, only_at_most);
        std::map<std::string, Attribute> further{
            {"aggregate_function", attribute(std::string(aggregate))}};
        if (targets == 3) further["base_values"] = attribute(std::vector<float>{0.5F, 0, -2});
        EXPECT_EQ(check(trees.model(further), rows_of(Type::float32)), "trees; ");
      }
    }
  }
}

TEST(Trees, Classifiers) {
  for (const char* transform : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"}) {
    for (const Index targets : {1, 2, 4}) {  // one target: of two labels, the lone score
      const Ensemble trees(true, 20, targets, targets == 4);
      std::map<std::string, Attribute> further{
          {"post_transform", attribute(std::string(transform))}};
      if (targets == 4)
        further["classlabels_strings"] = attribute(std::vector<std::string>{"a", "b", "", "d"});
      else
        further["classlabels_int64s"] = attribute(std::vector<Index>{7, -3});
      EXPECT_EQ(check(trees.model(further), rows_of(Type::float32)), "trees; ");
    }
  }
}

TEST(Trees, InputsOfOtherTypes) {
  const Ensemble trees(false, 9, 2, false);
  for (const Type type : {Type::float64, Type::int32, Type::int64})
    EXPECT_EQ(check(trees.model({}, type), rows_of(type)), "trees; ");
  Tensor x = rows_of(Type::int64);  // beyond what a double holds
  x.data<std::int64_t>()[9] = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(check(trees.model({}, Type::int64), x), "reference; ");
}

TEST(Trees, PathsAreCharged) {
  const Ensemble trees(false, 40, 1, true);
  Session session(trees.model({}), SessionOptions{.threads = 1});
  const std::map<std::string, Value> feeds{{"x", rows_of(Type::float32)}};
  session.run(feeds);
  Limits limits;
  limits.work = 40 * Ensemble::rows * 2;
  const Budget budget(limits);
  EXPECT_THROW(session.run(feeds), Error);
}

TEST(Trees, RunningInACircle) {
  Ensemble trees(false, 9, 1, true);
  trees.yes_[1] = 1;  // the second tree's root
  EXPECT_THROW(Session(trees.model({})).run({{"x", rows_of(Type::float32)}}), Error);
}

}  // namespace
}  // namespace touchstone
