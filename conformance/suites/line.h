// Parses lines of the spec suite. A case is one line of text, from which its model and feeds are
// made:
//
//   `Clip-13(float[2,n=3]~special, *float[]{-1}, _) -> x`
//   `Gather-13(float16[3,4]~real, int64[2]{0,-1}) axis=1`
//   `ai.onnx.ml.Scaler-1(float[1,2]{1,2}) offset=[0.5,1.0] scale=[2.0]`
//   `Concat-13(float[2]~real, float[2,2]~real) axis=0 !Concat-13/C2`
//
// A port is a value, `_` if omitted, or `*` and a value that the model holds. A tensor has its
// type, its sizes (n=3: a symbol, ?=3: unknown to the model) and its data: a regime (line_data.h),
// or elements that are repeated as often as needed. Containers are seq(tensor(float)){..},
// optional(..){..}, map(int64,tensor(float)){1:2.5}. After -> follow the requested outputs
// (default: all required ones), after ! the rule that must refuse the case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/graph.h"

namespace touchstone::suites {

struct LinePort {
  Value value;
  bool held = false;      // an initializer of the model
  std::vector<Dim> dims;  // dimensions of a tensor, as the model declares them
};

struct Line {
  const Signature* signature = nullptr;
  std::vector<LinePort> inputs;  // an absent value is omitted
  std::map<std::string, Attribute> attributes;
  std::string outputs;  // "x_x"; "" for all required outputs
  std::string refused;  // the rule; "" if the case is valid
};

// Parses a line. The same text gives the same values on every machine. Throws Error (usage) that
// names the expectation and the position.
Line parse_line(const std::string& text);

// Returns the signature of "Clip-13" or "ai.onnx.ml.Scaler-1"; null if there is no such version.
const Signature* find_version(std::string_view name);

std::uint64_t hash_of_line(std::string_view text);

// Returns the text after the last !, without parsing the rest. Quoted strings may contain one, too.
std::string rule_of_line(const std::string& text);

// Returns the line's outputs as "x_x"; those that the version requires if the line names none.
std::string output_mask(const Line& line);

struct LineModel {
  Model model;
  std::vector<Value> feeds;  // values of the graph's inputs, in their order
};

constexpr Index ir_version_of_lines = 14;

// Returns the newest opset in which a version is in force.
Index opset_of(const Signature& signature);

// Returns a model of one node in the newest opset in which its version is in force.
LineModel model_of(const Line& line);

}  // namespace touchstone::suites
