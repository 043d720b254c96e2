// Reads the two kinds of index that a folder of taps may have.
#include "conformance/taps.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Types = std::map<std::string, ValueType>;

Json read_index(const fs::path& file) {
  Json index = Json::parse(open_trusted(file).read_all(Limits::trusted()), nullptr, /*allow_exceptions=*/false);
  if (!index.is_object()) throw Error(ErrorKind::file, "'" + file.string() + "' is not a JSON object");
  return index;
}

void add_types(const std::vector<ValueInfo>& infos, Types& types) {
  for (const ValueInfo& info : infos) {
    if (info.type) types.emplace(info.name, *info.type);
  }
}

// A .pb does not say whether it holds a tensor or a container; where the graph does not either, it is a tensor.
Types declared_types(const Graph& graph) {
  Types types;
  add_types(graph.inputs, types);
  add_types(graph.outputs, types);
  add_types(graph.values, types);
  return types;
}

struct Named {
  std::string name;
  fs::path file;  // empty: absent, or an initializer of the main graph
};

// What reading one side of a node needs, kept until its turn comes.
struct Reader {
  const Model* model;
  std::shared_ptr<const Types> types;
  LoadValue load;

  std::vector<Value> operator()(const std::vector<Named>& wanted) const {
    std::vector<Value> values;
    for (const Named& one : wanted) values.push_back(value(one));
    return values;
  }

  Value value(const Named& one) const {
    if (one.name.empty()) return {};
    if (!one.file.empty()) {
      const auto type = types->find(one.name);
      return load(one.file, type == types->end() ? ValueType{} : type->second);
    }
    const Graph& graph = model->graph;
    if (const auto at = graph.initializers.find(one.name); at != graph.initializers.end()) return at->second;
    if (const auto at = graph.sparse_initializers.find(one.name); at != graph.sparse_initializers.end()) return at->second;
    throw Error(ErrorKind::file, "there is no value of '" + one.name + "' among the taps");
  }
};

TappedNode tapped(std::string path, const Node& node, std::vector<Named> inputs, std::vector<Named> outputs,
                  const Reader& reader) {
  return {std::move(path), &node, [reader, inputs = std::move(inputs)] { return reader(inputs); },
          [reader, outputs = std::move(outputs)] { return reader(outputs); }};
}

// "inputs": [{"name": "x", "file": "v000001.pb"}, ...]; a file stands in the folder itself.
std::vector<Named> read_side(const Json& node, const char* side, const fs::path& folder) {
  std::vector<Named> values;
  for (const Json& one : node.value(side, Json::array())) {
    const std::string file = one.value("file", "");
    values.push_back({file.empty() ? "" : one.value("name", ""), file.empty() ? fs::path() : folder / fs::path(file).filename()});
  }
  return values;
}

std::vector<TappedNode> read_nodes(const Model& model, const fs::path& folder, const Reader& reader) {
  std::vector<TappedNode> taps;
  for (const Json& one : read_index(folder / "taps.json").value("nodes", Json::array())) {
    const std::string path = one.value("path", "");
    const Index index = one.value("index", Index{-1});
    const std::vector<Node>* nodes = nodes_at(model, path);
    if (!nodes || index < 0 || index >= static_cast<Index>(nodes->size())) {
      throw Error(ErrorKind::usage, "the taps name node " + std::to_string(index) + " of '" + path + "', which the model has not")
          .with_help("the taps are of another model");
    }
    taps.push_back(tapped(path, (*nodes)[static_cast<std::size_t>(index)], read_side(one, "inputs", folder),
                          read_side(one, "outputs", folder), reader));
  }
  return taps;
}

std::vector<TappedNode> read_values(const Model& model, const fs::path& folder, const Reader& reader) {
  const Json files = read_index(folder / "values.json");
  const auto named = [&](const std::vector<std::string>& names) {
    std::vector<Named> values;
    for (const std::string& name : names) {
      const auto at = files.find(name);
      const bool there = at != files.end() && at->is_string() && !name.empty();
      values.push_back({name, there ? folder / at->get<std::string>() : fs::path()});
    }
    return values;
  };
  std::vector<TappedNode> taps;
  for (const Node& node : model.graph.nodes) {
    taps.push_back(tapped("", node, named(node.inputs), named(node.outputs), reader));
  }
  return taps;
}

}  // namespace

std::vector<TappedNode> read_taps(const Model& model, const fs::path& folder, const LoadValue& load) {
  const Reader reader{&model, std::make_shared<const Types>(declared_types(model.graph)), load};
  if (fs::is_regular_file(folder / "taps.json")) return read_nodes(model, folder, reader);
  if (fs::is_regular_file(folder / "values.json")) return read_values(model, folder, reader);
  throw Error(ErrorKind::file, "'" + folder.string() + "' holds neither taps.json nor values.json")
      .with_help("touchstone run MODEL --tap DIR writes both");
}

}  // namespace touchstone
