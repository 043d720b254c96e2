// Sorts the dimensions of a contraction into those of a batch of matrix products and runs these:
// on tiles that read the operands in place, on packed panels, or element by element.
#include "optimized/lowering/contraction.h"

#include <algorithm>

#include "optimized/kernels/strided_copy.h"
#include "optimized/plan/steps.h"
#include "optimized/problems/collapse.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

constexpr Index min_rows = 8;         // below, packing costs more than the product
constexpr Index unpacked_b = 1024;    // elements of B that are as fast without packing
constexpr Index smallest = 24;        // multiply-adds below which a product is only a loop
constexpr Index columns_a_part = 64;  // at least, and a multiple of it
constexpr Index line = 16;            // floats
constexpr Index farthest_row = Index{1} << 30;  // kernels take strides of 32 bits
constexpr double nanoseconds_to_share = 5000;

Index padded(Index floats) { return ceil_div(floats, line) * line; }
Index stride_of(const IndexVector& strides) { return strides.empty() ? 0 : strides.back(); }

// Dimensions with the strides of both operands and of the result.
struct Dimensions {
  Shape extents;
  IndexVector first, second, third;
  void add(Index extent, Index a, Index b, Index c) {
    extents.push_back(extent);
    first.push_back(a);
    second.push_back(b);
    third.push_back(c);
  }
  void merge() {
    if (extents.empty()) return;
    Collapsed merged = collapse(extents, {first, second, third});
    extents = std::move(merged.extents);
    first = std::move(merged.strides[0]);
    second = std::move(merged.strides[1]);
    third = std::move(merged.strides[2]);
  }
};

// Copies a strided array of any rank.
void copy(const Shape& extents, const IndexVector& from_strides, const float* from,
          const IndexVector& to_strides, float* to) {
  const Collapsed walk = collapse(extents, {from_strides, to_strides});
  const Index rank = walk.extents.size();
  const Index inner = std::min<Index>(rank, StridedCopy::rank);
  StridedCopy move;
  for (Index d = 0; d < inner; ++d) {
    const auto k = static_cast<std::size_t>(d);
    move.extents[k] = walk.extents[rank - 1 - d];
    move.source_strides[k] = walk.strides[0][rank - 1 - d];
    move.target_strides[k] = walk.strides[1][rank - 1 - d];
  }
  each_outer(walk, rank - inner, [&](const std::vector<Index>& at) {
    run_strided_copy(chosen_isa(), move, sizeof(float), from + at[0], to + at[1]);
  });
}

IndexVector joined(const IndexVector& first, const IndexVector& second) {
  IndexVector made = first;
  made.append(second.begin(), second.end());
  return made;
}

}  // namespace

Contractor::Contractor()
    : gemm_(chosen_isa()), thin_(thin_of(chosen_isa())), dots_(dots_of(chosen_isa())) {}

Contractor::Matrices Contractor::matrices_of(const Contraction& of, bool turned) {
  const Contraction::Strides &a = turned ? of.b : of.a, &b = turned ? of.a : of.b;
  const IndexVector c = dense_strides(of.kept);
  Dimensions batch, rows, columns, depth;
  for (Index d = 0; d < of.kept.size(); ++d) {
    if (of.kept[d] == 1) continue;
    Dimensions& to = b.kept[d] == 0 ? rows : a.kept[d] == 0 ? columns : batch;
    to.add(of.kept[d], a.kept[d], b.kept[d], c[d]);
  }
  for (Index d = 0; d < of.summed.size(); ++d) {
    if (of.summed[d] != 1) depth.add(of.summed[d], a.summed[d], b.summed[d], 0);
  }
  for (Dimensions* each : {&batch, &rows, &columns, &depth}) each->merge();
  Matrices x;
  x.turned = turned;
  x.batches = count(batch.extents);
  x.m = count(rows.extents);
  x.n = count(columns.extents);
  x.k = count(depth.extents);
  x.batch = batch.extents;
  x.batch_a = batch.first;
  x.batch_b = batch.second;
  x.batch_c = batch.third;
  x.rows = rows.extents;
  x.rows_a = rows.first;
  x.rows_c = rows.third;
  x.columns = columns.extents;
  x.columns_b = columns.second;
  x.columns_c = columns.third;
  x.depth = depth.extents;
  x.depth_a = depth.first;
  x.depth_b = depth.second;
  return x;
}

const Contractor::Matrices& Contractor::matrices_of(const Contraction& of) {
  if (matrices_ && of == last_) return *matrices_;
  // The operand that has the last dimension of C gives the columns.
  bool turned = false;
  for (Index d = of.kept.size(); d-- > 0;) {
    if (of.kept[d] == 1) continue;
    turned = of.b.kept[d] == 0;
    break;
  }
  matrices_.reset();
  last_ = of;
  matrices_ = matrices_of(of, turned);
  return *matrices_;
}

void Contractor::run(RunState& state, const Contraction& of, const float* a, const float* b,
                     float* c) {
  if (count(of.kept) == 0) return;
  if (count(of.summed) == 0) {
    std::fill_n(c, count(of.kept), 0.0F);
    return;
  }
  const Matrices& x = matrices_of(of);
  const Operands on = x.turned ? Operands{b, a, c} : Operands{a, b, c};
  const auto lacks = [](const IndexVector& strides) {
    return std::find(strides.begin(), strides.end(), 0) != strides.end();
  };
  const double products =
      static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
  if (products < smallest || lacks(x.depth_a) || lacks(x.depth_b)) {
    loop(of, a, b, c);
  } else {
    run_matrices(state, x, on);
  }
}

// The work of one product: which kernel, and which operands are copied first.
struct Contractor::Work {
  bool packs = false, dots = false;
  bool copies_a = false, copies_b = false, copies_c = false;
  Index a = 0, b = 0, c = 0, packed = 0;  // offsets in the scratch memory
  Index floats = 0;

  Work(const Matrices& x, const Gemm& gemm, bool is_packed) {
    const bool plain_depth = x.depth.size() <= 1;
    const bool along_columns = x.n == 1 || stride_of(x.columns_b) == 1;
    const bool along_depth = x.k == 1 || stride_of(x.depth_b) == 1;
    packs = x.m >= min_rows &&
            !(along_columns && static_cast<double>(x.k) * static_cast<double>(x.n) <= unpacked_b);
    copies_b = !plain_depth || x.columns.size() > 1;
    dots = !packs && !copies_b && !along_columns && along_depth;
    if (x.n == 1 && !packs && !copies_b && along_depth) dots = true;
    copies_b = copies_b || (!packs && !dots && !along_columns);
    const bool whole_depth = x.k == 1 || stride_of(x.depth_a) == 1;
    copies_a = !plain_depth || x.rows.size() > 1 || ((packs || dots) && !whole_depth) ||
               stride_of(x.rows_a) > farthest_row;
    copies_c = x.rows.size() > 1 || x.columns.size() > 1 || stride_of(x.columns_c) > 1 ||
               stride_of(x.rows_c) > farthest_row;
    if (is_packed) copies_b = false;
    const auto place = [&](bool wanted, Index size) {
      const Index at = floats;
      if (wanted) floats += padded(size);
      return at;
    };
    a = place(copies_a, x.m * x.k);
    b = place(copies_b, x.k * x.n);
    c = place(copies_c, x.m * x.n);
    packed = place(packs && !is_packed, gemm.packed_size(x.k, x.n));
  }
};

float* Contractor::scratch_of(Index floats) {
  if (floats > scratch_.size()) scratch_ = Tensor(Type::float32, Shape{floats});
  return scratch_.data<float>();
}

GemmOperand Contractor::operand(const Matrices& x, const float* b, bool copied) {
  if (copied) return {b, x.n, 1, x.k, x.n};
  return {b, stride_of(x.depth_b), stride_of(x.columns_b), x.k, x.n};
}

// Copies what the kernel cannot read or write in place, and returns where it is.
Contractor::Prepared Contractor::prepared(const Matrices& x, const Operands& on, const Work& work,
                                          float* scratch) {
  Prepared made;
  made.a = on.a;
  made.a_row = stride_of(x.rows_a);
  made.a_depth = stride_of(x.depth_a);
  made.b = on.b;
  made.c = on.c;
  made.c_row = stride_of(x.rows_c);
  if (work.copies_a) {
    const Shape extents = joined(x.rows, x.depth);
    copy(extents, joined(x.rows_a, x.depth_a), on.a, dense_strides(extents), scratch + work.a);
    made.a = scratch + work.a;
    made.a_row = x.k;
    made.a_depth = 1;
  }
  if (work.copies_b) {
    const Shape extents = joined(x.depth, x.columns);
    copy(extents, joined(x.depth_b, x.columns_b), on.b, dense_strides(extents), scratch + work.b);
    made.b = scratch + work.b;
  }
  if (work.copies_c) {
    made.c = scratch + work.c;
    made.c_row = x.n;
  }
  return made;
}

void Contractor::finish(const Matrices& x, const Operands& on, const Work& work,
                        const float* scratch) {
  if (!work.copies_c) return;
  const Shape extents = joined(x.rows, x.columns);
  copy(extents, dense_strides(extents), scratch + work.c, joined(x.rows_c, x.columns_c), on.c);
}

// Computes columns [first, first + columns) without packing.
void Contractor::in_place(const Matrices& x, const Prepared& on, const Work& work, Index first,
                          Index columns) const {
  if (!work.dots) {
    const Index b_depth = work.copies_b ? x.n : stride_of(x.depth_b);
    thin_({on.a, on.a_row, on.a_depth, on.b, b_depth, on.c, on.c_row, x.m, x.k}, first, columns);
    return;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (Index m = 0; m < x.m; ++m) {
    const Dots dots{
        on.a + m * on.a_row, on.b,    stride_of(x.columns_b), nullptr, on.c + m * on.c_row, x.k,
        -infinity,           infinity};
    dots_(dots, first, columns);
  }
}

GemmProblem Contractor::problem(const Matrices& x, const Prepared& on, const float* packed) {
  GemmProblem made = plain_product(on.a, on.a_row, packed, on.c, x.k, x.n);
  made.c_row = on.c_row;
  return made;
}

// One thread computes the product.
void Contractor::alone(const Matrices& x, const Operands& on, const Work& work, float* scratch,
                       const float* packed) const {
  const Prepared ready = prepared(x, on, work, scratch);
  if (!work.packs) {
    in_place(x, ready, work, 0, x.n);
  } else {
    const Index panels = gemm_.panels(x.n);
    if (packed == nullptr) {
      gemm_.pack(operand(x, ready.b, work.copies_b), nullptr, scratch + work.packed, 0, panels);
      packed = scratch + work.packed;
    }
    gemm_.run(problem(x, ready, packed), 0, panels, 0, x.m);
  }
  finish(x, on, work, scratch);
}

// All threads compute it: they divide its columns, or its rows and panels.
void Contractor::together(RunState& state, const Matrices& x, const Operands& on, const Work& work,
                          float* scratch, const float* packed) const {
  const Prepared ready = prepared(x, on, work, scratch);
  const Index wanted = parts_for(state.pool.size());
  if (!work.packs) {
    const Index step = ceil_div(ceil_div(x.n, wanted), columns_a_part) * columns_a_part;
    state.pool.each(ceil_div(x.n, step), [&](Index part, Index) {
      in_place(x, ready, work, part * step, std::min(step, x.n - part * step));
    });
  } else {
    if (packed == nullptr) {
      const Index panels = gemm_.panels(x.n), parts = std::min(panels, wanted);
      const GemmOperand b = operand(x, ready.b, work.copies_b);
      state.pool.each(parts, [&](Index part, Index) {
        const Index first = panels * part / parts;
        gemm_.pack(b, nullptr, scratch + work.packed, first, panels * (part + 1) / parts - first);
      });
      packed = scratch + work.packed;
    }
    run_matmul(state.pool, gemm_, problem(x, ready, packed), x.m);
  }
  finish(x, on, work, scratch);
}

Contractor::Operands Contractor::at(const Matrices& x, const Operands& on, Index batch) {
  Operands made = on;
  for (Index d = x.batch.size(); d-- > 0;) {
    const Index i = batch % x.batch[d];
    batch /= x.batch[d];
    made.a += i * x.batch_a[d];
    made.b += i * x.batch_b[d];
    made.c += i * x.batch_c[d];
  }
  return made;
}

// Returns the packed form of a constant B; null for another B.
const float* Contractor::packed_of(const Matrices& x, const Operands& on) {
  const Tensor* const constant = constants_[x.turned ? 0 : 1];
  const Work work(x, gemm_, false);
  if (constant == nullptr || !work.packs) return nullptr;
  IndexVector key{x.turned ? 1 : 0};
  for (const auto* of : {&x.batch, &x.batch_b, &x.columns, &x.columns_b, &x.depth, &x.depth_b}) {
    key.push_back(of->size());
    key.append(of->begin(), of->end());
  }
  if (packed_ && packed_for_ == key) return packed_->get();
  packed_ = shared_->get<LargeMemory>({constant}, key, [&] { return pack(x, on, work); });
  packed_for_ = key;
  return packed_->get();
}

LargeMemory Contractor::pack(const Matrices& x, const Operands& on, const Work& work) {
  const Index each = padded(gemm_.packed_size(x.k, x.n));
  LargeMemory packed = large_memory(count(Shape{x.batches, each}));
  float* const scratch = scratch_of(work.floats);
  for (Index k = 0; k < x.batches; ++k) {
    const Prepared ready = prepared(x, at(x, on, k), work, scratch);
    gemm_.pack(operand(x, ready.b, work.copies_b), nullptr, packed.get() + k * each, 0,
               gemm_.panels(x.n));
  }
  return packed;
}

void Contractor::run_matrices(RunState& state, const Matrices& x, const Operands& on) {
  const float* const packed = packed_of(x, on);
  const Work work(x, gemm_, packed != nullptr);
  const Index each = padded(gemm_.packed_size(x.k, x.n));
  const auto packed_at = [&](Index k) { return packed == nullptr ? nullptr : packed + k * each; };
  const double cost = nanoseconds_a_multiply_add * static_cast<double>(x.m) *
                      static_cast<double>(x.n) * static_cast<double>(x.k);
  const Index threads = state.pool.size();
  if (x.batches >= threads || cost < 2 * nanoseconds_to_share) {
    const Index parts = std::min(x.batches, parts_for(threads));
    float* const scratch = scratch_of(threads * work.floats);
    state.each(parts, cost * static_cast<double>(x.batches), [&](Index part, Index thread) {
      const Index end = x.batches * (part + 1) / parts;
      WorkWatch watch;
      for (Index k = x.batches * part / parts; k < end; ++k) {
        watch.step(x.m * x.n * x.k);
        alone(x, at(x, on, k), work, scratch + thread * work.floats, packed_at(k));
      }
    });
    return;
  }
  float* const scratch = scratch_of(work.floats);
  for (Index k = 0; k < x.batches; ++k)
    together(state, x, at(x, on, k), work, scratch, packed_at(k));
}

// Computes element by element: products too small for a kernel, and sums over dimensions that one
// operand lacks.
void Contractor::loop(const Contraction& of, const float* a, const float* b, float* c) {
  const Collapsed kept = collapse(of.kept, {of.a.kept, of.b.kept, dense_strides(of.kept)});
  const Collapsed summed = collapse(of.summed, {of.a.summed, of.b.summed});
  const auto last = [](const Collapsed& walk, std::size_t operand) {
    return walk.extents.empty() ? 0 : walk.strides[operand].back();
  };
  const Index width = kept.extents.empty() ? 1 : kept.extents.back();
  const Index depth = summed.extents.empty() ? 1 : summed.extents.back();
  const Index a_step = last(kept, 0), b_step = last(kept, 1), c_step = last(kept, 2);
  const Index a_along = last(summed, 0), b_along = last(summed, 1);
  WorkWatch watch;
  const auto dot = [&](const float* p, const float* q) {
    float sum = 0;
    for (Index from = 0; from < depth; from += WorkWatch::most) {
      const Index end = std::min(depth, from + WorkWatch::most);
      watch.step(end - from);
      for (Index s = from; s < end; ++s) sum += p[s * a_along] * q[s * b_along];
    }
    return sum;
  };
  const Index outer = std::max<Index>(kept.extents.size() - 1, 0);
  const Index outer_summed = std::max<Index>(summed.extents.size() - 1, 0);
  each_outer(kept, outer, [&](const std::vector<Index>& from) {
    for (Index i = 0; i < width; ++i) {
      const float *p = a + from[0] + i * a_step, *q = b + from[1] + i * b_step;
      float& made = c[from[2] + i * c_step];
      if (outer_summed == 0) {
        made = dot(p, q);
        continue;
      }
      float sum = 0;
      each_outer(summed, outer_summed,
                 [&](const std::vector<Index>& at) { sum += dot(p + at[0], q + at[1]); });
      made = sum;
    }
  });
}

}  // namespace touchstone::optimized
