// Writes comparisons as JSON. Field names are a contract, documented in docs/compare.md.
#include "conformance/compare/report.h"

#include <cmath>

#include "conformance/report/json.h"

namespace touchstone::compare {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json list(const std::vector<Distance>& distances) {
  Json rows = Json::array();
  for (const Distance& one : distances) rows.push_back(to_json(one));
  return rows;
}

Json run(const Observed& seen) {
  return {{"ran", seen.ran},
          {"verdict", seen.verdict},
          {"detail", seen.detail},
          {"note", seen.note},
          {"repeats", seen.repeats}};
}

Json vanished(const Model& model, const Vanished& gone) {
  Json nodes = Json::array();
  for (const Index index : gone.nodes) {
    const Node& node = model.graph.nodes[static_cast<std::size_t>(index)];
    nodes.push_back({{"index", index}, {"node", node.name}, {"op", node.op}});
  }
  return {{"hidden", gone.hidden},
          {"nodes", std::move(nodes)},
          {"runs", gone.found.runs},
          {"smallest", gone.found.smallest},
          {"verdict", judge::name(gone.judgement.verdict)},
          {"detail", gone.judgement.detail}};
}

Json side(const Model& model, const ComparedSide& one) {
  Json object{{"target", one.target},
              {"version", one.version},
              {"plain", run(one.plain)},
              {"tapped", run(one.tapped)},
              {"blame", report::to_json(one.blame)},
              {"moved", list(one.moved)},
              {"vanished", nullptr},
              {"not_searched", one.not_searched}};
  if (one.vanished) object["vanished"] = vanished(model, *one.vanished);
  return object;
}

}  // namespace

Json to_json(const Distance& one) {
  return {{"output", one.output},       {"elements", one.elements},
          {"different", one.different}, {"most", number(one.most)},
          {"scale", one.scale},         {"relative", number(one.relative())},
          {"where", one.where},         {"left", one.left},
          {"right", one.right},         {"unlike", one.unlike}};
}

Json to_json(const Model& model, const Compared& compared) {
  Json object{{"schema", "touchstone.compare/1"}, {"guilty", nullptr}};
  if (const auto k = compared.guilty()) {
    const conformance::Blame& blame = compared.sides[*k].blame;
    const Node& node = *blame.nodes[*blame.guilty].node;
    object["guilty"] = {{"side", *k == 0 ? "left" : "right"},
                        {"index", node.index},
                        {"node", node.name},
                        {"op", node.op}};
  }
  object["distances"] = list(compared.distances);
  object["tapped_distances"] = list(compared.tapped_distances);
  object["left"] = side(model, compared.sides[0]);
  object["right"] = side(model, compared.sides[1]);
  return object;
}

}  // namespace touchstone::compare
