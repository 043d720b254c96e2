// Counts the classes of kernels that lines of the spec suite run on: a JSON object on stdout,
// {"Clip-13": {"float": {"tuned": 12}}}. Lines come from stdin. A line that a rule refuses, or that
// has an empty tensor, does not count.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "core/json.h"
#include "model/model.h"
#include "model/place.h"
#include "optimized/session.h"

namespace touchstone {
namespace {

// Grades from fast to slow: a node that passes split counts by its slowest part.
constexpr optimized::KernelGrade order[] = {
    optimized::KernelGrade::folded, optimized::KernelGrade::view, optimized::KernelGrade::tuned,
    optimized::KernelGrade::generic, optimized::KernelGrade::reference};

optimized::KernelGrade slowest(const std::vector<optimized::NodePlacement>& rows) {
  const auto rank = [](optimized::KernelGrade grade) {
    return std::find(std::begin(order), std::end(order), grade);
  };
  optimized::KernelGrade found = optimized::KernelGrade::folded;
  for (const optimized::NodePlacement& row : rows) {
    if (rank(row.grade) > rank(found)) found = row.grade;
  }
  return found;
}

bool is_empty(const Value& value) { return value.is_tensor() && value.tensor().size() == 0; }

// Element type of the first tensor that the line feeds or holds, else of the first output.
std::string type_of(const suites::Line& line, const std::map<std::string, Value>& outputs,
                    const std::string& first) {
  for (const suites::LinePort& port : line.inputs) {
    if (port.value.is_tensor()) return std::string(name(port.value.tensor().type()));
    if (!port.value.absent()) return "other";
  }
  const auto made = outputs.find(first);
  const bool is_tensor = made != outputs.end() && made->second.is_tensor();
  return is_tensor ? std::string(name(made->second.tensor().type())) : "other";
}

void count_line(const std::string& text, nlohmann::ordered_json& counts) {
  const suites::Line line = suites::parse_line(text);
  if (!line.refused.empty()) return;
  const auto ports_are_empty = [](const suites::LinePort& port) { return is_empty(port.value); };
  if (std::any_of(line.inputs.begin(), line.inputs.end(), ports_are_empty)) return;
  suites::LineModel made = suites::model_of(line);
  require_valid(made.model, Limits::trusted());
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < made.feeds.size(); ++k)
    feeds.emplace(made.model.graph.inputs.at(k).name, made.feeds[k]);
  const std::string first = made.model.graph.outputs.front().name;
  optimized::Session session(std::move(made.model), {.threads = 1});
  const std::map<std::string, Value> outputs = session.run(std::move(feeds));
  for (const auto& [name, value] : outputs) {
    if (is_empty(value)) return;
  }
  const std::string version = operator_name(line.signature->domain, line.signature->op) + "-" +
                              std::to_string(line.signature->since);
  auto& count =
      counts[version][type_of(line, outputs, first)][std::string(name(slowest(session.kernels())))];
  count = count.is_null() ? 1 : count.get<int>() + 1;
}

int main_of_lines() {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (std::string line; std::getline(std::cin, line);) {
    try {
      count_line(line, counts);
    } catch (const Error& error) {
      fmt::print(stderr, "{}: {}\n", line, error.message);
      return 1;
    }
  }
  fmt::print("{}\n", counts.dump(1));
  return 0;
}

}  // namespace
}  // namespace touchstone

int main() { return touchstone::main_of_lines(); }
