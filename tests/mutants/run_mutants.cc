// Runs kernels of a library in the place of the reference's own, on cases of one node, and has the judge say what the
// outputs are worth: mutants, which it must refuse, and honest variants, which it must not.
//
//   run_mutants LIBRARY SECONDS MEGABYTES < plan
//
// A line of the plan is {"name": "Conv_22_m17", "opset": 22, "cases": [FOLDER, ...], "most": 20, "honest": false}: cases of any
// version, read as if they were of this opset; those that are not valid then are passed over. A mutant is judged where its bits
// are not those of the reference's own kernel, until it is refused; an honest variant everywhere. Answers are JSON lines:
// {"begins": NAME}, so that the killer is known when one dies, one a case that was judged, {"ends": NAME, "cases": 20}.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/judge/judge.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "model/model.h"
#include "reference/calls.h"
#include "reference/registry.h"
#include "tests/mutants/mutant.h"
#include "tools/touchstone/feeds.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Case {
  Model model;
  std::vector<Value> inputs;
  std::vector<Value> right;  // what the reference's own kernel gives
};

const Node& node_of(const Case& one) { return one.model.graph.nodes.front(); }

std::vector<Value> run(Kernel kernel, const Node& node, const std::vector<Value>& inputs) {
  Call call = call_of(node, inputs);
  kernel(call);
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    if (call.wanted[k] && call.outputs[k].absent()) throw Error(ErrorKind::internal, "an output was not written");
  }
  return call.outputs;
}

Case load_case(const fs::path& folder, Index opset) {
  const Limits limits = Limits::trusted();
  Case one{load_model(folder / "model.onnx", limits), {}, {}};
  one.model.opsets[node_of(one).domain] = opset;
  require_valid(one.model, limits);
  FeedArgs from;
  from.test_data = (folder / "test_data_set_0").string();
  std::map<std::string, Value> values = feeds_for(one.model, from, limits);
  for (const auto& [name, tensor] : one.model.graph.initializers) values.emplace(name, tensor);
  for (const std::string& name : node_of(one).inputs) one.inputs.push_back(name.empty() ? Value() : values.at(name));
  one.right = run(find_entry(*node_of(one).signature)->native, node_of(one), one.inputs);
  return one;
}

bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].absent() != b[k].absent()) return false;
    if (!a[k].absent() && !is_pass(judge_exact(a[k], b[k], ZeroSign::compared).verdict)) return false;
  }
  return true;
}

// Null where a mutant gives the same bits: there is nothing to judge.
Json judged(const Case& one, Kernel kernel, bool honest) {
  Json row;
  try {
    const std::vector<Value> outputs = run(kernel, node_of(one), one.inputs);
    if (!honest && same(one.right, outputs)) return nullptr;
    const NodeJudgement verdict = judge_node(node_of(one), one.inputs, outputs);
    row["verdict"] = name(verdict.verdict);
    row["refused"] = is_fail(verdict.verdict);
    if (const auto used = utilisation(verdict)) row["utilisation"] = *used;
    if (is_fail(verdict.verdict)) row["detail"] = describe(node_of(one), verdict);
  } catch (const Error& error) {
    row = {{"verdict", "rejected-valid"}, {"refused", true}, {"detail", error.message}};
  } catch (const std::bad_alloc&) {
    row = {{"verdict", "out-of-memory"}, {"refused", true}};
  } catch (const std::exception& error) {
    row = {{"verdict", "crash"}, {"refused", true}, {"detail", error.what()}};
  }
  return row;
}

void say(const Json& line) {
  fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(stdout);
}

class Cases {
 public:
  // Null where the case is not valid in this opset.
  const Case* at(const std::string& folder, Index opset) {
    auto [found, fresh] = known_.try_emplace({folder, opset});
    if (fresh) {
      try {
        found->second = std::make_unique<Case>(load_case(folder, opset));
      } catch (const Error&) {
        found->second = nullptr;
      }
    }
    return found->second.get();
  }

 private:
  std::map<std::pair<std::string, Index>, std::unique_ptr<Case>> known_;
};

std::map<std::string, Kernel> kernels_of(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  const void* table = handle ? dlsym(handle, "touchstone_mutants") : nullptr;
  if (!table) throw Error(ErrorKind::file, dlerror());
  std::map<std::string, Kernel> kernels;
  for (const Mutant* one = static_cast<const Mutant*>(table); one->name; ++one) kernels[one->name] = one->run;
  return kernels;
}

void run_plan(const char* library, unsigned seconds) {
  const std::map<std::string, Kernel> kernels = kernels_of(library);
  Cases cases;
  for (std::string line; std::getline(std::cin, line);) {
    const Json plan = Json::parse(line);
    const std::string name = plan["name"];
    const bool honest = plan["honest"];
    Index shown = 0;
    say({{"begins", name}});
    for (const std::string folder : plan["cases"]) {
      const Case* one = shown < plan["most"] ? cases.at(folder, plan["opset"]) : nullptr;
      if (!one) continue;
      ++shown;
      alarm(seconds);  // a mutant may never end: the host sees who began
      Json row = judged(*one, kernels.at(name), honest);
      alarm(0);
      if (row.is_null()) continue;
      row["case"] = folder;
      say(row);
      if (row["refused"] && !honest) break;
    }
    say({{"ends", name}, {"cases", shown}});
  }
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto bytes = static_cast<rlim_t>(std::stoul(argv[3])) << 20U;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_DATA, &limit);
  try {
    touchstone::run_plan(argv[1], static_cast<unsigned>(std::stoul(argv[2])));
  } catch (const touchstone::Error& error) {
    fmt::print(stderr, "run_mutants: {}\n", error.message);
    return 1;
  }
  return 0;
}
