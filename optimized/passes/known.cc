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
constexpr Draw ways_to_draw[] = {
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

const Shape* shape_in(const Walked& walked, std::size_t row) {
  return row < walked.shapes.size() && walked.shapes[row] ? &*walked.shapes[row] : nullptr;
}

// A rank hardly ever hangs on sizes: walks on which a rule breaks tell it, too.
std::optional<Index> agreed_rank(const std::vector<Walked>& walks, std::size_t row) {
  std::optional<Index> rank;
  for (const Walked& walked : walks) {
    const Shape* shape = shape_in(walked, row);
    if (shape == nullptr) continue;
    if (rank && *rank != shape->size()) return std::nullopt;
    rank = shape->size();
  }
  return rank;
}

// By walk, of those on which no rule breaks.
std::vector<std::optional<Shape>> sound_shapes(const std::vector<Walked>& walks, std::size_t row) {
  std::vector<std::optional<Shape>> shapes;
  for (const Walked& walked : walks) {
    if (!is_sound(walked)) continue;
    const Shape* shape = shape_in(walked, row);
    shapes.push_back(shape ? std::optional(*shape) : std::nullopt);
  }
  return shapes;
}

// Where a shape passes the limits, or hangs on values, a walk says nothing of it.
bool are_most(Index said, std::size_t walks) {
  return said > 0 && 2 * said >= static_cast<Index>(walks);
}

}  // namespace

std::optional<Index> KnownValue::size(Index axis) const {
  if (!rank || axis < 0 || axis >= *rank) return std::nullopt;
  std::optional<Index> first;
  Index said = 0;
  for (const std::optional<Shape>& shape : shapes) {
    if (!shape) continue;
    ++said;
    if (first && *first != (*shape)[axis]) return std::nullopt;
    first = (*shape)[axis];
  }
  return are_most(said, shapes.size()) ? first : std::nullopt;
}

bool same_size(const KnownValue& a, Index axis_of_a, const KnownValue& b, Index axis_of_b) {
  if (!a.rank || !b.rank || axis_of_a >= *a.rank || axis_of_b >= *b.rank) return false;
  if (a.shapes.size() != b.shapes.size()) return false;
  Index said = 0;
  for (std::size_t k = 0; k < a.shapes.size(); ++k) {
    if (!a.shapes[k] || !b.shapes[k]) continue;
    ++said;
    if ((*a.shapes[k])[axis_of_a] != (*b.shapes[k])[axis_of_b]) return false;
  }
  return are_most(said, a.shapes.size());
}

std::unordered_map<std::string, KnownValue> known_values(const Model& model, const Limits& limits) {
  Survey survey(model, limits, most_steps);
  std::vector<Walked> walks;
  for (std::size_t k = 0; k < std::size(ways_to_draw); ++k) {
    Walked walked = walk(survey, [&](std::size_t symbol) { return ways_to_draw[k].size(k, symbol); });
    walks.push_back(std::move(walked));
    if (survey.symbols.empty()) break;  // nothing is drawn: every walk is the same
  }
  std::unordered_map<std::string, KnownValue> all;
  for (std::size_t row = 0; row < survey.rows.size(); ++row) {
    const ShapeRow& from = survey.rows[row];
    if (from.path.empty())
      all.insert_or_assign(
          from.name, KnownValue{from.type, agreed_rank(walks, row), sound_shapes(walks, row)});
  }
  return all;
}

}  // namespace touchstone
