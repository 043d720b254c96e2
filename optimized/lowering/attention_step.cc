// Step of attention that a model spells out: scores of some query rows at a time stay in the cache
// from one product to the next. Each score passes the operations of its nodes in their order.
#include <algorithm>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/kernels/gemm.h"
#include "optimized/kernels/row_norms.h"
#include "optimized/lowering/attention_chain.h"
#include "optimized/lowering/kept_memory.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index most_scores = 98304;  // floats of a block, unless it has only rows_of_a_tile rows
constexpr Index rows_of_a_tile = 12;
constexpr double nanoseconds_a_weight = 0.5;

Index padded(Index floats) { return ceil_div(floats, Index{16}) * 16; }

class ChainedAttention : public TensorStep {
 public:
  ChainedAttention(const AnalyzedGraph& graph, Index last, std::vector<Index> buffers)
      : TensorStep(graph, last, std::move(buffers)),
        chain_(*attention_chain(graph, last)),
        gemm_(chosen_isa()),
        softmax_(row_norms_of(chosen_isa()).softmax) {
    kernel = "attention of nodes " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::dynamic_matmul;
    const Index rank = chain_.scores.size();
    queries_ = chain_.scores[rank - 2];
    keys_ = chain_.scores[rank - 1];
    batches_ = count(head(chain_.scores, rank - 2));
    made_ = chain_.scores;
    made_[rank - 1] = chain_.width;
    packed_keys_ = padded(gemm_.packed_size(chain_.depth, keys_));
    packed_ = packed_keys_ + padded(gemm_.packed_size(keys_, chain_.width));
  }

  void run(RunState& state) override {
    float* const y = output(state, 0, Type::float32, made_).data<float>();
    const Index rows = rows_at_once(state.pool.size()), blocks = ceil_div(queries_, rows);
    const Index each = padded(multiply(rows, keys_));
    float* const scratch = scratch_.at<float>(multiply(state.pool.size(), each));
    float* const packed = packed_memory_.at<float>(multiply(batches_, packed_));
    const auto moved = static_cast<double>(batches_) * static_cast<double>(packed_);
    state.each(batches_, moved * nanoseconds_an_element, [&](Index batch, Index) {
      check_budget();
      pack(state, batch, packed + batch * packed_);
    });
    const double scores = static_cast<double>(count(chain_.scores));
    const double cost =
        scores * (static_cast<double>(chain_.depth + chain_.width) * nanoseconds_a_multiply_add +
                  nanoseconds_a_weight);
    state.each(batches_ * blocks, cost, [&](Index part, Index thread) {
      check_budget();
      const Index batch = part / blocks, first = part % blocks * rows;
      block(state, batch, first, std::min(rows, queries_ - first), packed + batch * packed_,
            scratch + thread * each, y);
    });
  }

 private:
  const Tensor& tensor(const RunState& state, Index value) const {
    return state.values[static_cast<std::size_t>(value)].tensor();
  }

  Index rows_at_once(Index threads) const {
    Index most = std::max(rows_of_a_tile, most_scores / keys_ / rows_of_a_tile * rows_of_a_tile);
    if (batches_ < threads)
      most = std::min(most,
                      std::max(rows_of_a_tile, ceil_div(queries_ * batches_, parts_for(threads))));
    return std::min(queries_, most);
  }

  // Returns the offset of an element of the batch.
  Index offset(const IndexVector& strides, Index batch) const {
    Index at = 0;
    for (Index d = chain_.scores.size() - 2; d-- > 0;) {
      at += batch % chain_.scores[d] * strides[d];
      batch /= chain_.scores[d];
    }
    return at;
  }
  const float* matrix(const RunState& state, const StackedMatrix& of, Index batch) const {
    return tensor(state, of.value).data<float>() + offset(of.strides, batch);
  }

  void pack(const RunState& state, Index batch, float* packed) const {
    const auto operand = [&](const StackedMatrix& of, Index rows, Index columns) {
      const Index rank = of.strides.size();
      return GemmOperand{matrix(state, of, batch), of.strides[rank - 2], of.strides[rank - 1], rows,
                         columns};
    };
    gemm_.pack(operand(chain_.keys, chain_.depth, keys_), nullptr, packed, 0, gemm_.panels(keys_));
    gemm_.pack(operand(chain_.values, keys_, chain_.width), nullptr, packed + packed_keys_, 0,
               gemm_.panels(chain_.width));
  }

  void product(const float* a, Index a_row, Index rows, Index depth, const float* packed,
               Index columns, float* c) const {
    gemm_.run(plain_product(a, a_row, packed, c, depth, columns), 0, gemm_.panels(columns), 0,
              rows);
  }

  void block(const RunState& state, Index batch, Index first, Index rows, const float* packed,
             float* scores, float* y) const {
    const IndexVector& strides = chain_.queries.strides;
    const Index step = strides[strides.size() - 2];
    product(matrix(state, chain_.queries, batch) + first * step, step, rows, chain_.depth, packed,
            keys_, scores);
    for (const ScoreChange& change : chain_.changes) {
      for (Index r = 0; r < rows; ++r) apply(state, change, batch, first + r, scores + r * keys_);
    }
    softmax_(scores, scores, rows, keys_);
    product(scores, keys_, rows, keys_, packed + packed_keys_, chain_.width,
            y + (batch * queries_ + first) * chain_.width);
  }

  // Changes the scores of a query.
  void apply(const RunState& state, const ScoreChange& change, Index batch, Index query,
             float* scores) const {
    using Kind = ScoreChange::Kind;
    const Index rank = change.strides.size(), by = change.strides[rank - 1];
    const Index at = offset(change.strides, batch) + query * change.strides[rank - 2];
    const Tensor& beside = tensor(state, change.value);
    if (change.kind == Kind::keep_where || change.kind == Kind::replace_where) {
      const std::uint8_t* const chosen = beside.data<std::uint8_t>() + at;
      const float other = *tensor(state, change.other).data<float>();
      const bool keep = change.kind == Kind::keep_where;
      for (Index j = 0; j < keys_; ++j)
        scores[j] = (chosen[j * by] != 0) == keep ? scores[j] : other;
      return;
    }
    const float* const from = beside.data<float>() + at;
    if (change.kind == Kind::add && by == 1) {
      for (Index j = 0; j < keys_; ++j) scores[j] += from[j];
      return;
    }
    const float number = *from;  // of this query, or of all
    if (change.kind == Kind::multiply) {
      for (Index j = 0; j < keys_; ++j) scores[j] *= number;
    } else if (change.kind == Kind::divide) {
      for (Index j = 0; j < keys_; ++j) scores[j] /= number;
    } else {
      for (Index j = 0; j < keys_; ++j) scores[j] += number;
    }
  }

  const AttentionChain chain_;
  const Gemm gemm_;
  void (*const softmax_)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  Index queries_ = 0, keys_ = 0, batches_ = 0, packed_keys_ = 0, packed_ = 0;
  Shape made_;
  KeptMemory scratch_, packed_memory_;
};

std::optional<FusedNodes> takes(const AnalyzedGraph& graph, Index last) {
  std::optional<AttentionChain> found = attention_chain(graph, last);
  if (!found) return std::nullopt;
  return std::move(found->fused);
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index last, std::vector<Index> buffers) {
  return std::make_unique<ChainedAttention>(graph, last, std::move(buffers));
}

}  // namespace

const FusedFamily attention_chain_family{takes, step};

}  // namespace touchstone::optimized
