// touchstone judge MODEL --test-data DIR: judges the outputs in DIR for its inputs. touchstone
// judge MODEL --taps DIR: judges every node on its inputs; the first wrong one is guilty. No
// runtime runs. Exit 0 if everything that was judged is right, 1 if something is wrong, 4 if
// nothing was judged or can be trusted.
#include <fmt/format.h>

#include "conformance/report/json.h"
#include "conformance/single_node.h"
#include "conformance/suites/suite.h"
#include "conformance/taps.h"
#include "core/error.h"
#include "model/model.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"

namespace touchstone::command {
namespace {

struct JudgeArgs {
  std::string model, test_data, taps, cls = "fast";
  Index sample_above = judge::JudgeOptions{}.sample_above;
  JsonOutput json;
};

judge::JudgeOptions options_for(const JudgeArgs& args) {
  judge::JudgeOptions options;
  options.then_fast = args.cls == "fast";  // results that strict refuses are judged again
  options.sample_above = args.sample_above;
  return options;
}

// `judged`: some element was judged, or the standard leaves all of them open.
ExitCode code_for(judge::Verdict verdict, bool judged) {
  if (judge::is_fail(verdict)) return ExitCode::mismatch;
  if (verdict == judge::Verdict::mistrusted || verdict == judge::Verdict::unsupported)
    return ExitCode::unsupported;
  if (verdict == judge::Verdict::open && !judged) return ExitCode::unsupported;
  return verdict == judge::Verdict::harness ? ExitCode::bug : ExitCode::fine;
}

Style style_of(judge::Verdict verdict) {
  return judge::is_pass(verdict)   ? Style::green
         : judge::is_fail(verdict) ? Style::red
                                   : Style::yellow;
}

void print_output(const std::string& output, const judge::Comparison& one) {
  fmt::print("{}  {}  utilisation {:.3g}  judged {} of {}  resolution {:.2g}\n",
             styled(Stream::out, Style::bold, printable(output)),
             styled(Stream::out, style_of(one.verdict), judge::name(one.verdict)),
             one.utilisation_max, one.judged, one.elements, one.resolution_median);
  if (one.where >= 0) {
    fmt::print("  element {}: {} for {}\n", one.where, printable(one.actual),
               printable(one.expected));
  }
  if (!one.detail.empty()) fmt::print("  {}\n", printable(one.detail));
}

ExitCode judge_data(const JudgeArgs& args, const Model& model) {
  if (const std::string why = conformance::why_not_judged(model); !why.empty()) {
    throw Error(ErrorKind::unsupported, "this model is not judged as a whole: " + why)
        .with_help(
            "touchstone run MODEL --tap DIR, then touchstone judge MODEL --taps DIR, judges it "
            "node by node");
  }
  const Limits limits = Limits::trusted();
  FeedArgs feed_args;
  feed_args.test_data = args.test_data;
  std::map<std::string, Value> values = feeds_for(model, feed_args, limits);
  for (const auto& [name, tensor] : model.graph.initializers) values.emplace(name, tensor);
  const suites::DataSet data = suites::read_data_set(args.test_data);
  if (data.outputs.empty() || data.outputs.size() > model.graph.outputs.size()) {
    throw Error(ErrorKind::file,
                fmt::format("'{}' holds {} outputs, the model has {}", args.test_data,
                            data.outputs.size(), model.graph.outputs.size()));
  }

  const Node& node = model.graph.nodes.front();
  const auto pick = [](const std::vector<std::string>& names,
                       const std::map<std::string, Value>& from) {
    std::vector<Value> picked;
    for (const std::string& name : names) {
      const auto found = from.find(name);
      picked.push_back(found == from.end() ? Value{} : found->second);
    }
    return picked;
  };
  std::map<std::string, Value> outputs;
  for (std::size_t k = 0; k < data.outputs.size(); ++k) {
    const ValueInfo& output = model.graph.outputs[k];
    outputs[output.name] = load_value(data.outputs[k], output.type.value_or(ValueType{}), limits);
  }
  const judge::NodeJudgement judged = judge::judge_node(
      node, pick(node.inputs, values), pick(node.outputs, outputs), options_for(args));

  nlohmann::ordered_json object{{"schema", "touchstone.judge/1"},
                                {"model", args.model},
                                {"verdict", judge::name(judged.verdict)},
                                {"class", judged.cls == Class::strict ? "strict" : "fast"},
                                {"formula", judged.formula},
                                {"sampled", judged.sampled},
                                {"detail", judged.detail},
                                {"question", judged.question},
                                {"outputs", nlohmann::ordered_json::array()}};
  for (std::size_t k = 0; k < std::min(node.outputs.size(), judged.outputs.size()); ++k) {
    if (node.outputs[k].empty()) continue;
    nlohmann::ordered_json row{{"name", node.outputs[k]}};
    row.update(report::to_json(judged.outputs[k]));
    object["outputs"].push_back(std::move(row));
    if (!args.json.takes_stdout()) print_output(node.outputs[k], judged.outputs[k]);
  }
  if (!judged.question.empty() && !args.json.takes_stdout()) {
    fmt::print("{}  as {} leaves it\n",
               styled(Stream::out, style_of(judged.verdict), judge::name(judged.verdict)),
               judged.question);
  }
  if (judged.outputs.empty() && !args.json.takes_stdout()) {
    fmt::print("{}  {}\n",
               styled(Stream::out, style_of(judged.verdict), judge::name(judged.verdict)),
               judged.detail);
  }
  if (args.json) write_json(args.json, object);
  return code_for(judged.verdict, !judged.question.empty());
}

ExitCode judge_taps(const JudgeArgs& args, const Model& model) {
  const bool prints = !args.json.takes_stdout();
  const auto print_node = [&](const conformance::NodeBlame& one) {
    if (!prints || (one.skipped.empty() && judge::is_pass(one.judgement.verdict))) return;
    const Style style = one.skipped.empty() ? style_of(one.judgement.verdict) : Style::dim;
    fmt::print("{}  {}  {}\n", printable(place_of(*one.node, one.path)),
               styled(Stream::out, style,
                      one.skipped.empty() ? judge::name(one.judgement.verdict) : "not judged"),
               printable(one.skipped.empty() ? conformance::describe(*one.node, one.judgement)
                                             : one.skipped));
  };
  const conformance::LoadValue load = [](const std::filesystem::path& file, const ValueType& type) {
    return read_value(file, type, Limits::trusted());
  };
  const conformance::Blame found = conformance::blame(
      conformance::read_taps(model, args.taps, load), options_for(args), print_node);
  nlohmann::ordered_json object = report::to_json(found);
  object["model"] = args.model;
  if (prints) {
    const nlohmann::ordered_json& counts = object["verdicts"];
    std::string verdicts;
    for (const auto& [verdict, count] : counts.items())
      verdicts += fmt::format(", {} {}", count.get<Index>(), verdict);
    fmt::print("{} nodes{}; judged {} of {} elements ({:.2f} %), median resolution {:.2g}\n",
               found.nodes.size(), verdicts, found.judged, found.elements,
               found.elements ? 100.0 * double(found.judged) / double(found.elements) : 0.0,
               found.resolution_median);
    if (found.guilty) {
      const conformance::NodeBlame& guilty = found.nodes[*found.guilty];
      fmt::print("guilty: {}: {}\n",
                 styled(Stream::out, Style::red, printable(place_of(*guilty.node, guilty.path))),
                 printable(conformance::describe(*guilty.node, guilty.judgement)));
    }
  }
  if (args.json) write_json(args.json, object);
  return code_for(found.verdict, found.judged > 0 || found.elements == 0);
}

ExitCode judge_model(const JudgeArgs& args) {
  if (args.test_data.empty() == args.taps.empty()) {
    throw Error(ErrorKind::usage, "judge needs either --test-data or --taps");
  }
  Model model = load_model(args.model, Limits::trusted());
  resolve(model);
  return args.taps.empty() ? judge_data(args, model) : judge_taps(args, model);
}

}  // namespace

void add_judge(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<JudgeArgs>();
  CLI::App* command =
      app.add_subcommand("judge", "Say whether outputs are right, without running anything");
  command->add_option("model", args->model, "An .onnx file")->required()->type_name("MODEL");
  command->add_option("--test-data", args->test_data, "input_0.pb ... and output_0.pb ...")
      ->type_name("DIR");
  command
      ->add_option("--taps", args->taps, "Every node's values: taps.json or values.json, and files")
      ->type_name("DIR");
  command->add_option("--class", args->cls, "strict, or fast: what strict refuses is judged again")
      ->check(CLI::IsMember({"strict", "fast"}))
      ->capture_default_str();
  command
      ->add_option("--sample-above", args->sample_above,
                   "Of a node with more multiply-adds, only a sample is judged")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N");
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return judge_model(*args); }); });
}

}  // namespace touchstone::command
