// Runtime support of generated row kernels, called row_kernels (codegen/row_kernels.py). Splits the
// rows of a definition among the session's threads and keeps arrays between definitions from run to
// run. Gives each thread scratch buffers ("scratch") for the operands of expressions.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "optimized/kernels/rows/expressions.h"
#include "optimized/kernels/rows/operand_span.h"
#include "optimized/plan/large.h"
#include "optimized/registry/isa.h"
#include "optimized/threads/pool.h"
#include "reference/calls.h"

namespace touchstone::optimized {

constexpr float infinite = std::numeric_limits<float>::infinity();

// Intermediate arrays of a row_kernel, in the order in which it takes them. Their memory is kept
// between runs.
class RowKernelArrays {
 public:
  void begin() { next_ = 0; }
  float* take(Index floats) {
    if (next_ == held_.size()) held_.emplace_back();
    Held& held = held_[next_++];
    if (held.floats < floats || !held.memory) held = {large_memory(floats), floats};
    return held.memory.get();
  }

 private:
  struct Held {
    LargeMemory memory;
    Index floats = 0;
  };
  std::vector<Held> held_;
  std::size_t next_ = 0;
};

// Scratch buffers of one thread while it computes a row.
class ScratchBuffers;

class RowKernel {
 public:
  static constexpr Index piece = 512;  // elements that an expression computes at once
  static constexpr Index few = 8;      // shorter rows do not pay for vectors

  // `scratch`: memory of the row_kernel's scratch, one pointer per thread.
  RowKernel(ThreadPool& pool, std::span<float* const> scratch, RowKernelArrays& arrays);

  const ScalarExpression* const expressions;

  View<float> array(const Shape& shape) {
    bytes_of_array(shape, sizeof(float));
    return {arrays_.take(count(shape)), shape, Type::float32};
  }

  // True if a reduction of `length` expressions runs along the reduction, one row element after the
  // other, instead of along the row. `contiguous`: sum of OperandSpan::contiguous over all spans
  // that it reads.
  static bool reduce_inner(Index count, Index length, int contiguous) {
    return length >= few && (count < few || (contiguous > 0 && length >= 2 * few));
  }

  // Calls body(row, scratch) for pieces of rows that together cover the target; if `step` is not
  // negative, only the slice at that first index. `work`: expressions per element.
  template <class T, class F>
  void each_row(const View<T>& target, Index step, double work, const F& body) const;

 private:
  static constexpr double min_work = 16384;  // expressions below which waking a thread does not pay

  ThreadPool& pool_;
  const std::span<float* const> scratch_;
  RowKernelArrays& arrays_;
};

class ScratchBuffers {
 public:
  explicit ScratchBuffers(float* memory) : memory_(memory) {}
  float* at(Index k) const { return memory_ + k * RowKernel::piece; }

 private:
  float* memory_;
};

template <class T, class F>
void RowKernel::each_row(const View<T>& target, Index step, double work, const F& body) const {
  const Shape& shape = target.shape;
  const Index first = step >= 0 ? 1 : 0, last = shape.size() - 1;
  const Index length = last < first ? 1 : shape[last];
  if (count(shape) == 0) return;
  Index rows = 1;
  for (Index k = first; k < last; ++k) rows *= shape[k];
  // Splits rows if there are few, so that every thread has work.
  const double all = static_cast<double>(rows) * static_cast<double>(length) * work;
  const Index threads = all < min_work ? 1 : pool_.size(), wanted = threads == 1 ? 1 : 4 * threads;
  const Index cuts = std::clamp<Index>(wanted / rows, 1, (length + piece - 1) / piece);
  const Index part_length = (length + cuts - 1) / cuts, total = rows * cuts;
  const Index parts = std::min(wanted, total);
  const auto run = [&](Index part, Index thread) {
    const ScratchBuffers scratch(scratch_[static_cast<std::size_t>(thread)]);
    for (Index k = total * part / parts; k < total * (part + 1) / parts; ++k) {
      Row row;
      row.at = IndexVector(shape.size(), 0);
      if (step >= 0) row.at[0] = step;
      Index rest = k / cuts;
      for (Index d = last - 1; d >= first; --d) {
        row.at[d] = rest % shape[d];
        rest /= shape[d];
      }
      const Index from = k % cuts * part_length;
      row.length = std::min(part_length, length - from);
      if (row.length <= 0) continue;
      charge_work(row.length);
      if (from > 0) row.at[last] = from;
      body(row, scratch);
    }
  };
  if (parts == 1) {
    run(0, 0);
  } else {
    pool_.each(parts, run);
  }
}

inline void join_sum(float& held, float x) { held += x; }
inline void join_prod(float& held, float x) { held *= x; }
inline void join_max(float& held, float x) {
  if (held < x || is_nan(x)) held = x;
}
inline void join_min(float& held, float x) {
  if (x < held || is_nan(x)) held = x;
}

// Index of the first maximum, by order of visits; NaN counts as larger than any number (smaller,
// for minima). `each`: the next value of every element; `one`: `count` values of one element, the
// first of index `met`.
template <class Better>
void best_each(Index count, const float* values, Index met, float* best, Index* at, Better better) {
  for (Index x = 0; x < count; ++x) {
    const bool wins =
        at[x] < 0 || better(values[x], best[x]) || (values[x] != values[x] && best[x] == best[x]);
    best[x] = wins ? values[x] : best[x];
    at[x] = wins ? met : at[x];
  }
}
template <class Better>
void best_one(Index count, const float* values, Index met, float* best, Index* at, Better better) {
  for (Index x = 0; x < count; ++x) best_each(1, values + x, met + x, best, at, better);
}
inline void best_of_largest_each(Index count, const float* values, Index met, float* best,
                                 Index* at) {
  best_each(count, values, met, best, at, [](float a, float b) { return a > b; });
}
inline void best_of_smallest_each(Index count, const float* values, Index met, float* best,
                                  Index* at) {
  best_each(count, values, met, best, at, [](float a, float b) { return a < b; });
}
inline void best_of_largest_one(Index count, const float* values, Index met, float* best,
                                Index* at) {
  best_one(count, values, met, best, at, [](float a, float b) { return a > b; });
}
inline void best_of_smallest_one(Index count, const float* values, Index met, float* best,
                                 Index* at) {
  best_one(count, values, met, best, at, [](float a, float b) { return a < b; });
}

// Operator version that has a row kernel. The table is generated.
struct RowKernelEntry {
  Index scratch;  // scratch per thread, in pieces of RowKernel::piece floats
  // Bit k: input (output) k is float32, if present. The last bit covers all further ones.
  std::uint64_t float_inputs, float_outputs;
  // Returns false, without side effects, if the call's types are not those of the row_kernel.
  bool (*run)(Call& call, RowKernel& row_kernel);
};
const RowKernelEntry* find_row_kernel(const Signature& signature);

}  // namespace touchstone::optimized
