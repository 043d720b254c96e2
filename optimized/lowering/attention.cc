// Attention of float32: blocks of query rows by head, each on the product kernels and the softmax
// of a row.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/kernels/dots.h"
#include "optimized/kernels/gemm.h"
#include "optimized/kernels/row_norms.h"
#include "optimized/kernels/thin.h"
#include "optimized/lowering/attention_mask.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/kept_memory.h"
#include "reference/lists.h"

namespace touchstone {
namespace {

using attention::add_mask, attention::infinity, attention::Mask;

constexpr Index min_rows = 8;         // below, packing costs more than the product
constexpr Index most_scores = 65536;  // floats of a block, unless it has only min_rows rows
constexpr Index keys_at_once = 64;    // scaled keys that are read without packing
constexpr Index longest = Index{1} << 30;
constexpr double nanoseconds_a_weight = 0.5;

enum Inputs : std::size_t { q_in, k_in, v_in, mask_in, past_key_in, past_value_in, nonpad_in };
enum Outputs : std::size_t { y_out, present_key_out, present_value_out, scores_out };

Index padded(Index floats) { return ceil_div(floats, Index{16}) * 16; }

// Numbers of heads and positions, and sizes of a head.
struct Extents {
  Index batch = 0, heads = 0, kv_heads = 0, queries = 0, past = 0, steps = 0, total = 0;
  Index depth = 0, width = 0;  // of a key, of a value
  bool is_flat = false;        // three-dimensional inputs

  Index pairs() const { return batch * kv_heads; }           // of keys and values
  Index rows() const { return heads / kv_heads * queries; }  // of queries, for a pair
};

// Vectors of one length, by sample, head and position.
struct Heads {
  const float* data = nullptr;
  Index batch = 0, head = 0, step = 0;  // strides

  Heads(const float* data, bool is_flat, Index heads, Index steps, Index size)
      : data(data),
        batch(heads * steps * size),
        head(is_flat ? size : steps * size),
        step(is_flat ? heads * size : size) {}
  Index offset(Index b, Index h, Index i) const { return b * batch + h * head + i * step; }
  const float* at(Index b, Index h, Index i) const { return data + offset(b, h, i); }
};

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
        softmax_(row_norms_of(chosen_isa()).softmax) {
    kernel = "attention " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::matmul;
    const Facts facts = fact().attributes();
    is_causal_ = facts.integer("is_causal") != 0;
    q_heads_ = facts.integer("q_num_heads");
    kv_heads_ = facts.integer("kv_num_heads");
    has_scale_ = facts.given("scale");
    scale_ = facts.number("scale");
  }

  void run(RunState& state) override {
    Extents x;
    Mask mask;
    if (!measure(state, x) || !describe_mask(state, x, mask)) return run_on_reference(state);
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
    const Shape shape = x.is_flat ? Shape{x.batch, x.queries, x.heads * x.width}
                                  : Shape{x.batch, x.heads, x.queries, x.width};
    work.y = output(state, y_out, Type::float32, shape).data<float>();
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
    Index rows = 0;                          // at once
    float* packed = nullptr;                 // keys and values of all pairs
    Index packed_keys = 0, packed_pair = 0;  // floats
  };

  const float* data(const RunState& state, std::size_t k) const {
    return input(state, k).data<float>();
  }

  // Returns false for a call that breaks a rule or has no product.
  bool measure(const RunState& state, Extents& x) const {
    const Shape &q = input(state, q_in).shape(), &k = input(state, k_in).shape(),
                &v = input(state, v_in).shape();
    if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
      return false;
    x.is_flat = q.size() == 3;
    if (x.is_flat && (q_heads_ <= 0 || kv_heads_ <= 0)) return false;
    x.batch = q[0];
    x.heads = x.is_flat ? q_heads_ : q[1];
    x.kv_heads = x.is_flat ? kv_heads_ : k[1];
    x.queries = q[q.size() - 2];
    x.steps = k[k.size() - 2];
    if (x.heads <= 0 || x.kv_heads <= 0 || x.heads % x.kv_heads != 0) return false;
    const Index own = x.is_flat ? x.kv_heads : 1, asked = x.is_flat ? x.heads : 1;
    if (q.back() % asked != 0 || k.back() % own != 0 || v.back() % own != 0) return false;
    x.depth = q.back() / asked;
    x.width = v.back() / own;
    if (!x.is_flat && v[1] != x.kv_heads) return false;
    if (k[0] != x.batch || v[0] != x.batch || v[v.size() - 2] != x.steps) return false;
    if (k.back() / own != x.depth) return false;
    if (has_input(past_key_in) != has_input(past_value_in)) return false;
    if (has_input(past_key_in)) {
      const Shape& past = input(state, past_key_in).shape();
      if (past.size() != 4) return false;
      x.past = past[2];
      if (past != Shape{x.batch, x.kv_heads, x.past, x.depth}) return false;
      if (input(state, past_value_in).shape() != Shape{x.batch, x.kv_heads, x.past, x.width})
        return false;
    }
    x.total = add(x.past, x.steps);
    for (const Index extent : {x.batch, x.queries, x.total, x.depth, x.width}) {
      if (extent == 0) return false;
    }
    return std::max({x.total, x.depth, x.width}) < longest;
  }

  // Returns false for a mask that does not fit. Version 23 repeats a single column, while version
  // 24 masks the keys past the last column.
  bool describe_mask(const RunState& state, const Extents& x, Mask& mask) const {
    if (!has_input(mask_in)) return true;
    const Tensor& from = input(state, mask_in);
    const Shape& shape = from.shape();
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
    mask.type = from.type();
    mask.data = from.bytes().data();
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
    GemmProblem product;
    product.a = a;
    product.a_row = depth;
    product.packed = packed;
    product.c = c;
    product.c_row = columns;
    product.depth = depth;
    product.columns = columns;
    gemm_.run(product, 0, gemm_.panels(columns), 0, rows);
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

  // Makes weights of a row of scores. A row whose keys are all masked has weights of zero.
  void weigh(const Work& on, Index b, Index h, Index i, float* scores) const {
    const Extents& x = on.x;
    const Index allowed = is_causal_ ? std::min(x.total, i + x.past + 1) : x.total;
    const bool open = add_mask(on.mask, {b, h, i}, allowed, x.total, scores);
    if (!open) {
      std::fill_n(scores, x.total, 0.0F);
      return;
    }
    // Keys that are masked at the end of the row have the weight 0, or NaN as all others.
    Index count = x.total;
    while (count > 1 && scores[count - 1] == -infinity) --count;
    softmax_(scores, scores, 1, count);
    std::fill(scores + count, scores + x.total, std::isnan(*scores) ? *scores : 0.0F);
  }

  const Gemm gemm_;
  const ThinKernel thin_;
  const DotsKernel dots_;
  void (*const softmax_)(const float* x, float* y, std::int64_t rows, std::int64_t count);
  bool is_causal_ = false, has_scale_ = false;
  Index q_heads_ = 0, kv_heads_ = 0;
  double scale_ = 0;
  KeptMemory keys_, values_;  // with those of the past
  KeptMemory packed_, scratch_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (!signature.domain.empty() || signature.op != "Attention") return false;
  if (signature.since != 23 && signature.since != 24) return false;
  const auto given = [](const std::vector<Index>& values, std::size_t k) {
    return k < values.size() && values[k] != no_value;
  };
  if (given(fact.inputs, nonpad_in) || given(fact.outputs, scores_out)) return false;
  if (!given(fact.outputs, y_out)) return false;
  for (const std::size_t k : {q_in, k_in, v_in, mask_in, past_key_in, past_value_in}) {
    if (!given(fact.inputs, k)) {
      if (k <= v_in) return false;
      continue;
    }
    const AnalyzedValue& value = graph.value(fact.inputs[k]);
    if (!value.is(Type::float32) && (k != mask_in || !value.is(Type::boolean))) return false;
  }
  const Facts facts = fact.attributes();
  const float scale = facts.number("scale");
  const Index is_causal = facts.integer("is_causal");
  return facts.number("softcap") == 0 && scale >= 0 && scale < infinity &&
         (is_causal == 0 || is_causal == 1) && facts.integer("softmax_precision", 1) == 1;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  return std::make_unique<Attention>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily attention_family{"attention", KernelClass::matmul, takes, step};

}  // namespace touchstone
