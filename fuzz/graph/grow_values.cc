// New inputs and initializers, with extents that are fixed or differ between the runs.
#include <algorithm>
#include <array>

#include "conformance/suites/line_data.h"
#include "fuzz/graph/graph_grower.h"

namespace touchstone::fuzz {
namespace {

bool all_equal(const std::vector<Index>& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [&](Index one) { return one == sizes.front(); });
}

Shape shape_in_run(const std::vector<std::vector<Index>>& dims, std::size_t run) {
  Shape shape;
  for (const std::vector<Index>& dim : dims) shape.push_back(dim[run]);
  return shape;
}

}  // namespace

GraphGrower::SizesByRun GraphGrower::draw_size(Index low, Index high, bool dynamic) {
  constexpr std::array<Index, 16> lengths{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33};
  const auto draw = [&]() -> Index {
    if (high < lengths.back()) return low + random_.below(high - low + 1);
    return std::max(low, lengths[static_cast<std::size_t>(random_.below(lengths.size()))]);
  };
  if (!dynamic || !dynamic_) return SizesByRun(builder_.runs(), draw());
  for (const SizesByRun& symbol : symbols_) {
    const auto [least, most] = std::minmax_element(symbol.begin(), symbol.end());
    if (*least >= low && *most <= high && !random_.one_in(4)) return symbol;
  }
  SizesByRun made;
  for (std::size_t run = 0; run < builder_.runs(); ++run) made.push_back(draw());
  if (all_equal(made) && low < high) made.back() = made.back() < high ? made.back() + 1 : low;
  if (symbols_.size() < 3) symbols_.push_back(made);
  return made;
}

std::vector<Dim> GraphGrower::declare(const std::vector<Value>& by_run) {
  std::vector<Dim> dims;
  const Index rank = by_run.front().tensor().shape().size();
  for (Index axis = 0; axis < rank; ++axis) {
    SizesByRun sizes;
    for (const Value& one : by_run) sizes.push_back(one.tensor().shape()[axis]);
    Dim dim;
    if (all_equal(sizes) && !(dynamic_ && random_.one_in(8))) {
      dim.size = sizes.front();
    } else if (!random_.one_in(10)) {
      const std::string name = "s" + std::to_string(symbol_names_.size());
      dim.symbol = symbol_names_.emplace(sizes, name).first->second;
    }
    dims.push_back(dim);
  }
  return dims;
}

ValueId GraphGrower::new_input(Type type, const std::vector<SizesByRun>& dims,
                               const std::string& regime) {
  std::vector<Value> by_run;
  for (std::size_t run = 0; run < builder_.runs(); ++run) {
    Tensor tensor(type, shape_in_run(dims, run));
    suites::fill(tensor, regime, random_.bits());
    by_run.push_back(std::move(tensor));
  }
  std::optional<std::vector<Dim>> declared = declare(by_run);
  if (dynamic_ && random_.one_in(24)) declared.reset();
  return builder_.add_input(std::move(by_run), std::move(declared));
}

ValueId GraphGrower::new_tensor(Type type, const std::vector<SizesByRun>& dims,
                                const std::string& regime) {
  const bool fixed = std::all_of(dims.begin(), dims.end(), all_equal);
  const bool in_body = builder_.depth() > 1;
  if (!in_body && (!fixed || !random_.one_in(4))) return new_input(type, dims, regime);
  if (!fixed) refuse("a body holds no value whose extents differ between runs");
  Tensor tensor(type, shape_in_run(dims, 0));
  suites::fill(tensor, regime, random_.bits());
  return builder_.add_initializer(std::move(tensor));
}

}  // namespace touchstone::fuzz
