// touchstone spec OP [--opset N]: prints the definition of an operator that is in force at an
// opset. touchstone spec --list [--json]: lists every operator version.
#include <fmt/format.h>

#include <algorithm>

#include "core/nearest.h"
#include "tools/touchstone/command.h"
#include "tools/touchstone/spec_texts.h"

namespace touchstone::command {
namespace {

using Json = nlohmann::ordered_json;

struct SpecArgs {
  std::string op, domain = "ai.onnx";
  int opset = 0;
  bool list = false;
  JsonOutput json;
};

std::string_view shown(std::string_view domain) { return domain.empty() ? "ai.onnx" : domain; }

ExitCode list_versions(const SpecArgs& args) {
  Json versions = Json::array();
  for (const SpecText& entry : spec_texts()) {
    const Json all = Json::parse(entry.json);
    Json row;
    for (const char* key : {"domain", "op", "since", "kind", "form", "deprecated", "witnesses"})
      row[key] = all.at(key);
    if (!args.json.takes_stdout()) {
      fmt::print(
          "{}  {}-{}  {}{}{}\n", shown(entry.domain), entry.op, entry.since,
          all["kind"].get<std::string>(),
          all["form"].get<std::string>().empty() ? "" : ", " + all["form"].get<std::string>(),
          all["deprecated"].get<bool>() ? ", deprecated" : "");
    }
    versions.push_back(std::move(row));
  }
  if (args.json)
    write_json(args.json, {{"schema", "touchstone.spec/1"}, {"versions", std::move(versions)}});
  return ExitCode::fine;
}

// Returns all versions of the operator, oldest first.
std::vector<const SpecText*> versions_of(const SpecArgs& args) {
  std::vector<const SpecText*> out;
  std::string elsewhere;
  for (const SpecText& entry : spec_texts()) {
    if (entry.op != args.op) continue;
    if (shown(entry.domain) == args.domain) {
      out.push_back(&entry);
    } else {
      elsewhere = shown(entry.domain);
    }
  }
  if (!out.empty()) return out;
  std::vector<std::string_view> known;
  for (const SpecText& entry : spec_texts()) {
    if (shown(entry.domain) == args.domain) known.push_back(entry.op);
  }
  throw Error(ErrorKind::usage,
              fmt::format("domain '{}' has no operator '{}'", args.domain, args.op))
      .with_help(elsewhere.empty()
                     ? did_you_mean(args.op, known) + "touchstone spec --list names all"
                     : fmt::format("domain '{}' has: --domain {}", elsewhere, elsewhere));
}

const SpecText& in_force(const std::vector<const SpecText*>& versions, const SpecArgs& args) {
  if (args.opset == 0) return *versions.back();
  const SpecText* found = nullptr;
  for (const SpecText* entry : versions) {
    if (entry->since <= args.opset) found = entry;
  }
  if (found != nullptr) return *found;
  throw Error(ErrorKind::usage, fmt::format("opset {} has no '{}': it came with opset {}",
                                            args.opset, args.op, versions.front()->since));
}

void title(std::string_view text, std::string_view at = "") {
  fmt::print("\n{}{}\n", styled(Stream::out, Style::bold, text),
             at.empty() ? "" : "    " + styled(Stream::out, Style::dim, at));
}

void print_block(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    fmt::print("  {}\n", text.substr(at, end - at));
    at = end + 1;
  }
}

std::string written(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void print_parameters(std::string_view name, const Json& list) {
  if (list.empty()) return;
  title(name);
  for (const Json& one : list) {
    std::string line = written(one["name"]) + ": " + written(one["type"]);
    if (one.contains("variadic")) {
      line += fmt::format(", {} or more{}", written(one["least"]),
                          one["homogeneous"].get<bool>() ? "" : ", each of its own type");
    }
    if (one.contains("optional")) line += ", optional";
    if (one.contains("default")) line += " = " + written(one["default"]);
    if (one.contains("element")) line += ", of type " + written(one["element"]);
    if (one.contains("shape")) line += "    shape " + written(one["shape"]);
    print_block(line);
  }
}

void print_attributes(const Json& list) {
  if (list.empty()) return;
  title("attributes");
  for (const Json& one : list) {
    const std::string rest = one.contains("default")       ? " = " + one["default"].dump()
                             : one["required"].get<bool>() ? ", required"
                                                           : ", optional";
    fmt::print("  {}: {}{}\n", written(one["name"]), written(one["kind"]), rest);
  }
}

void print_meaning(const Json& all) {
  for (const char* kind : {"semantics", "function"}) {
    if (!all.contains(kind)) continue;
    title(kind, all.value("at", ""));
    print_block(all[kind].is_string() ? all[kind].get<std::string>() : all[kind].dump(1));
  }
  if (all.contains("structural")) {
    title("semantics");
    fmt::print("  structural: the template {}\n", written(all["structural"]));
  }
  if (all.contains("random")) {
    title("semantics");
    fmt::print("  random: drawn by the template {}\n", written(all["random"]));
  }
  if (all["kind"] == "none") {
    title("semantics");
    fmt::print("  not written yet: a model that needs this version is refused by name\n");
  }
}

void print_definition(const SpecText& entry, const std::vector<const SpecText*>& versions) {
  const Json all = Json::parse(entry.json);
  const std::string form = written(all["form"]);
  fmt::print("{}  {}{}{}    {}\n",
             styled(Stream::out, Style::bold, fmt::format("{}-{}", entry.op, entry.since)),
             shown(entry.domain), form.empty() ? "" : ", " + form,
             all["deprecated"].get<bool>() ? ", deprecated" : "",
             styled(Stream::out, Style::dim, written(all["source"])));
  fmt::print("  {}\n", written(all["doc"]));
  print_parameters("inputs", all["inputs"]);
  print_parameters("outputs", all["outputs"]);
  print_attributes(all["attributes"]);
  if (!all["types"].empty()) title("types");
  for (const auto& [name, types] : all["types"].items()) {
    std::string line;
    for (const Json& type : types) line += " " + written(type);
    fmt::print("  {}:{}\n", name, line);
  }
  if (!all["rules"].empty()) title("rules");
  for (const Json& rule : all["rules"]) {
    fmt::print("  {}-{}/{}  {}    else: {}    {}\n", entry.op, entry.since, written(rule["id"]),
               written(rule["that"]), written(rule["else"]),
               styled(Stream::out, Style::dim, written(rule["at"])));
    if (rule.contains("meaningless"))
      print_block("  types that mean nothing here by " + written(rule["meaningless"]));
  }
  print_meaning(all);
  for (const Json& form : all["also"]) {
    title("also right");
    fmt::print("  {}, as in {}:\n", written(form["name"]), written(form["by"]));
    print_block(written(form["semantics"]));
  }
  for (const Json& form : all["profiles"]) {
    title("right by another ruling");
    fmt::print("  {}, as in {}:\n", written(form["name"]), written(form["by"]));
    print_block(written(form["semantics"]));
  }
  if (!all["open"].empty()) title("open");
  for (const auto& [question, by] : all["open"].items())
    fmt::print("  {} by {}\n", question, written(by));
  if (!all["notes"].empty()) title("questions and errata");
  for (const Json& note : all["notes"])
    fmt::print("  {} {} ({})    {}\n", written(note["id"]), written(note["title"]),
               written(note["status"]), styled(Stream::out, Style::dim, written(note["at"])));
  if (!all["cases"].empty()) title("cases");
  for (const auto& [name, body] : all["cases"].items()) fmt::print("  {}: {}\n", name, body.dump());
  if (!all["witnesses"].empty()) title("witnesses");
  for (const Json& one : all["witnesses"])
    fmt::print("  {} {}, first {}\n", written(one["count"]), written(one["kind"]),
               written(one["first"]));
  title("versions");
  std::string list;
  for (const SpecText* each : versions) list += fmt::format(" {}", each->since);
  fmt::print(" {}\n", list);
}

ExitCode tell(const SpecArgs& args) {
  if (args.list) return list_versions(args);
  if (args.op.empty())
    throw Error(ErrorKind::usage, "no operator is named")
        .with_help("touchstone spec OP --opset N, or touchstone spec --list");
  const std::vector<const SpecText*> versions = versions_of(args);
  const SpecText& entry = in_force(versions, args);
  if (!args.json.takes_stdout()) print_definition(entry, versions);
  if (args.json) {
    Json object{{"schema", "touchstone.definition/1"}};
    object.update(Json::parse(entry.json));
    write_json(args.json, object);
  }
  return ExitCode::fine;
}

}  // namespace

void add_spec(CLI::App& app, ExitCode& out) {
  auto args = std::make_shared<SpecArgs>();
  CLI::App* command = app.add_subcommand("spec", "Read the definition of an operator");
  command->add_option("op", args->op, "An operator's name")->type_name("OP");
  command
      ->add_option("--opset", args->opset,
                   "The version in force at this opset (the newest if not given)")
      ->check(CLI::PositiveNumber);
  command->add_option("--domain", args->domain, "ai.onnx, ai.onnx.ml ...");
  command->add_flag("--list", args->list, "Every operator version");
  add_json(*command, args->json);
  command->callback([args, &out] { out = guarded(args->json, [&] { return tell(*args); }); });
}

}  // namespace touchstone::command
