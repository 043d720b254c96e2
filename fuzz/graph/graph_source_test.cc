// Property tests of the graph level's source.
#include "fuzz/graph/graph_source.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

const GraphSource& source() {
  static const GraphSource one;
  return one;
}

// Returns the reason why the checker or the reference refuses the case; "" if both accept it.
std::string why_invalid(const Case& made) {
  try {
    Model model = made.model;
    require_valid(model, Limits::trusted());
    for (const Feeds& feeds : made.feeds) run(model, feeds);
    return "";
  } catch (const Error& error) {
    return error.message + " " + error.place;
  }
}

TEST(GraphSource, CasesAreValidAtAllSizes) {
  constexpr std::uint64_t count = 150;
  Index valid = 0, nodes = 0, runs = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    try {
      const Case made = source().make(number);
      const std::string why = why_invalid(made);
      EXPECT_EQ(why, "") << number;
      valid += why.empty() ? 1 : 0;
      nodes += static_cast<Index>(made.model.graph.nodes.size());
      runs += static_cast<Index>(made.feeds.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::unsupported) << number << ": " << error.message;
    }
  }
  EXPECT_GE(valid * 100, static_cast<Index>(count) * 98);
  EXPECT_GE(nodes, 8 * valid);
  EXPECT_GE(runs, 2 * valid);
}

std::string bytes_of(const Case& made) {
  std::string bytes = made.text;
  for (const Feeds& feeds : made.feeds) {
    for (const auto& [name, value] : feeds) bytes += name + serialize_value(value);
  }
  for (const auto& [name, tensor] : made.model.graph.initializers)
    bytes += name + serialize_value(tensor);
  for (const Node& node : made.model.graph.nodes) {
    bytes += node.op;
    for (const std::string& name : node.inputs) bytes += name + ",";
    for (const std::string& name : node.outputs) bytes += name + ";";
  }
  for (const std::string& mark : made.covered) bytes += mark;
  return bytes;
}

TEST(GraphSource, ANumberGivesOneCase) {
  const GraphSource other;
  for (const std::uint64_t number : {1U, 7U, 23U, 1000003U}) {
    const std::string bytes = bytes_of(source().make(number));
    EXPECT_EQ(bytes, bytes_of(other.make(number)));
    EXPECT_NE(bytes, bytes_of(source().make(number + 1)));
  }
}

}  // namespace
}  // namespace touchstone::fuzz
