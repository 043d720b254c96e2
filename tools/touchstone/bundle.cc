// touchstone bundle --models M,.. -o DIR: writes what a build needs for a library that holds these
// models, and only what they need.
#include "optimized/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "model/compact.h"
#include "model/model.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/feeds.h"
#include "tools/touchstone/limits.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

struct BundleArgs {
  LimitArgs limits;
  FeedArgs sizes;
  std::vector<std::string> models, isas{"avx2"}, without;
  std::string out;
  JsonOutput json;
};

// Returns the name by which a program opens the model: the file's, of letters, digits and `_`.
std::string name_of(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  for (char& letter : name) {
    const bool fits = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                      (letter >= 'A' && letter <= 'Z');
    if (!fits) letter = '_';
  }
  return name;
}

// Makes the process plan for an instruction set. Returns false if the processor lacks it.
bool select(const std::string& isa) {
  const auto known =
      std::ranges::find(optimized::all_isas, isa, [](auto one) { return name(one); });
  if (!optimized::processor_has(*known)) return false;
  ::setenv("TOUCHSTONE_ISA", isa.c_str(), 1);
  return true;
}

ExitCode bundle_models(const BundleArgs& args) {
  if (args.models.empty() || args.out.empty()) {
    throw Error(ErrorKind::usage, "bundle takes --models and, by -o, the folder to write")
        .with_help("touchstone bundle --models a.onnx,b.onnx -o DIR");
  }
  if (args.isas == std::vector<std::string>{"sse41"}) {
    throw Error(ErrorKind::usage, "some kernels need avx2 or avx512")
        .with_help("--isa sse41,avx2 chooses at run time");
  }
  optimized::SessionOptions options;
  options.limits = args.limits.limits();
  options.dims = dims_of(args.sizes);
  options.threads = 1;
  options.passes.without = args.without;
  const bool planned = args.isas.size() == 1 && select(args.isas.front());
  const CommandBudget budget(options.limits);

  std::map<std::string, Model> models;
  std::set<std::string> symbols;
  for (const std::string& file : args.models) {
    const auto [place, is_new] = models.try_emplace(name_of(file));
    if (!is_new) throw Error(ErrorKind::usage, "two models have the name " + place->first);
    place->second = load_valid(file, options.limits);
    for (const ValueInfo& input : place->second.graph.inputs) {
      for (const Dim& dim : input.shape.value_or(std::vector<Dim>())) symbols.insert(dim.symbol);
    }
  }
  for (const auto& [symbol, size] : options.dims) {
    if (!symbols.contains(symbol))
      throw Error(ErrorKind::usage, "no input of the models has the dimension '" + symbol + "'")
          .with_help("touchstone show MODEL lists them");
  }

  const std::filesystem::path folder = args.out;
  std::filesystem::create_directories(folder);
  optimized::Bundled all;
  std::vector<std::string> names;
  Json rows = Json::array();
  for (const std::string& file : args.models) {
    const std::string& name = names.emplace_back(name_of(file));
    optimized::Bundled made = optimized::bundled(std::move(models.at(name)), options, planned);
    write_atomically(folder / (name + ".model"), compact(made.model));
    if (!args.json.takes_stdout())
      fmt::print("{}: {} nodes of {} operators{}\n", name, made.model.graph.nodes.size(),
                 made.operators.size(),
                 made.all_families ? "; it has subgraphs, which may need any kernel" : "");
    rows.push_back({{"name", name}, {"file", file}, {"operators", made.operators}});
    all.operators.merge(made.operators);
    all.families.merge(made.families);
    all.fused_families.merge(made.fused_families);
    all.all_families = all.all_families || made.all_families;
    all.components.merge(made.components);
  }

  std::string text = "# Of " + fmt::format("{}", fmt::join(args.models, ", ")) +
                     ". Written by touchstone bundle.\n";
  const auto set = [&](std::string_view variable, const auto& items) {
    text += fmt::format("set({} \"{}\")\n", variable, fmt::join(items, ";"));
  };
  set("TOUCHSTONE_MODELS", names);
  set("TOUCHSTONE_ISAS", args.isas);
  set("TOUCHSTONE_OPERATORS", all.operators);
  if (!all.all_families) {
    set("TOUCHSTONE_FAMILIES", all.families);
    set("TOUCHSTONE_FUSED_FAMILIES", all.fused_families);
  }
  std::vector<std::string_view> left_out;
  for (const optimized::Component component : optimized::all_components) {
    if (!all.components.contains(component)) left_out.push_back(name(component));
  }
  set("TOUCHSTONE_LEFT_OUT", left_out);
  write_atomically(folder / "bundle.cmake", text);
  if (!args.json.takes_stdout())
    fmt::print(
        "build it from a clone of Touchstone:\n"
        "  cmake --preset bundle -DTOUCHSTONE_BUNDLE={}\n"
        "  cmake --build --preset bundle\n",
        folder.string());
  if (args.json)
    write_json(args.json, {{"schema", "touchstone.bundle/1"},
                           {"folder", folder.string()},
                           {"isas", args.isas},
                           {"left_out", left_out},
                           {"models", rows}});
  return ExitCode::fine;
}

}  // namespace

void add_bundle(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<BundleArgs>();
  CLI::App* command =
      app.add_subcommand("bundle", "Prepare a small library that holds these models");
  command->add_option("--models", args->models, "The .onnx files, with commas between")
      ->delimiter(',')
      ->type_name("MODEL,...");
  command->add_option("-o,--out", args->out, "The folder to write")->type_name("DIR");
  command->add_option("--isa", args->isas, "Instruction sets of the library (default: avx2)")
      ->delimiter(',')
      ->check(CLI::IsMember({"sse41", "avx2", "avx512"}))
      ->type_name("ISA,...");
  command->add_option("--dims,--dim", args->sizes.dims, "Sizes of symbolic dimensions, fixed")
      ->delimiter(',')
      ->type_name("SYMBOL=N,...");
  command->add_option("--no-pass", args->without, "Do not run this pass or pattern");
  add_limits(*command, args->limits);
  add_json(*command, args->json);
  command->callback(
      [args, &out] { out = guarded(args->json, [&] { return bundle_models(*args); }); });
}

}  // namespace touchstone::command
