// JSON objects of subcommands about a model: show, check, optimize, convert.
#include "tools/touchstone/reports.h"

#include "model/model.h"

namespace touchstone::command {

using Json = nlohmann::ordered_json;

namespace {

std::string version_of(const Node& node) {
  const std::string domain = node.domain.empty() ? "" : node.domain + ".";
  if (node.signature == nullptr) return domain + node.op + " (function)";
  return domain + node.op + "-" + std::to_string(node.signature->since);
}

template <class Visit>
void for_each_node(const Graph& graph, const Visit& visit) {
  // A worklist instead of recursion, whose depth the model would determine.
  std::vector<const Graph*> open{&graph};
  while (!open.empty()) {
    const Graph* here = open.back();
    open.pop_back();
    for (const Node& node : here->nodes) {
      visit(node, here == &graph);
      for (const auto& [name, attribute] : node.attributes) {
        if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.is))
          open.push_back(one->get());
        if (const auto* many =
                std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.is)) {
          for (const auto& each : *many) open.push_back(each.get());
        }
      }
    }
  }
}

Json value_json(const ValueInfo& value) {
  Json out{{"name", value.name}, {"type", value.type ? text(*value.type) : ""}, {"shape", nullptr}};
  if (value.shape) {
    out["shape"] = Json::array();
    for (const Dim& dim : *value.shape) {
      if (dim.size) {
        out["shape"].push_back(*dim.size);
      } else {
        out["shape"].push_back(dim.symbol);
      }
    }
  }
  return out;
}

Json properties_of(const SharedMetadata& metadata) {
  Json all = Json::array();
  if (!metadata) return all;
  for (const auto& [key, value] : metadata->properties)
    all.push_back({{"key", key}, {"value", value}});
  return all;
}

std::string doc_string_of(const SharedMetadata& metadata) {
  return metadata ? metadata->doc_string : "";
}

Json row_of(const transform::ConvertedNodes& step) {
  return {{"domain", shown_domain(step.domain)},
          {"op", step.op},
          {"from", step.from},
          {"to", step.to == 0 ? Json(nullptr) : Json(step.to)},
          {"how", step.rewritten ? "rewritten" : "carried"},
          {"nodes", step.nodes}};
}

}  // namespace

std::string shown_domain(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

Json sizes_of(const Model& model) {
  return {{"nodes", model.graph.nodes.size()},
          {"initializers", model.graph.initializers.size()},
          {"functions", model.functions.size()}};
}

Json opsets_of(const Model& model) {
  Json all = Json::object();
  for (const auto& [domain, opset] : model.opsets) all[shown_domain(domain)] = opset;
  return {{"ir", model.ir_version}, {"opsets", all}, {"nodes", model.graph.nodes.size()}};
}

Json show_report(const std::string& file, const Model& model) {
  Json out{{"schema", "touchstone.show/1"},
           {"model", file},
           {"ir_version", model.ir_version},
           {"producer", model.producer},
           {"producer_version", model.producer_version},
           {"domain", model.domain},
           {"model_version", model.model_version ? Json(*model.model_version) : Json(nullptr)},
           {"doc_string", doc_string_of(model.metadata)},
           {"metadata_props", properties_of(model.metadata)},
           {"graph", model.graph.name},
           {"graph_doc_string", doc_string_of(model.graph.metadata)},
           {"graph_metadata_props", properties_of(model.graph.metadata)},
           {"not_read", model.unkept}};
  for (const auto& [domain, version] : model.opsets)
    out["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  out["inputs"] = Json::array();
  out["outputs"] = Json::array();
  for (const ValueInfo& input : model.graph.inputs) {
    if (!model.graph.initializers.contains(input.name)) out["inputs"].push_back(value_json(input));
  }
  for (const ValueInfo& output : model.graph.outputs) out["outputs"].push_back(value_json(output));
  Index parameters = 0;
  for (const auto& [name, tensor] : model.graph.initializers) parameters += tensor.size();
  out["initializers"] = model.graph.initializers.size();
  out["parameters"] = parameters;
  out["functions"] = model.functions.size();
  std::map<std::string, Index> counts;
  Index total = 0;
  out["nodes"] = Json::array();
  for_each_node(model.graph, [&](const Node& node, bool main) {
    ++total;
    ++counts[version_of(node)];
    if (main) {
      out["nodes"].push_back({{"index", node.index},
                              {"name", node.name},
                              {"version", version_of(node)},
                              {"inputs", node.inputs},
                              {"outputs", node.outputs}});
    }
  });
  out["node_count"] = total;
  out["operators"] = counts;
  return out;
}

void add_shapes(const InferredShapes& found, Json& all) {
  all["shapes"] = Json::array();
  for (const InferredValue& value : found.values) {
    Json row{{"path", value.path},
             {"name", value.name},
             {"node", nullptr},
             {"type", value.type ? text(*value.type) : ""},
             {"shape", nullptr}};
    if (value.node) row["node"] = value.node->index;
    if (value.shape) {
      row["shape"] = Json::array();
      for (const InferredSize& size : *value.shape)
        row["shape"].push_back(size.number ? Json(*size.number) : Json(size.text));
    }
    all["shapes"].push_back(std::move(row));
  }
  all["shape_notes"] = found.notes;
}

std::vector<Error> breaches_of(const std::function<Model()>& load, const Limits& limits) {
  try {
    Model model = load();
    resolve(model);
    std::vector<Error> breaches = check(model, limits);
    return breaches.empty() ? infer_shapes(model, limits).breaches : breaches;
  } catch (const Error& error) {
    if (error.kind != ErrorKind::invalid_model) throw;
    return {error};  // a model that cannot be loaded has this single violation
  }
}

Json check_report(const std::string& file, const std::vector<Error>& breaches) {
  Json list = Json::array();
  for (const Error& breach : breaches) {
    list.push_back({{"rule", breach.rule},
                    {"message", breach.message},
                    {"place", breach.place},
                    {"rule_text", breach.rule_text},
                    {"spec", breach.spec_line},
                    {"help", breach.help}});
  }
  return {{"schema", "touchstone.check/1"},
          {"model", file},
          {"valid", breaches.empty()},
          {"breaches", list}};
}

Json optimize_report(const ModelFiles& files, const std::string& level, const Json& before,
                     const transform::Optimized& made,
                     const std::optional<transform::DeclaredSizes>& declared) {
  Json all{{"schema", "touchstone.optimize/1"},
           {"model", files.model},
           {"out", files.out},
           {"level", level},
           {"before", before},
           {"after", sizes_of(made.model)},
           {"dropped", made.model.unkept},
           {"changes", Json::array()}};
  for (const transform::PassCount& count : made.counts) {
    all["changes"].push_back(
        {{"pass", count.pass}, {"pattern", count.pattern}, {"changes", count.changes}});
  }
  if (declared)
    all["declared"] = {{"values", declared->values},
                       {"numbers", declared->numbers},
                       {"expressions", declared->expressions},
                       {"unknown", declared->unknown}};
  return all;
}

Json convert_report(const ModelFiles& files, const Json& before, const transform::Converted& made) {
  Json all{{"schema", "touchstone.convert/1"},
           {"model", files.model},
           {"out", files.out.empty() ? Json(nullptr) : Json(files.out)},
           {"before", before},
           {"after", opsets_of(made.model)},
           {"dropped", files.out.empty() ? Json::array() : Json(made.model.unkept)},
           {"steps", Json::array()}};
  for (const transform::ConvertedNodes& step : made.steps) all["steps"].push_back(row_of(step));
  return all;
}

}  // namespace touchstone::command
