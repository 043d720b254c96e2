// Assesses a target's answer by two measures: the suite's own tolerance (compat) and the judge's
// verdict.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/results.h"
#include "conformance/targets/protocol.h"
#include "model/graph.h"

namespace touchstone::conformance {

struct Assessment {
  std::string compat, verdict, detail;
  std::optional<double> utilisation;
  std::optional<JudgedNode> judged = {};
  Subject subject = {};
  std::vector<Shown> values = {};
  bool tapped = false;  // the tapped model was written: run it and assess again
};

// One run of one case, with the target's answer.
struct Assignment {
  std::filesystem::path model;
  std::vector<std::filesystem::path> inputs, expected;
  double rtol = 1e-3, atol = 1e-7;
  targets::Answer answer;
  std::string refused = {};  // the rule that must refuse the case; "": none
  // For a case of several nodes: the path to which the model with all values as outputs is written
  // ("": not written), and the target's answer for that model.
  std::filesystem::path tapped_model = {};
  std::optional<targets::Answer> taps = {};
};

// Reads model, inputs and expected outputs, and compares. Runs kernels too, so call it in a process
// of its own.
Assessment assess(const Assignment& assignment);

// Returns the values of a case's input files, by the names of the model's inputs.
std::map<std::string, Value> fed(const Model& model,
                                 const std::vector<std::filesystem::path>& files);

// Assesses an answer without outputs; needs no judge.
Assessment assess_failure(const targets::Answer& answer);

// Assesses a case that violates a rule: a target is right if it refuses it. Verifies first that the
// rule really refuses the case.
Assessment assess_breach(const Assignment& assignment);

// Returns the worse of two assessments, for a case of several outputs or data sets, with the
// details of both.
Assessment worse(const Assessment& a, const Assessment& b);

targets::Message ask(const Assignment& assignment);
bool read(const targets::Message& message, Assignment& assignment);
targets::Message tell(const Assessment& assessment);
bool read(const targets::Message& message, Assessment& assessment);

}  // namespace touchstone::conformance
