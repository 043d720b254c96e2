// Writes judgements as JSON: of single nodes, and of all nodes of a model.
#include <cmath>

#include "conformance/report/json.h"
#include "conformance/single_node.h"

namespace touchstone::report {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const conformance::NodeBlame& one, const std::string& verdict) {
  Json row{{"path", one.path},
           {"index", one.node->index},
           {"node", one.node->name},
           {"op", one.node->op},
           {"verdict", verdict},
           {"sampled", one.judgement.sampled},
           {"detail",
            one.skipped.empty() ? conformance::describe(*one.node, one.judgement) : one.skipped},
           {"outputs", Json::array()}};
  for (const judge::Comparison& output : one.judgement.outputs)
    row["outputs"].push_back(touchstone::report::to_json(output));
  return row;
}

}  // namespace

Json to_json(const judge::Comparison& one) {
  return {{"verdict", judge::name(one.verdict)},
          {"utilisation", number_or_null(one.utilisation_max)},
          {"utilisation_mean", number_or_null(one.utilisation_mean)},
          {"elements", one.elements},
          {"judged", one.judged},
          {"open", one.open},
          {"aggregate", one.aggregate > 0 ? number_or_null(one.aggregate) : Json(nullptr)},
          {"resolution", number_or_null(one.resolution_median)},
          {"where", one.where},
          {"actual", one.actual},
          {"expected", one.expected},
          {"detail", one.detail}};
}

Json to_json(const conformance::Blame& found) {
  Json object{{"schema", "touchstone.blame/1"},
              {"verdict", judge::name(found.verdict)},
              {"guilty", found.guilty ? Json(*found.guilty) : Json(nullptr)},
              {"elements", found.elements},
              {"judged", found.judged},
              {"resolution_median", number_or_null(found.resolution_median)}};
  std::map<std::string, Index> counts;
  Json nodes = Json::array();
  for (const conformance::NodeBlame& one : found.nodes) {
    const std::string verdict =
        one.skipped.empty() ? std::string(judge::name(one.judgement.verdict)) : "not-judged";
    ++counts[verdict];
    nodes.push_back(to_json(one, verdict));
  }
  object["verdicts"] = counts;
  object["nodes"] = std::move(nodes);
  return object;
}

}  // namespace touchstone::report
