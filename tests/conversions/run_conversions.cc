// Converts every case below some folders and runs it before and after on the reference, in one
// process. Prints one JSON line a case and target: whether the bits are the same, or the refusal.
//
//   run_conversions --to newest,previous,13 [--frozen] [--every K] FOLDER...
//
// `previous` is the opset before the one that introduced the case's newest operator. --frozen makes
// all inputs but the first constants, as in exported models.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "model/bits.h"
#include "model/model.h"
#include "model/scopes.h"
#include "reference/interpreter.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"
#include "transform/convert/convert.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Opsets = std::map<std::string, Index>;
using Values = std::map<std::string, Value>;

struct Loaded {
  Model model;
  Values feeds, outputs;
  bool draws = false;
};

void freeze(Model& model, Values& feeds) {
  for (std::size_t k = 1; k < model.graph.inputs.size();) {
    const std::string name = model.graph.inputs[k].name;
    const auto fed = feeds.find(name);
    if (fed == feeds.end() || !fed->second.is_tensor()) {
      ++k;
      continue;
    }
    model.graph.initializers.insert_or_assign(name, fed->second.tensor());
    feeds.erase(fed);
    model.graph.inputs.erase(model.graph.inputs.begin() + static_cast<std::ptrdiff_t>(k));
    model.ir_version = std::max<Index>(model.ir_version, 4);
  }
}

Values ran(const Model& model, const Values& feeds) {
  return run(model, feeds, RunOptions{Limits::trusted(), {}});
}

Loaded load(const fs::path& folder, bool frozen) {
  const Limits limits = Limits::trusted();
  Loaded one{load_valid(folder / "model.onnx", limits), {}, {}};
  command::FeedArgs feeds;
  feeds.test_data = (folder / "test_data_set_0").string();
  one.feeds = command::feeds_for(one.model, feeds, limits);
  if (frozen) freeze(one.model, one.feeds);
  one.outputs = ran(one.model, one.feeds);
  for_each_node(one.model.graph.nodes, [&](const Node& node) {
    one.draws = one.draws || (node.signature != nullptr && node.signature->kind == "random");
  });
  return one;
}

// The opsets to convert to; empty if the model has that opset already, or if no such opset exists.
Opsets target(const Model& model, const std::string& wanted) {
  Opsets opsets;
  if (wanted == "newest") {
    for (const auto& [domain, opset] : model.opsets) {
      if (newest_opset(domain) > opset) opsets[domain] = newest_opset(domain);
    }
    return opsets;
  }
  if (wanted == "previous") {
    for_each_node(model.graph.nodes, [&](const Node& node) {
      if (node.signature != nullptr && node.signature->since > 1)
        opsets[node.domain] = std::max<Index>(opsets[node.domain], node.signature->since - 1);
    });
    return opsets;
  }
  const auto own = model.opsets.find("");
  const Index opset = std::stoll(wanted);
  if (own != model.opsets.end() && opset < own->second) opsets[""] = opset;
  return opsets;
}

// The first difference between the outputs, or "" if all have the same bits.
std::string difference(const Loaded& before, const Values& after) {
  for (const auto& [name, value] : before.outputs) {
    const auto found = after.find(name);
    if (found == after.end()) return name + " is no output any more";
    if (before.draws) continue;  // random outputs differ between runs
    if (!same_bits(value, found->second)) return name + " has other bits";
  }
  return after.size() == before.outputs.size() ? "" : "there are more outputs";
}

Json came_of(const Loaded& one, const Opsets& opsets) {
  Json row;
  std::optional<transform::Converted> made;
  try {
    made = transform::convert(one.model, opsets, Limits::trusted());
  } catch (const Error& error) {
    const bool refused =
        error.kind == ErrorKind::unsupported && !error.rule.empty() && !error.place.empty();
    return {{"came", refused ? "refused" : "failed"}, {"rule", error.rule}, {"why", error.message}};
  }
  for (const auto& [domain, opset] : opsets) {
    if (made->model.opsets.at(domain) != opset)
      return {{"came", "failed"}, {"why", "another opset"}};
  }
  row["rewritten"] =
      std::any_of(made->steps.begin(), made->steps.end(),
                  [](const transform::ConvertedNodes& step) { return step.rewritten; });
  try {
    row["why"] = difference(one, ran(made->model, one.feeds));
    row["came"] = row["why"].get<std::string>().empty() ? "same" : "different";
  } catch (const Error& error) {
    row["came"] = "failed";
    row["why"] = error.rule + ": " + error.message + " at " + error.place;
  }
  return row;
}

void print(const Json& line) {
  fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);  // keeps the finished lines if the next case crashes
}

void run_case(const fs::path& folder, const std::string& name,
              const std::vector<std::string>& targets, bool frozen) {
  std::optional<Loaded> one;
  try {
    one = load(folder, frozen);
  } catch (const Error& error) {
    return print({{"case", name}, {"came", "unfit"}, {"why", error.message}});
  }
  for (const std::string& wanted : targets) {
    const Opsets opsets = target(one->model, wanted);
    if (opsets.empty()) continue;
    Json row{{"case", name}, {"to", wanted}};
    row.update(came_of(*one, opsets));
    print(row);
  }
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) all.push_back(word);
  return all;
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  std::vector<std::string> targets;
  std::vector<std::filesystem::path> folders;
  bool frozen = false;
  std::size_t every = 1;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--frozen") {
      frozen = true;
    } else if (word == "--to" && k + 1 < argc) {
      targets = touchstone::words(argv[++k]);
    } else if (word == "--every" && k + 1 < argc) {
      every = std::stoul(argv[++k]);
    } else {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(word)) {
        if (entry.path().filename() == "model.onnx") folders.push_back(entry.path().parent_path());
      }
    }
  }
  if (targets.empty() || folders.empty() || every == 0) return 2;
  std::sort(folders.begin(), folders.end());
  for (std::size_t k = 0; k < folders.size(); k += every)
    touchstone::run_case(folders[k], folders[k].string(), targets, frozen);
  return 0;
}
