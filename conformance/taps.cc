// Reads the two index formats of a folder of taps: taps.json and values.json.
#include "conformance/taps.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"

namespace touchstone::conformance {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Types = std::map<std::string, ValueType>;

Json read_index(const fs::path& file) {
  Json index = Json::parse(open_trusted(file).read_all(Limits::trusted()), nullptr,
                           /*allow_exceptions=*/false);
  if (!index.is_object())
    throw Error(ErrorKind::file, "'" + file.string() + "' is not a JSON object");
  return index;
}

[[noreturn]] void misread(const char* key, const char* wanted) {
  throw Error(ErrorKind::file,
              "'" + std::string(key) + "' in the index of the taps is no " + wanted)
      .with_help("touchstone run MODEL --tap DIR writes such an index");
}

// Returns an optional entry, or null.
const Json* entry(const Json& object, const char* key) {
  if (!object.is_object()) misread(key, "entry of an object");
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, const char* key) {
  const Json* found = entry(object, key);
  if (found && !found->is_string()) misread(key, "text");
  return found ? found->get<std::string>() : "";
}

Index number_of(const Json& object, const char* key) {
  const Json* found = entry(object, key);
  if (found && !found->is_number_integer()) misread(key, "whole number");
  return found ? found->get<Index>() : -1;
}

const Json& list_of(const Json& object, const char* key) {
  static const Json none = Json::array();
  const Json* found = entry(object, key);
  if (found && !found->is_array()) misread(key, "list");
  return found ? *found : none;
}

void add_types(const std::vector<ValueInfo>& infos, Types& types) {
  for (const ValueInfo& info : infos) {
    if (info.type) types.emplace(info.name, *info.type);
  }
}

// Returns the graph's declared types. A .pb does not record if it holds a tensor or a container; a
// value without a declared type is read as a tensor.
Types declared_types(const Graph& graph) {
  Types types;
  add_types(graph.inputs, types);
  add_types(graph.outputs, types);
  add_types(graph.values, types);
  return types;
}

struct Named {
  std::string name;
  std::string file;  // name in the folder; empty: absent, or an initializer of the main graph
};

// Reader of one side of a node, kept until the node is judged.
struct Reader {
  const Model* model;
  fs::path folder;
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
      // Refuses an index entry that points outside the folder.
      open_beneath(folder, one.file, Limits::trusted());
      return load(folder / one.file, type == types->end() ? ValueType{} : type->second);
    }
    const Graph& graph = model->graph;
    if (const auto at = graph.initializers.find(one.name); at != graph.initializers.end())
      return at->second;
    if (const auto at = graph.sparse_initializers.find(one.name);
        at != graph.sparse_initializers.end())
      return at->second;
    throw Error(ErrorKind::file, "there is no value of '" + one.name + "' among the taps");
  }
};

TappedNode tapped(std::string path, const Node& node, std::vector<Named> inputs,
                  std::vector<Named> outputs, const Reader& reader) {
  return {std::move(path), &node, [reader, inputs = std::move(inputs)] { return reader(inputs); },
          [reader, outputs = std::move(outputs)] { return reader(outputs); }};
}

// Reads "inputs": [{"name": "x", "file": "v000001.pb"}, ...]; each file is in the folder itself.
std::vector<Named> read_side(const Json& node, const char* side) {
  std::vector<Named> values;
  for (const Json& one : list_of(node, side)) {
    const std::string file = text_of(one, "file");
    values.push_back(
        {file.empty() ? "" : text_of(one, "name"), fs::path(file).filename().string()});
  }
  return values;
}

std::vector<TappedNode> read_nodes(const Model& model, const fs::path& folder,
                                   const Reader& reader) {
  std::vector<TappedNode> taps;
  const Json all = read_index(folder / "taps.json");
  for (const Json& one : list_of(all, "nodes")) {
    const std::string path = text_of(one, "path");
    const Index index = number_of(one, "index");
    const std::vector<Node>* nodes = nodes_at(model, path);
    if (!nodes || index < 0 || index >= static_cast<Index>(nodes->size())) {
      throw Error(ErrorKind::usage, "the taps name node " + std::to_string(index) + " of '" + path +
                                        "', which the model has not")
          .with_help("the taps are of another model");
    }
    taps.push_back(tapped(path, (*nodes)[static_cast<std::size_t>(index)], read_side(one, "inputs"),
                          read_side(one, "outputs"), reader));
  }
  return taps;
}

std::vector<TappedNode> read_values(const Model& model, const fs::path& folder,
                                    const Reader& reader) {
  const Json files = read_index(folder / "values.json");
  const auto named = [&](const std::vector<std::string>& names) {
    std::vector<Named> values;
    for (const std::string& name : names) {
      const auto at = files.find(name);
      const bool there = at != files.end() && at->is_string() && !name.empty();
      values.push_back({name, there ? at->get<std::string>() : ""});
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

std::vector<TappedNode> read_taps(const Model& model, const fs::path& folder,
                                  const LoadValue& load) {
  const Reader reader{&model, folder, std::make_shared<const Types>(declared_types(model.graph)),
                      load};
  if (fs::is_regular_file(folder / "taps.json")) return read_nodes(model, folder, reader);
  if (fs::is_regular_file(folder / "values.json")) return read_values(model, folder, reader);
  throw Error(ErrorKind::file, "'" + folder.string() + "' holds neither taps.json nor values.json")
      .with_help("touchstone run MODEL --tap DIR writes both");
}

}  // namespace touchstone::conformance
