// Taps on disk, and judgements as JSON: what `judge` reads and writes besides a model.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/blame.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "core/files.h"
#include "tools/touchstone/feeds.h"

namespace touchstone {

inline nlohmann::ordered_json to_json(const Comparison& one) {
  return {{"verdict", name(one.verdict)},
          {"utilisation", std::isfinite(one.utilisation_max) ? nlohmann::ordered_json(one.utilisation_max) : nullptr},
          {"utilisation_mean", std::isfinite(one.utilisation_mean) ? nlohmann::ordered_json(one.utilisation_mean) : nullptr},
          {"elements", one.elements},
          {"judged", one.judged},
          {"open", one.open},
          {"resolution", one.resolution_median},
          {"where", one.where},
          {"actual", one.actual},
          {"expected", one.expected},
          {"detail", one.detail}};
}

inline nlohmann::ordered_json to_json(const Blame& found) {
  nlohmann::ordered_json object{{"schema", "touchstone.blame/1"},
                                {"verdict", name(found.verdict)},
                                {"guilty", found.guilty ? nlohmann::ordered_json(*found.guilty) : nullptr},
                                {"elements", found.elements},
                                {"judged", found.judged},
                                {"resolution_median", found.resolution_median},
                                {"verdicts", nlohmann::ordered_json::object()},
                                {"nodes", nlohmann::ordered_json::array()}};
  std::map<std::string, Index> counts;
  for (const NodeBlame& one : found.nodes) {
    const std::string verdict = one.skipped.empty() ? std::string(name(one.judgement.verdict)) : "not judged";
    ++counts[verdict];
    nlohmann::ordered_json row{{"path", one.path},         {"index", one.node->index},
                               {"node", one.node->name},   {"op", one.node->op},
                               {"verdict", verdict},       {"detail", one.skipped.empty() ? describe(*one.node, one.judgement) : one.skipped},
                               {"outputs", nlohmann::ordered_json::array()}};
    for (const Comparison& output : one.judgement.outputs) row["outputs"].push_back(to_json(output));
    object["nodes"].push_back(std::move(row));
  }
  object["verdicts"] = counts;
  return object;
}

// taps.json, as `run --tap` writes it, names every node that ran, in bodies too. Without it values.json maps names of
// the main graph to files, which is all that another runtime can be made to give.
std::vector<TappedNode> read_taps(const Model& model, const std::filesystem::path& folder);

}  // namespace touchstone
