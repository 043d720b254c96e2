// The outcome of one case on one target, and the signature by which outcomes of the same fault are
// recognized.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/judge/judge.h"
#include "core/json.h"
#include "model/graph.h"

namespace touchstone::fuzz {

// One wrong element, for scripts that show the fault again.
struct WrongElement {
  std::size_t data_set = 0;  // the run
  std::string output;        // "" if no element is known
  Index where = -1;
  std::string actual, expected;  // in decimal and hex
};

struct Outcome {
  std::string verdict;  // a verdict's name; "no-case" if the source made none, "limit"
  std::string detail;
  std::string node;                     // operator version of the guilty node: "Clip-13"
  std::vector<std::string> types;       // of its inputs
  std::vector<std::string> attributes;  // other than their defaults: "axis", "mode=linear"
  std::string pattern;                  // of the error, without numbers and names
  std::string frames;                   // innermost calls of a crash
  std::string place;                    // of the operator version: "spec/ops/ai.onnx/Clip.yaml:12"
  std::string text;                     // Case::text
  std::string refused;                  // Case::refused
  std::vector<std::string> covered;     // marks of coverage, those of the target too
  WrongElement element = {};

  // True for a fail verdict and for a fault of our own (harness).
  bool is_finding() const;
};

nlohmann::ordered_json to_json(const Outcome& outcome);
Outcome outcome_of(const nlohmann::ordered_json& object);

inline constexpr std::string_view no_case = "no-case", over_limit = "limit";

// Sets the parts of an outcome that describe its node.
void describe_node(const Node& node, const std::vector<Value>& inputs, Outcome& outcome);

// Returns the pattern of a wrong comparison: "output 0: number for nan".
std::string pattern_of(const judge::NodeJudgement& judgement);

// Replaces numbers by #, quoted names by '_' and paths by their last part.
std::string masked(std::string_view text);

// Returns "MODULE+OFFSET" of the three innermost calls in the end of a crashed process's stderr.
std::string frames_in(std::string_view printed);

// Identity of a fault: target, verdict, operator version, types, attributes, pattern and frames,
// one per line.
std::string signature(const std::string& target, const Outcome& outcome);
// Sixteen hexadecimal digits.
std::string hash_of_signature(const std::string& signature);

// True if a reduced case shows the same fault: types and attributes may have become simpler.
bool same_fault(const Outcome& a, const Outcome& b);

}  // namespace touchstone::fuzz
