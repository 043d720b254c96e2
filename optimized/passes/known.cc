// The walks, and what they agree on.
#include "optimized/passes/known.h"

#include <algorithm>

#include "reference/shape_walk.h"

namespace touchstone {

namespace {

constexpr Index most_steps = 2'000'000;  // visits of nodes, all walks together

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = (a * 0x100000001b3 + b + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// A way to choose sizes: step * (low .. low + count - 1), for each symbol another or for all the
// same; with ones for half of the symbols; or for a third of them, small ones for the others, since
// a tensor of which every size is large passes the limits.
enum class Of { each, all, ones, few };
struct Draw {
  Of of;
  Index step, low;
  std::uint64_t count;

  Index size(std::uint64_t seed, std::size_t symbol) const {
    const std::uint64_t z = mixed(seed, of == Of::all ? 0 : symbol);
    const std::uint64_t chosen = mixed(seed + 1000, symbol);
    if (of == Of::ones && chosen % 2 == 0) return 1;
    if (of == Of::few && chosen % 3 != 0)
      return step == 1 ? 2 + static_cast<Index>(z % 7) : step * (1 + static_cast<Index>(z % 2));
    return step * (low + static_cast<Index>(z % count));
  }
};
constexpr Draw draws[] = {
    {Of::all, 1, 1, 1},       {Of::all, 1, 2, 1},       {Of::each, 1, 3, 7},
    {Of::each, 1, 2, 98},     {Of::each, 1, 100, 300},  {Of::few, 1, 1000, 9000},
    {Of::few, 1, 1000, 9000}, {Of::few, 1, 1000, 9000}, {Of::all, 1, 11, 80},
    {Of::all, 1, 101, 99},    {Of::ones, 1, 2, 98},     {Of::ones, 1, 2, 98},
    {Of::ones, 1, 100, 300},  {Of::all, 64, 1, 1},      {Of::all, 64, 2, 3},
    {Of::each, 64, 1, 4},     {Of::each, 64, 1, 4},     {Of::few, 64, 17, 64},
    {Of::few, 64, 17, 64},    {Of::few, 64, 17, 64},    {Of::ones, 64, 1, 4},
    {Of::ones, 64, 1, 4},     {Of::ones, 64, 1, 4}};

bool is_sound(const Walked& walked) {
  return !walked.gave_up && std::none_of(walked.broken.begin(), walked.broken.end(),
                                         [](const Broken& broken) { return broken.surely_run; });
}

// Shapes by walk, where all have the same rank.
std::vector<Shape> agreed(const std::vector<Walked>& walks, std::size_t row) {
  std::vector<Shape> shapes;
  for (const Walked& walked : walks) {
    if (row >= walked.shapes.size() || !walked.shapes[row]) return {};
    shapes.push_back(*walked.shapes[row]);
    if (shapes.back().size() != shapes.front().size()) return {};
  }
  return shapes;
}

}  // namespace

std::optional<Index> KnownValue::rank() const {
  if (shapes.empty()) return std::nullopt;
  return shapes.front().size();
}

std::optional<Index> KnownValue::size(Index axis) const {
  if (shapes.empty() || axis < 0 || axis >= shapes.front().size()) return std::nullopt;
  const Index first = shapes.front()[axis];
  const bool same = std::all_of(shapes.begin(), shapes.end(),
                                [&](const Shape& shape) { return shape[axis] == first; });
  return same ? std::optional(first) : std::nullopt;
}

bool same_size(const KnownValue& a, Index axis_of_a, const KnownValue& b, Index axis_of_b) {
  if (a.shapes.empty() || a.shapes.size() != b.shapes.size()) return false;
  for (std::size_t k = 0; k < a.shapes.size(); ++k) {
    const Shape &x = a.shapes[k], &y = b.shapes[k];
    if (axis_of_a >= x.size() || axis_of_b >= y.size() || x[axis_of_a] != y[axis_of_b])
      return false;
  }
  return true;
}

std::unordered_map<std::string, KnownValue> known_values(const Model& model, const Limits& limits) {
  Survey survey(model, limits, most_steps);
  std::vector<Walked> walks;
  for (std::size_t k = 0; k < std::size(draws); ++k) {
    Walked walked = walk(survey, [&](std::size_t symbol) { return draws[k].size(k, symbol); });
    if (is_sound(walked)) walks.push_back(std::move(walked));
    if (survey.symbols.empty()) break;  // nothing is drawn: every walk is the same
  }
  std::unordered_map<std::string, KnownValue> all;
  for (std::size_t row = 0; row < survey.rows.size(); ++row) {
    const ShapeRow& from = survey.rows[row];
    if (from.path.empty())
      all.insert_or_assign(from.name, KnownValue{from.type, agreed(walks, row)});
  }
  return all;
}

}  // namespace touchstone
