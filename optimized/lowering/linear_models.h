// Steps of linear functions and support vector machines on rows of features. Each sum keeps the
// order of the definition; vectors hold several sums side by side.
#pragma once

#include <memory>

#include "optimized/lowering/lowering.h"
#include "reference/scores.h"

namespace touchstone {

// Lists of equal length, transposed in blocks of as many lists as a vector operation sums.
class PackedLists {
 public:
  static constexpr Index together = 16;

  PackedLists() = default;
  PackedLists(const std::vector<float>& flat, Index lists, Index length);
  Index lists() const { return lists_; }
  Index length() const { return length_; }
  Index blocks() const { return ceil_div(lists_, together); }

  // Sums of products with a row, or of squared differences, for the lists of one block.
  template <bool squares>
  void sums(const float* row, Index block, float* made) const {
    const float* from = packed_.data<float>() + block * length_ * together;
    float sums[together] = {};
    for (Index f = 0; f < length_; ++f, from += together) {
      const float x = row[f];
      for (Index k = 0; k < together; ++k) {
        const float apart = x - from[k];
        sums[k] += squares ? apart * apart : x * from[k];
      }
    }
    for (Index k = 0; k < together; ++k) made[k] = sums[k];
  }
  // Writes a score for each list, plus an offset each if there are any, or one for all.
  void scores(const float* row, const std::vector<float>& offsets, float* made) const;

 private:
  Index lists_ = 0, length_ = 0;
  Tensor packed_{Type::float32, Shape{0}};
};

// A classifier if the node has labels, else a regressor.
class RowModelStep : public TensorStep {
 public:
  static constexpr Index rows_at_once = 8;

  RowModelStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers);
  void run(RunState& state) override;

 protected:
  // Memory of one part of a run.
  struct Scratch {
    Tensor kernels, sums;
    std::vector<float> scores, votes;
  };

  virtual bool describe(Index features) = 0;  // false: left to the reference
  virtual double nanoseconds() const = 0;     // a row
  virtual Scratch memory() const { return {}; }
  // Writes the scores of at most rows_at_once rows before the transform, and their best classes.
  virtual void score(const float* x, Index many, float* shown, std::int64_t* tops,
                     Scratch& scratch) const = 0;

  static Index top(const float* votes, Index many) {
    FirstLargest<float, Index> best;
    for (Index e = 0; e < many; ++e) best.add(votes[e], e);
    return best.at;
  }

  bool fits_ = false;
  bool classifies_ = false;
  Index columns_ = 0;  // of the scores
  Labels labels_;
  Transform transform_ = Transform::none;

 private:
  void name_rows(Tensor& named) const;

  Tensor tops_{Type::int64, Shape{0}}, wide_{Type::float32, Shape{0}};
  std::optional<Tensor> scores_;
};

std::unique_ptr<Step> support_vector_step(const AnalyzedGraph& graph, Index node,
                                          std::vector<Index> buffers);

}  // namespace touchstone
