// Attention of float32: blocks of query rows by head, each on the product kernels and the softmax
// of a row.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/budget.h"
#include "core/checked.h"
#include "core/numbers/convert.h"
#include "optimized/kernels/dots.h"
#include "optimized/kernels/gemm.h"
#include "optimized/kernels/row_norms.h"
#include "optimized/kernels/support_kernels.h"
#include "optimized/lowering/attention_extents.h"
#include "optimized/lowering/attention_mask.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/kept_memory.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

using attention::add_mask, attention::Extents, attention::Heads, attention::infinity,
    attention::KeyRange, attention::Mask;

constexpr Index min_rows = 8;               // below, packing costs more than the product
constexpr Index most_scores = 65536;        // floats of a block, unless it has only min_rows rows
constexpr Index keys_at_once = 64;          // scaled keys that are read without packing
constexpr Index farthest = Index{1} << 40;  // positions beyond all keys
constexpr double nanoseconds_a_weight = 0.5;

enum Inputs : std::size_t { q_in, k_in, v_in, mask_in, past_key_in, past_value_in, nonpad_in };
enum Outputs : std::size_t { y_out, present_key_out, present_value_out, scores_out };

Index padded(Index floats) { return ceil_div(floats, Index{16}) * 16; }

enum class Shown : Index { raw, capped, masked, weights };  // qk_matmul_output_mode

void scale(const float* from, Index count, float by, float* to) {
  for (Index k = 0; k < count; ++k) to[k] = from[k] * by;
}

class Attention : public TensorStep {
 public:
  Attention(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        gemm_(chosen_isa()),
        thin_(thin_of(chosen_isa())),
        dots_(dots_of(chosen_isa())),
        softmax_(row_norms_of(chosen_isa()).softmax),
        tanh_(support_kernels_of(chosen_isa()).tanh) {
    kernel = "attention " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::matmul;
    const Facts facts = fact().attributes();
    is_causal_ = facts.integer("is_causal") != 0;
    q_heads_ = facts.integer("q_num_heads");
    kv_heads_ = facts.integer("kv_num_heads");
    names_heads_ = facts.given("q_num_heads") || facts.given("kv_num_heads");
    has_scale_ = facts.given("scale");
    scale_ = facts.number("scale");
    softcap_ = facts.number("softcap");
    left_ = std::min(facts.integer("left_window_size", -1), farthest);
    right_ = std::min(facts.integer("right_window_size", -1), farthest);
    shown_ = static_cast<Shown>(facts.integer("qk_matmul_output_mode"));
  }

  void run(RunState& state) override {
    const std::optional<Extents> found = measure(state);
    Mask mask;
    if (!found || !describe_mask(state, *found, mask) || !has_counts(state, *found))
      return run_on_reference(state);
    const Extents& x = *found;
    const double products = static_cast<double>(x.batch * x.heads * x.queries) *
                            static_cast<double>(x.total) * static_cast<double>(x.depth + x.width);
    charge_work(static_cast<Index>(std::min(products, 1e18)));
    const double root =
        std::sqrt(has_scale_ ? scale_ : 1 / std::sqrt(static_cast<double>(x.depth)));
    Work work{x,
              mask,
              {data(state, q_in), x.is_flat, x.heads, x.queries, x.depth},
              cached(state, x, k_in, past_key_in, present_key_out, x.depth, keys_),
              cached(state, x, v_in, past_value_in, present_value_out, x.width, values_)};
    work.root = static_cast<float>(root);
    work.y = output(state, y_out, Type::float32, x.result()).data<float>();
    if (has_output(scores_out))
      work.scores = output(state, scores_out, Type::float32, x.scores()).data<float>();
    if (has_input(nonpad_in)) work.counts = input(state, nonpad_in).data<Index>();
    work.rows = rows_at_once(x, state.pool.size());
    const Index blocks = ceil_div(x.rows(), work.rows);
    const Index each =
        padded(multiply(work.rows, x.depth + x.total + x.width) + keys_at_once * x.depth);
    float* const scratch = scratch_.at<float>(multiply(state.pool.size(), each));
    const bool packs = x.rows() >= min_rows;
    if (packs) {
      work.packed_keys = padded(gemm_.packed_size(x.depth, x.total));
      work.packed_pair = work.packed_keys + padded(gemm_.packed_size(x.total, x.width));
      work.packed = packed_.at<float>(multiply(x.pairs(), work.packed_pair));
    }
    if (packs && blocks > 1) {
      const auto moved = static_cast<double>(x.pairs()) * static_cast<double>(work.packed_pair);
      state.each(x.pairs(), moved * nanoseconds_an_element, [&](Index pair, Index) {
        check_budget();
        pack(work, pair);
      });
    }
    const double cost = products * nanoseconds_a_multiply_add +
                        static_cast<double>(x.pairs() * x.rows()) * static_cast<double>(x.total) *
                            nanoseconds_a_weight;
    state.each(x.pairs() * blocks, cost, [&](Index part, Index thread) {
      check_budget();
      const Index pair = part / blocks, first = part % blocks * work.rows;
      if (packs && blocks == 1) pack(work, pair);
      block(work, pair, first, std::min(work.rows, x.rows() - first), scratch + thread * each);
    });
  }

 private:
  struct Work {
    const Extents& x;
    const Mask& mask;
    const Heads queries, keys, values;
    float root = 1;
    float* y = nullptr;
    float* scores = nullptr;                 // qk_matmul_output; null: not wanted
    const Index* counts = nullptr;           // keys that are no padding, by sample; null: all
    Index rows = 0;                          // at once
    float* packed = nullptr;                 // keys and values of all pairs
    Index packed_keys = 0, packed_pair = 0;  // floats
  };

  const float* data(const RunState& state, std::size_t k) const {
    return input(state, k).data<float>();
  }

  std::optional<Extents> measure(const RunState& state) const {
    const auto shape = [&](std::size_t k) {
      return has_input(k) ? &input(state, k).shape() : nullptr;
    };
    std::optional<Extents> x =
        attention::extents_of({*shape(q_in), *shape(k_in), *shape(v_in), shape(past_key_in),
                               shape(past_value_in), q_heads_, kv_heads_});
    if (x && fact().node->signature->since >= 25 && !x->is_flat && names_heads_)
      return std::nullopt;  // rule C10
    return x;
  }

  // Returns false for counts of keys that break a rule, or count too far.
  bool has_counts(const RunState& state, const Extents& x) const {
    if (!has_input(nonpad_in)) return true;
    const bool shows_cache = has_output(present_key_out) || has_output(present_value_out);
    if (has_input(past_key_in) || (fact().node->signature->since >= 25 && shows_cache))
      return false;
    const Tensor& counts = input(state, nonpad_in);
    if (counts.shape() != Shape{x.batch}) return false;
    return std::all_of(counts.data<Index>(), counts.data<Index>() + x.batch,
                       [](Index count) { return count > -farthest && count < farthest; });
  }

  // Returns false for a mask that does not fit. Version 23 repeats a single column, while version
  // 24 masks the keys past the last column.
  bool describe_mask(const RunState& state, const Extents& x, Mask& mask) {
    if (!has_input(mask_in)) return true;
    const Tensor& given = input(state, mask_in);
    const Shape& shape = given.shape();
    const Index rank = shape.size(), extents[] = {x.batch, x.heads, x.queries};
    const bool is_broadcast = fact().node->signature->since < 24;
    if (rank > 4 || (rank == 0 && !is_broadcast)) return false;
    const Index columns = rank == 0 ? 1 : shape.back();
    if (is_broadcast ? columns != 1 && columns != x.total : columns > x.total) return false;
    mask.repeats = is_broadcast && columns == 1;
    mask.columns = is_broadcast ? x.total : columns;
    const IndexVector dense = dense_strides(shape);
    for (Index d = 0; d + 1 < rank; ++d) {
      const auto to = static_cast<std::size_t>(4 - rank + d);
      if (shape[d] != 1 && shape[d] != extents[to]) return false;
      mask.by[to] = shape[d] == 1 ? 0 : dense[d];
    }
    const bool as_it_is = given.type() == Type::float32 || given.type() == Type::boolean;
    if (!as_it_is) {
      converted_mask_ = Tensor(Type::float32, shape);
      convert(given, converted_mask_);
    }
    const Tensor& read = as_it_is ? given : converted_mask_;
    mask.type = read.type();
    mask.data = read.bytes().data();
    return true;
  }

  // Returns the keys or values, after those of the past.
  Heads cached(RunState& state, const Extents& x, std::size_t now, std::size_t past,
               std::size_t present, Index size, KeptMemory& kept) {
    const Heads from(data(state, now), x.is_flat, x.kv_heads, x.steps, size);
    if (!has_output(present) && !has_input(past)) return from;
    const Index all = multiply(x.pairs(), x.total * size);
    float* const made = has_output(present) ? output(state, present, Type::float32,
                                                     {x.batch, x.kv_heads, x.total, size})
                                                  .data<float>()
                                            : kept.at<float>(all);
    const float* const before = has_input(past) ? data(state, past) : nullptr;
    const auto copy = [&](const float* source, Index count, float* to) {
      std::memcpy(to, source, static_cast<std::size_t>(count) * sizeof(float));
      return to + count;
    };
    state.each(x.pairs(), static_cast<double>(all) * nanoseconds_an_element,
               [&](Index pair, Index) {
                 const Index b = pair / x.kv_heads, g = pair % x.kv_heads;
                 float* to = made + pair * x.total * size;
                 if (x.past > 0) to = copy(before + pair * x.past * size, x.past * size, to);
                 if (from.step == size && x.steps > 0) {
                   copy(from.at(b, g, 0), x.steps * size, to);
                 } else {
                   for (Index i = 0; i < x.steps; ++i) to = copy(from.at(b, g, i), size, to);
                 }
               });
    return {made, false, x.kv_heads, x.total, size};
  }

  // Rows of a block: its scores stay in the cache, and there are blocks for all threads.
  static Index rows_at_once(const Extents& x, Index threads) {
    if (x.rows() < min_rows) return x.rows();
    Index most = std::max(min_rows, most_scores / x.total);
    if (x.pairs() < threads)
      most = std::min(most, std::max(min_rows, ceil_div(x.rows() * x.pairs(), parts_for(threads))));
    return std::min(x.rows(), most);
  }

  void pack(const Work& on, Index pair) const {
    const Extents& x = on.x;
    const Index b = pair / x.kv_heads, g = pair % x.kv_heads;
    float* const keys = on.packed + pair * on.packed_pair;
    gemm_.pack({on.keys.at(b, g, 0), 1, on.keys.step, x.depth, x.total}, nullptr, keys, 0,
               gemm_.panels(x.total));
    scale(keys, gemm_.packed_size(x.depth, x.total), on.root, keys);
    gemm_.pack({on.values.at(b, g, 0), on.values.step, 1, x.total, x.width}, nullptr,
               keys + on.packed_keys, 0, gemm_.panels(x.width));
  }

  void multiply_packed(const float* a, Index rows, Index depth, const float* packed, Index columns,
                       float* c) const {
    gemm_.run(plain_product(a, depth, packed, c, depth, columns), 0, gemm_.panels(columns), 0,
              rows);
  }

  // Computes rows [first, first + rows) of a pair: its heads one after the other.
  void block(const Work& on, Index pair, Index first, Index rows, float* scratch) const {
    const Extents& x = on.x;
    const Index b = pair / x.kv_heads, g = pair % x.kv_heads, group = x.heads / x.kv_heads;
    float* const query = scratch;
    float* const scores = query + rows * x.depth;
    float* const made = scores + rows * x.total;
    float* const some_keys = made + rows * x.width;
    const auto head = [&](Index r) { return g * group + (first + r) / x.queries; };
    const auto position = [&](Index r) { return (first + r) % x.queries; };
    for (Index r = 0; r < rows; ++r)
      scale(on.queries.at(b, head(r), position(r)), x.depth, on.root, query + r * x.depth);
    const float* const packed = on.packed == nullptr ? nullptr : on.packed + pair * on.packed_pair;
    if (packed != nullptr) {
      multiply_packed(query, rows, x.depth, packed, x.total, scores);
    } else {
      for (Index j = 0; j < x.total; j += keys_at_once) {
        const Index count = std::min(keys_at_once, x.total - j);
        for (Index k = 0; k < count; ++k)
          scale(on.keys.at(b, g, j + k), x.depth, on.root, some_keys + k * x.depth);
        for (Index r = 0; r < rows; ++r)
          dots_({query + r * x.depth, some_keys, x.depth, nullptr, scores + r * x.total + j,
                 x.depth, -infinity, infinity},
                0, count);
      }
    }
    for (Index r = 0; r < rows; ++r) weigh(on, b, head(r), position(r), scores + r * x.total);
    if (packed != nullptr) {
      multiply_packed(scores, rows, x.total, packed + on.packed_keys, x.width, made);
    } else {
      thin_(
          {scores, x.total, 1, on.values.at(b, g, 0), on.values.step, made, x.width, rows, x.total},
          0, x.width);
    }
    const Heads to(on.y, x.is_flat, x.heads, x.queries, x.width);
    for (Index r = 0; r < rows; ++r)
      std::memcpy(on.y + to.offset(b, head(r), position(r)), made + r * x.width,
                  static_cast<std::size_t>(x.width) * sizeof(float));
  }

  // Returns the keys that a query may attend to without regard to the mask.
  KeyRange allowed(const Work& on, Index b, Index i) const {
    const Extents& x = on.x;
    const Index filled = on.counts == nullptr ? x.total : on.counts[b];
    const Index place = i + (on.counts == nullptr ? x.past : filled - x.queries);
    KeyRange range{0, std::min(x.total, filled)};
    if (is_causal_) range.end = std::min(range.end, place + 1);
    if (left_ >= 0) range.first = std::max<Index>(0, place - left_);
    if (right_ >= 0) range.end = std::min(range.end, place + right_ + 1);
    return range;
  }

  // Makes weights of a row of scores. A row whose keys are all masked has weights of zero.
  void weigh(const Work& on, Index b, Index h, Index i, float* scores) const {
    const Index total = on.x.total;
    const auto show = [&](Shown what) {
      if (on.scores == nullptr || what != shown_) return;
      std::copy_n(scores, total, on.scores + ((b * on.x.heads + h) * on.x.queries + i) * total);
    };
    show(Shown::raw);
    if (softcap_ != 0) cap(scores, total);
    show(Shown::capped);
    const bool open = add_mask(on.mask, {b, h, i}, allowed(on, b, i), total, scores);
    show(Shown::masked);
    if (open) {
      soften(scores, total);
    } else {
      std::fill_n(scores, total, 0.0F);
    }
    show(Shown::weights);
  }

  // Masked keys at the ends of the row have the weight 0, or NaN as all others.
  void soften(float* scores, Index total) const {
    Index first = 0, end = total;
    while (end > 1 && scores[end - 1] == -infinity) --end;
    while (first + 1 < end && scores[first] == -infinity) ++first;
    softmax_(scores + first, scores + first, 1, end - first);
    const float outside = std::isnan(scores[first]) ? scores[first] : 0.0F;
    std::fill(scores, scores + first, outside);
    std::fill(scores + end, scores + total, outside);
  }

  void cap(float* scores, Index count) const {
    for (Index j = 0; j < count; ++j) scores[j] /= softcap_;
    tanh_(scores, count, 1, 0);
    for (Index j = 0; j < count; ++j) scores[j] *= softcap_;
  }

  const Gemm gemm_;
  const ThinKernel thin_;
  const DotsKernel dots_;
  void (*const softmax_)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  void (*const tanh_)(float* sums, std::int64_t count, float scale, float shift);
  bool is_causal_ = false, has_scale_ = false, names_heads_ = false;
  Index q_heads_ = 0, kv_heads_ = 0;
  Index left_ = -1, right_ = -1;  // how far a window reaches; -1: to all keys
  double scale_ = 0;
  float softcap_ = 0;
  Shown shown_ = Shown::raw;
  Tensor converted_mask_;     // of a mask that is neither float32 nor bool
  KeptMemory keys_, values_;  // with those of the past
  KeptMemory packed_, scratch_;
};

// True for a type whose numbers a mask converts to float32.
bool is_mask(const AnalyzedValue& value) {
  if (!value.type || value.type->kind != ValueType::Kind::tensor) return false;
  const Type type = value.type->element;
  return type != Type::undefined && type != Type::string && !facts(type).is_complex;
}

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "Attention") return false;
  const auto given = [](const std::vector<Index>& values, std::size_t k) {
    return k < values.size() && values[k] != no_value;
  };
  if (!given(fact.outputs, y_out)) return false;
  for (const std::size_t k : {q_in, k_in, v_in, mask_in, past_key_in, past_value_in}) {
    if (!given(fact.inputs, k)) {
      if (k <= v_in) return false;
      continue;
    }
    const AnalyzedValue& value = graph.value(fact.inputs[k]);
    if (k == mask_in ? !is_mask(value) : !value.is(Type::float32)) return false;
  }
  const Facts facts = fact.attributes();
  const auto within = [&](const char* name, Index least, Index most, Index otherwise) {
    const Index value = facts.integer(name, otherwise);
    return value >= least && value <= most;
  };
  // Steps of the softmax in less than float32 are rounded; those in double are not.
  const Index precision = facts.integer("softmax_precision", 1);
  constexpr Index all = std::numeric_limits<Index>::max();
  const float scale = facts.number("scale");
  return scale >= 0 && scale < infinity && within("is_causal", 0, 1, 0) &&
         within("qk_matmul_output_mode", 0, 3, 0) && within("left_window_size", -1, all, -1) &&
         within("right_window_size", -1, all, -1) &&
         (precision == static_cast<Index>(Type::float32) ||
          precision == static_cast<Index>(Type::float64));
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Attention>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily attention_family{"attention", KernelClass::matmul, takes, step};

}  // namespace touchstone::optimized
