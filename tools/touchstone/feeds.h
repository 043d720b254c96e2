// Sources of a run's inputs: individual files, a folder in the standard's layout, or a seed.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"

namespace touchstone::command {

struct FeedArgs {
  std::vector<std::string> inputs;  // NAME=FILE.npy|.pb
  std::string test_data;            // a folder with input_0.pb, output_0.pb ...
  bool random = false;
  std::uint64_t seed = 0;
  std::vector<std::string> dims;    // batch=4
  std::vector<std::string> ranges;  // -1,1 for all inputs, or image=0,255
};
void add_feeds(CLI::App& command, FeedArgs& args);

using Dims = std::map<std::string, Index>;
// Sizes of symbolic dimensions, from `dims`. Throws Error (usage).
Dims dims_of(const FeedArgs& args);

// Returns the inputs that a caller has to feed: those without an initializer, in the graph's order.
std::vector<const ValueInfo*> wanted_inputs(const Graph& graph);

std::map<std::string, Value> feeds_for(const Model& model, const FeedArgs& args,
                                       const Limits& limits);

// Shapes of the inputs as far as the model, `dims` and the files of `inputs` determine them. An
// input of which a size is open is left out.
std::map<std::string, Shape> known_shapes(const Model& model, const FeedArgs& args,
                                          const Limits& limits);

// Reads one .npy or .pb file as a value of this type.
Value read_value(const std::filesystem::path& file, const ValueType& type, const Limits& limits);

// Returns input_0.pb ... or output_0.pb ... of a folder in the standard's layout, up to the first
// missing one.
std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& folder,
                                                  std::string_view side);

}  // namespace touchstone::command
