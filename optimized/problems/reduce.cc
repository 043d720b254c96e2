// Assigns dimensions to the roles of a reduction kernel: the innermost kept one is `inner` if its
// stride is smaller than that of the reduced dimension, else `outer`.
#include "optimized/problems/reduce.h"

#include <memory>

#include "core/error.h"
#include "optimized/problems/collapse.h"
#include "reference/lists.h"

namespace touchstone::optimized {

namespace {

struct Along {
  Index extent = 1;
  std::vector<Index> strides;  // one per input, then the output's
};

Along axis(const Collapsed& walk, Index k) {
  Along made;
  if (k >= 0) made.extent = walk.extents[k];
  for (const IndexVector& s : walk.strides) made.strides.push_back(k < 0 ? 0 : s[k]);
  return made;
}

// Makes a dense copy of the elements that the operand reads, with the reduced dimensions innermost.
std::unique_ptr<float[]> gather(Operand& from, const Shape& kept, const Shape& reduced) {
  const Shape all = join(kept, reduced);
  auto copy = std::make_unique<float[]>(static_cast<std::size_t>(count(all)));
  const Collapsed walk = collapse(all, {from.strides});
  float* to = copy.get();
  const Index inner = walk.extents.empty() ? 1 : walk.extents.back();
  const Index step = walk.extents.empty() ? 0 : walk.strides[0].back();
  each_outer(walk, std::max<Index>(walk.extents.size() - 1, 0),
             [&](const std::vector<Index>& offsets) {
               for (Index k = 0; k < inner; ++k) *to++ = from.data[offsets[0] + k * step];
             });
  from = {copy.get(), dense_strides(all)};
  return copy;
}

void check_reach(const ReduceProblem& problem) {
  for (const Placed<3>& input : problem.inputs) {
    Index reach = 0;
    for (std::size_t k = 0; k < 3; ++k)
      reach += std::abs(input.strides[k]) * (problem.extents[k] - 1);
    if (reach > farthest)
      throw Error(ErrorKind::unsupported,
                  "a reduction over more than 2^31 elements is too long for the fast kernels");
  }
}

}  // namespace

void reduce_problems(const Shape& kept, const Shape& reduced, std::vector<Operand> inputs,
                     float* output, const std::function<void(const ReduceProblem&)>& solve) {
  if (count(kept) == 0) return;
  const bool nothing = count(reduced) == 0;
  std::vector<IndexVector> outside, inside;
  const auto split = [&] {
    outside.clear(), inside.clear();
    for (const Operand& input : inputs) {
      outside.push_back(head(input.strides, kept.size()));
      inside.push_back(tail(input.strides, kept.size()));
    }
    outside.push_back(dense_strides(kept));
    inside.push_back(IndexVector(reduced.size(), 0));
  };
  split();
  Collapsed over = nothing ? Collapsed{Shape{}, inside} : collapse(reduced, inside);
  std::vector<std::unique_ptr<float[]>> copies;
  if (over.extents.size() > 1) {
    for (Operand& input : inputs) copies.push_back(gather(input, kept, reduced));
    split();
    over = collapse(reduced, inside);
  }
  const Collapsed walk = collapse(kept, outside);
  Along along = axis(over, over.extents.size() - 1), inner = axis(walk, walk.extents.size() - 1),
        outer = axis(walk, -1);
  if (nothing) along.extent = 0;
  Index left = std::max<Index>(walk.extents.size() - 1, 0);
  if (along.extent > 1 && std::abs(inner.strides[0]) > std::abs(along.strides[0])) {
    std::swap(inner, outer);
  } else if (walk.extents.size() > 1) {
    outer = axis(walk, --left);
  }
  ReduceProblem problem;
  problem.by_rows = inner.extent == 1;
  problem.inputs.resize(inputs.size());
  problem.extents = {inner.extent, along.extent, outer.extent};
  for (std::size_t o = 0; o < inputs.size(); ++o) {
    problem.inputs[o].strides = {inner.strides[o], along.strides[o], outer.strides[o]};
  }
  problem.output_strides = {inner.extent == 1 ? 1 : inner.strides.back(), 0, outer.strides.back()};
  check_reach(problem);
  each_outer(walk, left, [&](const std::vector<Index>& offsets) {
    for (std::size_t o = 0; o < inputs.size(); ++o)
      problem.inputs[o].data = inputs[o].data + offsets[o];
    problem.output = output + offsets.back();
    solve(problem);
  });
}

}  // namespace touchstone::optimized
