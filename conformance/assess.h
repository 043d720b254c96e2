// From what a target gave to what it is worth: the suite's own rule (compat) and the judge's
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

namespace touchstone {

struct Assessment {
  std::string compat, verdict, detail;
  std::optional<double> utilisation;
  std::optional<JudgedNode> judged = {};
  Subject subject = {};
  std::vector<Shown> values = {};
  bool tapped =
      false;  // its model with every value as an output is written: to be run and asked about
};

// One run of one case, with what a target answered.
struct Assignment {
  std::filesystem::path model;
  std::vector<std::filesystem::path> inputs, expected;
  double rtol = 1e-3, atol = 1e-7;
  Answer answer;
  std::string refused = {};  // the rule that must refuse the case, "" where none must
  // Of a case of several nodes: where to write its model with every value as an output ("":
  // nowhere), and what the target gave for that.
  std::filesystem::path tapped_model = {};
  std::optional<Answer> taps = {};
};

// Reads model, inputs and expected outputs and compares. Meant for a process of its own: it runs
// kernels too.
Assessment assess(const Assignment& assignment);

// What a case's files feed, by the names of the model's inputs.
std::map<std::string, Value> fed(const Model& model,
                                 const std::vector<std::filesystem::path>& files);

// What an answer without outputs is worth; needs no judge.
Assessment assess_failure(const Answer& answer);

// A case that breaks a rule: right is a target that refuses it. That the rule does refuse it is
// seen anew.
Assessment assess_breach(const Assignment& assignment);

// The worse of two, for a case of several outputs or data sets; details of both are kept where both
// say something.
Assessment worse(const Assessment& a, const Assessment& b);

Message ask(const Assignment& assignment);
bool read(const Message& message, Assignment& assignment);
Message tell(const Assessment& assessment);
bool read(const Message& message, Assessment& assessment);

}  // namespace touchstone
