// Loading pipeline: load (protobuf, external data), resolve (opsets, functions) and check, up to a
// model that can run.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/limits.h"
#include "model/graph.h"

namespace touchstone {

// Each throws Error with place, rule and help. Model contents are untrusted.
Model load_model(const std::filesystem::path& file, const Limits& limits);
Model parse_model(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                  const Limits& limits);
void save_model(const Model& model, const std::filesystem::path& file);

Value load_value(const std::filesystem::path& file, const ValueType& type,
                 const Limits& limits);  // reads input_0.pb and the like
Value parse_value(std::span<const std::byte> bytes, const ValueType& type, const Limits& limits);
std::string serialize_value(const Value& value);

// Binds each node, those of subgraphs and functions included, to its signature or function. Throws
// Error: unsupported for an unknown operator or version, invalid_model for recursive functions.
void resolve(Model& model);

// Checks a resolved model against the rules of the format and of every signature. Returns all
// breaches, worst first.
std::vector<Error> check(const Model& model, const Limits& limits);

// Resolves, checks and derives; throws the worst breach.
void require_valid(Model& model, const Limits& limits);

// Loads a model to run it. A file of an older IR version whose initializers are not inputs, which
// `check` reports, is read as IR version 4.
Model load_valid(const std::filesystem::path& file, const Limits& limits);

// Likewise from the bytes of a file without external data.
Model parse_valid(std::span<const std::byte> bytes, const Limits& limits);

// Returns "node 'act3' (Clip), output 'act3_out', main graph".
std::string place_of(const Node& node, std::string_view graph_path);

}  // namespace touchstone
