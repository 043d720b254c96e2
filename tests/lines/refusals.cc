// Lists the features of a line (sizes, types, outputs, attributes) that a mutant of refusals.h may
// fail to support.
#include "tests/lines/refusals.h"

#include <fmt/format.h>

#include <algorithm>

namespace touchstone {
namespace {

void add_sizes(std::size_t k, const suites::LinePort& port, std::vector<std::string>& all) {
  const Shape& shape = port.value.tensor().shape();
  all.push_back(fmt::format("no x{} of rank {}", k, shape.size()));
  if (std::ranges::count(shape, 0)) all.push_back(fmt::format("no x{} without elements", k));
  if (std::ranges::count(shape, 1)) all.push_back(fmt::format("no x{} with an extent of 1", k));
  const auto unknown = [](const Dim& dim) { return !dim.size && dim.symbol.empty(); };
  const auto named = [](const Dim& dim) { return !dim.symbol.empty(); };
  const char* sizes = std::ranges::any_of(port.dims, unknown) ? "unknown"
                      : std::ranges::any_of(port.dims, named) ? "named"
                                                              : "known";
  all.push_back(fmt::format("no x{} of {} sizes", k, sizes));
  all.push_back(fmt::format("no x{} that the model {}", k, port.held ? "holds" : "is given"));
}

}  // namespace

std::vector<std::string> refusals_of(const suites::Line& line, const Node& node) {
  std::vector<std::string> all;
  for (std::size_t k = 0; k < line.inputs.size(); ++k) {
    const suites::LinePort& port = line.inputs[k];
    if (port.value.is_tensor()) add_sizes(k, port, all);
    if (const auto* sequence = std::get_if<Sequence>(&port.value.is))
      all.push_back(fmt::format("no x{} of {} items", k, sequence->items.size()));
    if (port.value.absent()) all.push_back(fmt::format("never without x{}", k));
  }
  all.push_back(fmt::format("not with {} inputs", line.inputs.size()));
  std::string asked;
  for (const std::string& name : node.outputs) asked += name.empty() ? '_' : 'x';
  all.push_back(fmt::format("not for outputs {}", asked));
  for (const auto& [name, attribute] : line.attributes)
    all.push_back(fmt::format("not with {} said", name));
  return all;
}

}  // namespace touchstone
