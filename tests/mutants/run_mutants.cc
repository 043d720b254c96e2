// Runs the kernels of a library in place of the reference's own, on cases of one node, and judges
// the outputs: mutants, which the judge must refuse, and faithful variants, which it must accept.
//
//   run_mutants LIBRARY SECONDS MEGABYTES < plan
//
// A line of the plan is {"name": "Conv_22_m17", "opset": 22, "cases": [[PLACE, ENTRY], ...],
// "most": 20, "faithful": false}. The cases are folders or lines of the spec suite, of any version;
// they are read as cases of this opset (0: their own), and skipped if they are invalid in it. The
// library's kernel is NAME or, if a template has several entry points, NAME/ENTRY. A mutant is
// judged where its bits differ from the reference's own kernel, until it is refused; a faithful
// variant is judged on every case.
//
// Prints JSON lines: {"begins": NAME}, which identifies a crash; one row for each judged case;
// {"ends": NAME, "cases": 20}.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/judge/judge.h"
#include "conformance/single_node.h"
#include "conformance/suites/line.h"
#include "core/error.h"
#include "model/check_node.h"
#include "model/model.h"
#include "reference/calls.h"
#include "reference/interpreter.h"
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
  // values of the enclosing graph that the node's subgraph reads
  std::map<std::string, Value> around;
  std::vector<Value> right;  // outputs of the reference's own kernel
};

const Node& node_of(const Case& one) { return one.model.graph.nodes.front(); }

std::vector<Value> run_inner(const Case& one, const Graph& graph,
                             const std::vector<Value>& inputs) {
  Model inner = one.model;
  inner.graph = graph;
  for (const auto& [name, value] : one.around) {
    if (value.is_tensor()) inner.graph.initializers.emplace(name, value.tensor());
  }
  std::map<std::string, Value> feeds;
  for (std::size_t k = 0; k < inputs.size(); ++k) feeds.emplace(graph.inputs.at(k).name, inputs[k]);
  const std::map<std::string, Value> made = touchstone::run(inner, std::move(feeds));
  std::vector<Value> outputs;
  for (const ValueInfo& output : graph.outputs) outputs.push_back(made.at(output.name));
  return outputs;
}

std::vector<Value> run(Kernel kernel, const Case& one) {
  Call call = call_of(node_of(one), one.inputs);
  call.run_graph = [&](const Graph& graph, const std::vector<Value>& inputs) {
    return run_inner(one, graph, inputs);
  };
  kernel(call);
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    if (call.wanted[k] && call.outputs[k].absent())
      throw Error(ErrorKind::internal, "an output was not written");
  }
  return call.outputs;
}

// A model that is valid in an opset, with its input values.
struct Given {
  Model model;
  std::map<std::string, Value> values;

  void hold(Index opset) {
    if (opset > 0) model.opsets[model.graph.nodes.front().domain] = opset;
    require_valid(model, Limits::trusted());
  }
};

Given of_folder(const fs::path& folder, Index opset) {
  Given made{load_model(folder / "model.onnx", Limits::trusted()), {}};
  made.hold(opset);
  command::FeedArgs from;
  from.test_data = (folder / "test_data_set_0").string();
  made.values = command::feeds_for(made.model, from, Limits::trusted());
  return made;
}

Given of_line(const std::string& text, Index opset) {
  suites::LineModel line = suites::model_of(suites::parse_line(text));
  Given made{std::move(line.model), {}};
  made.hold(opset);
  for (std::size_t k = 0; k < line.feeds.size(); ++k) {
    made.values.emplace(made.model.graph.inputs[k].name, std::move(line.feeds[k]));
  }
  return made;
}

Case load_case(const std::string& place, Index opset) {
  Given given = fs::path(place).is_absolute() ? of_folder(place, opset) : of_line(place, opset);
  Case one{std::move(given.model), {}, {}, {}};
  for (const auto& [name, tensor] : one.model.graph.initializers)
    given.values.emplace(name, tensor);
  for (const std::string& name : node_of(one).inputs) {
    one.inputs.push_back(name.empty() ? Value() : given.values.at(name));
  }
  one.around = std::move(given.values);
  one.right = run(find_entry(*node_of(one).signature)->native, one);
  Types made;  // one that came with a later version is refused
  for (const Value& value : one.right)
    made.push_back(value.absent() ? std::nullopt : std::optional(value.type()));
  hold_output_types(*node_of(one).signature, made, [](const Error& error) { throw error; });
  return one;
}

bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].absent() != b[k].absent()) return false;
    if (!a[k].absent() &&
        !judge::is_pass(judge::judge_exact(a[k], b[k], judge::ZeroSign::compared).verdict))
      return false;
  }
  return true;
}

// The row of one case; null if a mutant gives the same bits, since nothing needs judging.
Json judged(const Case& one, Kernel kernel, bool faithful) {
  Json row;
  try {
    const std::vector<Value> outputs = run(kernel, one);
    if (!faithful && same(one.right, outputs)) return nullptr;
    const judge::NodeJudgement verdict = judge::judge_node(node_of(one), one.inputs, outputs);
    row["verdict"] = judge::name(verdict.verdict);
    row["refused"] = judge::is_fail(verdict.verdict);
    if (const auto used = conformance::utilisation(verdict)) row["utilisation"] = *used;
    if (judge::is_fail(verdict.verdict))
      row["detail"] = conformance::describe(node_of(one), verdict);
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
  // The case, or null if it is invalid in this opset.
  const Case* at(const std::string& place, Index opset) {
    auto [found, fresh] = known_.try_emplace({place, opset});
    if (fresh) {
      try {
        found->second = std::make_unique<Case>(load_case(place, opset));
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
  for (const Mutant* one = static_cast<const Mutant*>(table); one->name; ++one)
    kernels[one->name] = one->run;
  return kernels;
}

// SIGPROF ends the process after this much CPU time, independent of the machine's load. 0: no
// limit.
void end_after(unsigned seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void run_plan(const char* library, unsigned seconds) {
  const std::map<std::string, Kernel> kernels = kernels_of(library);
  Cases cases;
  for (std::string line; std::getline(std::cin, line);) {
    const Json plan = Json::parse(line);
    const std::string name = plan["name"];
    const bool faithful = plan["faithful"];
    Index shown = 0;
    say({{"begins", name}});
    for (const Json& at : plan["cases"]) {
      const std::string place = at[0], entry = at[1];
      const Case* one = shown < plan["most"] ? cases.at(place, plan["opset"]) : nullptr;
      if (!one) continue;
      ++shown;
      end_after(seconds);  // a mutant may never end; the host knows its name from "begins"
      Json row = judged(*one, kernels.at(entry.empty() ? name : name + "/" + entry), faithful);
      end_after(0);
      if (row.is_null()) continue;
      row["case"] = place;
      say(row);
      if (row["refused"] && !faithful) break;
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
