// Makes mutants of lines. An edited line that does not parse is no mutant.
#include <array>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "tests/mutation/subject.h"

namespace touchstone::mutation {
namespace {

constexpr int max_attempts = 40;

// Appends nodes that read the output of the line's node, hides that output from the graph's
// outputs, or both: a plan may fuse them.
void extend(Subject& subject, Random& random) {
  Graph& graph = subject.model.graph;
  ValueInfo output = graph.outputs.front();
  if (output.type != tensor_type(Type::float32)) return;
  subject.model.opsets.try_emplace("", 21);
  static const std::array<std::string, 6> readers{"Relu",    "Neg",      "Abs",
                                                  "Sigmoid", "Identity", "Transpose"};
  const bool shows_both = random.one_in(3);
  for (Index k = 1 + random.below(3); k > 0; --k) {
    Node node;
    node.op = random.pick(readers);
    node.index = static_cast<Index>(graph.nodes.size());
    node.inputs = {output.name};
    output.name = "tail_" + std::to_string(node.index);
    node.outputs = {output.name};
    subject.what += " then " + node.op;
    graph.nodes.push_back(std::move(node));
  }
  output.shape.reset();
  shows_both ? graph.outputs.push_back(output) : void(graph.outputs.front() = output);
}

}  // namespace

LineSource::LineSource(const std::filesystem::path& folder)
    : by_operator_(fuzz::lines_by_operator(folder)) {
  for (const auto& [name, lines] : by_operator_) operators_.push_back(name);
}

Subject LineSource::make(Index number) const {
  Random random(static_cast<std::uint64_t>(number) * 2);
  const std::vector<std::string>& same = by_operator_.at(random.pick(operators_));
  for (int k = 0; k < max_attempts; ++k) {
    const std::string& line = random.pick(same);
    const std::string made = mutated(line, same, random);
    if (made == line) continue;
    try {
      suites::LineModel held = suites::model_of(suites::parse_line(made));
      Subject subject{std::move(held.model), {}, made};
      for (std::size_t n = 0; n < held.feeds.size(); ++n)
        subject.feeds.emplace(subject.model.graph.inputs[n].name, held.feeds[n]);
      if (random.one_in(2)) extend(subject, random);
      return subject;
    } catch (const Error&) {  // it does not parse
    }
  }
  throw Error(ErrorKind::unsupported, "no line of " + same.front() + " was found");
}

}  // namespace touchstone::mutation
