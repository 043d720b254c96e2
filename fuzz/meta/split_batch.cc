// A batch in two parts. The reference decides if a graph computes the parts apart: those of its
// outputs, joined, must be its outputs for the whole, to the bit.
#include <charconv>

#include "conformance/judge/judge.h"
#include "core/error.h"
#include "fuzz/meta/reference_runs.h"
#include "fuzz/meta/rewrites.h"
#include "fuzz/runner.h"
#include "model/model.h"
#include "reference/slices.h"

namespace touchstone::fuzz {
namespace {

struct Way {
  Index axis = 0, at = 1;
  bool all = true;  // every input whose extent along the axis is that of the first
};

Way read_way(const std::string& text) {
  Way way;
  const char* const end = text.data() + text.size();
  const auto [colon, bad] = std::from_chars(text.data(), end, way.axis);
  if (bad == std::errc() && colon != end) {
    const auto [last, worse] = std::from_chars(colon + 1, end, way.at);
    way.all = std::string(last, end) != ":first";
    if (worse == std::errc() && way.axis >= 0 && way.at > 0) return way;
  }
  throw Error(ErrorKind::usage, "'" + text + "' is not AXIS:POSITION:all");
}

[[noreturn]] void not_a_batch() { throw Error(ErrorKind::unsupported, "no batch can be split"); }

Index extent_of(const Value& value, Index axis) {
  if (!value.is_tensor() || std::ssize(value.tensor().shape()) <= axis) return -1;
  return value.tensor().shape()[static_cast<std::size_t>(axis)];
}

// Returns the names of the inputs that are split.
std::vector<std::string> split_inputs(const Case& one, const Way& way) {
  std::vector<std::string> names;
  for (const ValueInfo& input : one.model.graph.inputs) {
    const auto fed = one.feeds.front().find(input.name);
    if (fed == one.feeds.front().end()) continue;
    const Index extent = extent_of(fed->second, way.axis);
    if (names.empty() ? extent < 2
                      : extent != extent_of(one.feeds.front().at(names.front()), way.axis))
      continue;
    names.push_back(input.name);
    if (!way.all) break;
  }
  if (names.empty()) not_a_batch();
  return names;
}

void add_parts(const Feeds& whole, const std::vector<std::string>& names, const Way& way,
               std::vector<Feeds>& parts) {
  const Index extent = extent_of(whole.at(names.front()), way.axis);
  if (extent < 2) not_a_batch();
  const Index at = std::min(way.at, extent - 1);
  for (const auto& [from, length] : {std::pair{Index{0}, at}, std::pair{at, extent - at}}) {
    Feeds part = whole;
    for (const std::string& name : names) {
      if (extent_of(part.at(name), way.axis) != extent) not_a_batch();
      part[name] = cut(part.at(name).tensor(), way.axis, from, length);
    }
    parts.push_back(std::move(part));
  }
}

// Joins the outputs of each two runs, as far as they are tensors of one type that have the axis.
std::vector<Feeds> join_parts(const std::vector<Feeds>& parts, Index axis) {
  std::vector<Feeds> wholes;
  for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
    Feeds whole;
    for (const auto& [name, first] : parts[k]) {
      const auto second = parts[k + 1].find(name);
      if (second == parts[k + 1].end() || extent_of(first, axis) < 0 ||
          extent_of(second->second, axis) < 0 || first.type() != second->second.type())
        continue;
      Shape a = first.tensor().shape(), b = second->second.tensor().shape();
      if (a.size() != b.size()) continue;
      a[static_cast<std::size_t>(axis)] = b[static_cast<std::size_t>(axis)] = 0;
      if (a == b) whole[name] = joined({first.tensor(), second->second.tensor()}, axis);
    }
    wholes.push_back(std::move(whole));
  }
  return wholes;
}

}  // namespace

std::vector<std::string> ways_to_split(const Case& one) {
  std::vector<std::string> ways;
  for (const Index axis : {0, 1}) {
    for (const char* const which : {"all", "first"}) {
      try {
        for (const std::string& name : split_inputs(one, {axis, 1, std::string(which) == "all"})) {
          const Index extent = extent_of(one.feeds.front().at(name), axis);
          for (const Index at : {Index{1}, extent / 2, extent - 1})
            ways.push_back(std::to_string(axis) + ":" + std::to_string(at) + ":" + which);
          break;
        }
      } catch (const Error&) {  // no input has that axis
      }
    }
  }
  return ways;
}

void split_batch(Variant& variant, const std::string& how) {
  const Way way = read_way(how);
  const Case whole = variant.is;
  const std::vector<std::string> names = split_inputs(whole, way);
  Graph& graph = variant.is.model.graph;
  for (ValueInfo& input : graph.inputs) {
    const bool is_split = std::find(names.begin(), names.end(), input.name) != names.end();
    if (is_split && input.shape) (*input.shape)[static_cast<std::size_t>(way.axis)] = {};
  }
  graph.values.clear();
  for (ValueInfo& output : graph.outputs) output.shape.reset();
  require_accepted(variant.is.model);
  variant.is.feeds.clear();
  for (const Feeds& feeds : whole.feeds) add_parts(feeds, names, way, variant.is.feeds);
  variant.back = [axis = way.axis](const std::vector<Feeds>& parts) {
    return join_parts(parts, axis);
  };
  const std::vector<Feeds> expected = reference_runs(whole);
  const std::vector<Feeds> made = variant.back(reference_runs(variant.is));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (!first_other_output(whole, expected[k], made[k], judge::ZeroSign::compared).empty())
      not_a_batch();
  }
}

}  // namespace touchstone::fuzz
