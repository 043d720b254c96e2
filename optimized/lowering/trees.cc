// Family of tree ensembles: regressors, classifiers, and the ensembles of version 5. Each score is
// summed in the order of the trees.
#include <algorithm>
#include <cmath>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/forest.h"
#include "optimized/registry/isa.h"

namespace touchstone::optimized {
namespace {

constexpr Index rows_at_once = 64;         // that follow one tree while it is in the cache
constexpr double nanoseconds_a_walk = 10;  // through one tree

// A forest for features of one type.
struct PreparedForest {
  PreparedForest(const AnalyzedNode& fact, Type type) : facts(forest_of(fact.attributes())) {
    if (!facts) return;
    singles = facts->singles && type == Type::float32;
    if (singles) {
      single = facts->flat<float>();
    } else {
      wide = facts->flat<double>();
    }
    trees = size(facts->forest.roots);
    facts->forest = {};
    if (facts->aggregate == Aggregate::min || facts->aggregate == Aggregate::max) return;
    single_weights = facts->weights<float>();
    if (fact.node->signature->op == "TreeEnsemble" && type == Type::float64)
      double_weights = facts->weights<double>();
  }

  std::optional<ForestFacts> facts;
  bool singles = false;
  FlatForest<float> single;
  FlatForest<double> wide;
  std::vector<float> single_weights;  // of each leaf for each target
  std::vector<double> double_weights;
  Index trees = 0;
};

// Returns the forest that the plans of a model share. Its node stays where it is as long as they.
std::shared_ptr<const PreparedForest> prepared(const AnalyzedGraph& graph,
                                               const AnalyzedNode& fact) {
  const Type type = graph.value(fact.inputs[0]).type->element;
  const IndexVector format{static_cast<Index>(reinterpret_cast<std::intptr_t>(fact.node)),
                           static_cast<Index>(type)};
  return graph.weights().get<PreparedForest>({}, format,
                                             [&] { return PreparedForest(fact, type); });
}

class TreesStep : public TensorStep {
 public:
  TreesStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)), shared_(prepared(graph, fact())) {
    kernel = "trees";
    kernel_class = KernelClass::row_kernel;
  }

  void run(RunState& state) override {
    const Tensor& x = input(state, 0);
    const Shape& shape = x.shape();
    if (!facts_ || shape.size() != 2 || shape[1] < facts_->features) return run_on_reference(state);
    if (singles_) return score(state, single_, x.data<float>(), shape);
    if (x.type() == Type::float64) return score(state, double_, x.data<double>(), shape);
    if (x.size() > wide_.size()) wide_ = Tensor(Type::float64, Shape{x.size()});
    double* const wide = wide_.data<double>();
    if (x.type() == Type::float32) {
      std::copy_n(x.data<float>(), x.size(), wide);
    } else if (x.type() == Type::int32) {
      std::copy_n(x.data<std::int32_t>(), x.size(), wide);
    } else {
      constexpr std::int64_t exact = std::int64_t{1} << 53;
      const std::int64_t* const from = x.data<std::int64_t>();
      for (Index k = 0; k < x.size(); ++k) {
        if (from[k] > exact || from[k] < -exact) return run_on_reference(state);
        wide[k] = static_cast<double>(from[k]);
      }
    }
    score(state, double_, wide, shape);
  }

 private:
  template <class K>
  void score(RunState& state, const FlatForest<K>& forest, const K* x, const Shape& shape) {
    const Shape made{shape[0], facts_->targets};
    if (!facts_->classifies) {
      const bool wide =
          fact().node->signature->op == "TreeEnsemble" && input(state, 0).type() == Type::float64;
      Tensor& y = output(state, 0, wide ? Type::float64 : Type::float32, made);
      if (wide) return score(state, forest, x, shape, y.data<double>(), nullptr);
      return score(state, forest, x, shape, y.data<float>(), nullptr);
    }
    if (!has_output(1) && (!scores_ || scores_->shape() != made))
      scores_ = Tensor(Type::float32, made);
    Tensor& y = has_output(1) ? output(state, 1, Type::float32, made) : *scores_;
    if (tops_.size() < shape[0]) tops_ = Tensor(Type::int64, Shape{shape[0]});
    score(state, forest, x, shape, y.data<float>(), tops_.data<std::int64_t>());
    if (!has_output(0)) return;
    const Labels& labels = facts_->labels;
    Tensor& named = output(state, 0, labels.type(), Shape{shape[0]});
    for (Index n = 0; n < shape[0]; ++n) {
      const Index top = tops_.data<std::int64_t>()[n];
      if (labels.integers.empty())
        named.data<std::string>()[n] = item(labels.texts, top);
      else
        named.data<std::int64_t>()[n] = labels.integers[top];
    }
    if (labels.integers.empty()) named.charge_texts();
  }

  // Writes the scores, and the best class of each row if `tops` is not null.
  template <class K, class S>
  void score(RunState& state, const FlatForest<K>& forest, const K* x, const Shape& shape, S* y,
             std::int64_t* tops) {
    const Index rows = shape[0], targets = facts_->targets;
    if (rows == 0) return;
    const Aggregate how = facts_->aggregate;
    const bool extremes = how == Aggregate::min || how == Aggregate::max;
    if (extremes && rows * targets > voted_.size())
      voted_ = Tensor(Type::uint8, Shape{rows, targets});
    std::uint8_t* const voted = extremes ? voted_.data<std::uint8_t>() : nullptr;
    // Few rows are divided too, if many trees make up for it.
    const Index parts = std::min(ceil_div(rows, Index{8}), parts_for(state.pool.size()));
    const double cost =
        nanoseconds_a_walk * static_cast<double>(rows) * static_cast<double>(trees_);
    state.each(parts, cost, [&](Index part, Index) {
      const Index end = rows * (part + 1) / parts;
      for (Index first = rows * part / parts; first < end; first += rows_at_once) {
        const Index many = std::min(rows_at_once, end - first);
        S* const to = y + first * targets;
        std::uint8_t* const seen = extremes ? voted + first * targets : nullptr;
        std::fill_n(to, many * targets, S(0));
        if (seen != nullptr) std::fill_n(seen, many * targets, std::uint8_t{0});
        walk(forest, x + first * shape[1], many, shape[1], to, seen);
        for (Index n = 0; n < many; ++n)
          finish(to + n * targets, tops == nullptr ? nullptr : tops + first + n);
      }
    });
  }

  // Adds the votes of all trees for a block of rows, in the order of the trees.
  template <class K, class S>
  void walk(const FlatForest<K>& forest, const K* x, Index rows, Index width, S* to,
            std::uint8_t* seen) const {
    const Index targets = facts_->targets;
    if (!forest.descent) {
      for (const std::int32_t root : forest.roots) {
        charge_work(rows * (1 + facts_->depth));
        for (Index n = 0; n < rows; ++n)
          vote(forest.leaf(root, x + n * width), to, seen, n * targets);
      }
      return;
    }
    const Descent<K>& descent = *forest.descent;
    constexpr auto together = static_cast<Index>(Descent<K>::together);
    bool nan = false;
    for (Index k = 0; descent.asks_for_nan() && k < rows * width; ++k) nan |= x[k] != x[k];
    typename Descent<K>::Places at;
    const Index grouped = rows / together * together;
    for (std::size_t tree = 0; grouped > 0 && tree < descent.trees(); ++tree) {
      charge_work(grouped * (1 + facts_->depth));
      for (Index n = 0; n < grouped; n += together) {
        descent.rows(tree, x + n * width, width, nan, at);
        for (Index k = 0; k < together; ++k)
          vote(descent.leaf(at[static_cast<std::size_t>(k)]), to, seen, (n + k) * targets);
      }
    }
    for (Index n = grouped; n < rows; ++n) {
      charge_work(trees_ * (1 + facts_->depth));
      for (std::size_t tree = 0; tree < descent.trees(); tree += at.size()) {
        descent.trees(tree, x + n * width, nan, at);
        for (std::size_t k = 0; k < std::min(at.size(), descent.trees() - tree); ++k)
          vote(descent.leaf(at[k]), to, seen, n * targets);
      }
    }
  }

  template <class S>
  const std::vector<S>& weights() const {
    if constexpr (std::is_same_v<S, float>)
      return single_weights_;
    else
      return double_weights_;
  }

  template <class S>
  void vote(std::int32_t leaf, S* to, std::uint8_t* voted, Index first) const {
    const auto k = static_cast<std::size_t>(leaf);
    S* const row = to + first;
    if (!weights<S>().empty()) {
      const auto targets = static_cast<std::size_t>(facts_->targets);
      const S* const own = weights<S>().data() + k * targets;
      for (std::size_t e = 0; e < targets; ++e) row[e] += own[e];
      return;
    }
    std::uint8_t* const seen = voted == nullptr ? nullptr : voted + first;
    for (auto at = facts_->votes_of[k]; at < facts_->votes_of[k + 1]; ++at) {
      const ForestFacts::Vote& vote = facts_->votes[static_cast<std::size_t>(at)];
      const S weight = static_cast<S>(vote.weight);
      S& score = row[vote.target];
      if (seen == nullptr) {
        score += weight;
        continue;
      }
      const bool beats = facts_->aggregate == Aggregate::min ? weight < score : score < weight;
      if (seen[vote.target] == 0 || beats || weight != weight) score = weight;
      seen[vote.target] = 1;
    }
  }

  template <class S>
  void finish(S* row, std::int64_t* top) const {
    const Index targets = facts_->targets;
    if (facts_->aggregate == Aggregate::average && trees_ > 0) {
      const S trees = static_cast<S>(trees_);
      for (Index e = 0; e < targets; ++e) row[e] /= trees;
    }
    const auto bases = static_cast<Index>(facts_->bases.size());
    for (Index e = 0; e < std::min(bases, targets); ++e)
      row[e] += static_cast<S>(facts_->bases[static_cast<std::size_t>(e)]);
    if (facts_->lone) {
      const bool shares = facts_->probable && (facts_->transform == Transform::none ||
                                               facts_->transform == Transform::probit);
      row[1] = row[0];
      row[0] = shares ? S(1) - row[1] : -row[1];
    }
    if (top != nullptr) {
      FirstLargest<S, Index> best;
      for (Index e = 0; e < targets; ++e) best.add(row[e], e);
      *top = best.at;
    }
    if (facts_->transform == Transform::none) return;
    transform_scores(std::span<S>(row, static_cast<std::size_t>(targets)), facts_->transform);
  }

  const std::shared_ptr<const PreparedForest> shared_;
  const std::optional<ForestFacts>& facts_ = shared_->facts;
  const FlatForest<float>& single_ = shared_->single;
  const FlatForest<double>& double_ = shared_->wide;
  const std::vector<float>& single_weights_ = shared_->single_weights;
  const std::vector<double>& double_weights_ = shared_->double_weights;
  const Index trees_ = shared_->trees;
  const bool singles_ = shared_->singles;
  Tensor wide_, tops_, voted_;
  std::optional<Tensor> scores_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (signature.domain != "ai.onnx.ml") return false;
  const bool lists = signature.op == "TreeEnsemble";
  if (!lists && signature.op != "TreeEnsembleRegressor" && signature.op != "TreeEnsembleClassifier")
    return false;
  if (fact.inputs.size() != 1 || fact.inputs[0] == no_value) return false;
  const AnalyzedValue& x = graph.value(fact.inputs[0]);
  if (lists) {
    const Tensor* const splits = fact.attributes().tensor("nodes_splits");
    if (splits == nullptr || !x.is(splits->type())) return false;
    return x.is(Type::float32) || x.is(Type::float64);
  }
  return x.is(Type::float32) || x.is(Type::float64) || x.is(Type::int32) || x.is(Type::int64);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<TreesStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily trees_family{"trees", KernelClass::row_kernel, takes, step};

}  // namespace touchstone::optimized
