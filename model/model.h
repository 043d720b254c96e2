// From bytes to a model that is fit to run: load (protobuf, external data), resolve (opsets,
// functions), check.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// Each throws Error with place, rule and help. Nothing of the model is trusted.
Model load_model(const std::filesystem::path& file, const Limits& limits);
Model parse_model(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                  const Limits& limits);
void save_model(const Model& model, const std::filesystem::path& file);

Value load_value(const std::filesystem::path& file, const ValueType& type,
                 const Limits& limits);  // input_0.pb and the like
Value parse_value(std::span<const std::byte> bytes, const ValueType& type, const Limits& limits);
std::string serialize_value(const Value& value);

// Binds each node, subgraphs and functions included, to its signature or function.
// An operator or version nobody knows: Error unsupported; cyclic or recursive: invalid_model.
void resolve(Model& model);

// Holds a resolved model against the rules of the format and of every signature. Returns all
// breaches, worst first.
std::vector<Error> check(const Model& model, const Limits& limits);

// Resolves and checks; throws the worst breach.
void require_valid(Model& model, const Limits& limits);

// To run it: a file of an older IR version whose initializers are no inputs, which `check` reports,
// is read as one of version 4.
Model load_valid(const std::filesystem::path& file, const Limits& limits);

// "node 'act3' (Clip), output 'act3_out', main graph"
std::string place_of(const Node& node, std::string_view graph_path);

}  // namespace touchstone
