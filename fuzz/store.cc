// Writes findings into a folder next to the final one and renames it.
#include "fuzz/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/assess.h"
#include "conformance/suites/suite.h"
#include "core/error.h"
#include "core/files.h"
#include "fuzz/issue.h"
#include "fuzz/line_source.h"
#include "fuzz/meta/transformation.h"
#include "fuzz/runner.h"
#include "model/external_data.h"
#include "model/model.h"
#include "reference/interpreter.h"

namespace touchstone::fuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void write_values(const std::vector<ValueInfo>& infos, const Feeds& values, const std::string& name,
                  const fs::path& folder) {
  std::size_t position = 0;
  for (const ValueInfo& info : infos) {
    const auto value = values.find(info.name);
    if (value == values.end() || value->second.absent()) continue;
    write_atomically(folder / fmt::format("{}_{}.pb", name, position++),
                     std::string_view(serialize_value(value->second)));
  }
}

// Returns the reference's outputs, or its refusal.
struct Expected {
  Feeds outputs;
  std::optional<Error> refusal;
};

Expected expected_of(const Case& one, const Feeds& feeds) {
  try {
    Model model = one.model;
    require_valid(model, limits_of_case());
    return {run(model, feeds, RunOptions{limits_of_case(), {}}), std::nullopt};
  } catch (const Error& error) {
    return {{}, error};
  }
}

Json facts_of(const Finding& finding, const Case& one, const std::string& replay) {
  Json facts{{"schema", "touchstone.finding/1"},
             {"hash", finding.hash},
             {"target", finding.target},
             {"version", finding.version},
             {"level", finding.level},
             {"number", finding.number},
             {"signature", signature(finding.target, finding.outcome)},
             {"text", one.text},
             {"rule", one.refused},
             {"transformation", one.transformation},
             {"replay", replay}};
  facts["outcome"] = to_json(finding.outcome);
  facts["outcome"].erase("covered");
  return facts;
}

// Writes NAME_K for each set of feeds. Returns the reference's refusal, if any.
std::optional<Error> write_data_sets(const Case& one, const std::string& name, const fs::path& to) {
  std::optional<Error> refusal;
  for (std::size_t k = 0; k < one.feeds.size(); ++k) {
    const fs::path data = to / fmt::format("{}_{}", name, k);
    fs::create_directories(data);
    write_values(one.model.graph.inputs, one.feeds[k], "input", data);
    Expected expected = expected_of(one, one.feeds[k]);
    write_values(one.model.graph.outputs, expected.outputs, "output", data);
    if (expected.refusal) refusal = std::move(expected.refusal);
  }
  return refusal;
}

// Writes the other model of a pair. Returns the options of the target that it runs with.
std::string write_transformed(const Case& one, const fs::path& to) {
  try {
    const Variant variant = transformed(one);
    (variant.external ? save_model_and_data : save_model)(variant.is.model,
                                                          to / "transformed.onnx");
    write_data_sets(variant.is, "transformed_data_set", to);
    return variant.options;
  } catch (const Error&) {  // a fault of the transformation itself: there is no other model
    return "";
  }
}

}  // namespace

fs::path folder_of(const fs::path& folder, const Finding& finding) {
  return folder / "findings" / finding.hash;
}

void write_finding(const Finding& finding, const Case& one, const std::string& replay,
                   const fs::path& to) {
  fs::path made = to;
  made += ".new";
  fs::remove_all(made);
  fs::create_directories(made);
  save_model(one.model, made / "model.onnx");
  std::optional<Error> refusal = write_data_sets(one, "test_data_set", made);
  Json facts = facts_of(finding, one, replay);
  if (!one.transformation.empty()) facts["options"] = write_transformed(one, made);
  const std::string dumped = facts.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_atomically(made / "case.json", std::string_view(dumped));
  write_atomically(made / "replay.py", std::string_view(replay_script(finding)));
  write_atomically(made / "issue.md", std::string_view(issue_text(finding, one, refusal, replay)));
  fs::remove_all(to);
  fs::rename(made, to);
}

StoredCase read_case(const std::string& path_or_line) {
  const fs::path folder(path_or_line);
  if (!fs::is_directory(folder)) {
    if (path_or_line.find('(') == std::string::npos)
      throw Error(ErrorKind::file, "'" + path_or_line + "' is no folder of a case")
          .with_help("a case is a folder with model.onnx and test_data_set_0, or a line");
    const std::size_t mark = path_or_line.rfind(before_transformation);
    StoredCase made{case_of_line(path_or_line.substr(0, mark)), std::nullopt};
    if (mark != std::string::npos)
      made.is.transformation = path_or_line.substr(mark + before_transformation.size());
    return made;
  }
  StoredCase made;
  if (fs::exists(folder / "case.json")) {
    const Json facts =
        Json::parse(open_trusted(folder / "case.json").read_all(Limits::trusted()), nullptr, false);
    if (!facts.is_object())
      throw Error(ErrorKind::file, (folder / "case.json").string() + " is cut short");
    made.is.text = facts.value("text", "");
    made.is.refused = facts.value("rule", "");
    made.is.transformation = facts.value("transformation", "");
    if (facts.value("schema", "") == "touchstone.finding/1") {
      Finding& finding = made.finding.emplace();
      finding.hash = facts.value("hash", "");
      finding.target = facts.value("target", "");
      finding.version = facts.value("version", "");
      finding.level = facts.value("level", "");
      finding.number = facts.value("number", std::uint64_t{0});
      finding.outcome = outcome_of(facts.value("outcome", Json::object()));
    }
  }
  made.is.model = load_model(folder / "model.onnx", Limits::trusted());
  for (std::size_t k = 0; fs::is_directory(folder / fmt::format("test_data_set_{}", k)); ++k) {
    const suites::DataSet set = suites::read_data_set(folder / fmt::format("test_data_set_{}", k));
    made.is.feeds.push_back(conformance::fed(made.is.model, set.inputs));
  }
  if (made.is.feeds.empty())
    throw Error(ErrorKind::file, "'" + path_or_line + "' holds no test_data_set_0");
  return made;
}

}  // namespace touchstone::fuzz
