// The table of transformations, and recipes.
#include "fuzz/meta/transformation.h"

#include <algorithm>

#include "core/budget.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/scratch.h"
#include "fuzz/meta/rewrites.h"
#include "fuzz/runner.h"
#include "model/model.h"

namespace touchstone::fuzz {
namespace {

constexpr int max_draws = 24;
constexpr Index plain_one_in = 3;  // of those without parameters, which change least

std::vector<std::string> one_way(const Case&) { return {""}; }
std::vector<std::string> behind(const Case&) { return {"inputs", "values"}; }
std::vector<std::string> dead(const Case&) { return {"readers", "copies"}; }
std::vector<std::string> outputs(const Case&) { return {"hidden", "omitted"}; }
std::vector<std::string> functions(const Case&) { return {"nodes", "whole"}; }
std::vector<std::string> graph_levels(const Case&) { return {"basic", "extended", "all"}; }
std::vector<std::string> session_levels(const Case&) { return {"none", "basic", "extended"}; }
std::vector<std::string> thread_counts(const Case&) { return {"2"}; }
std::vector<std::string> instruction_sets(const Case&) { return {"sse41", "avx2", "avx512"}; }

void repeat(Variant& variant, const std::string&) {
  std::vector<Feeds>& feeds = variant.is.feeds;
  const std::size_t count = feeds.size();
  feeds.reserve(2 * count);
  for (std::size_t k = 0; k < count; ++k) feeds.push_back(feeds[k]);
  variant.same_bits = SameBits::everywhere;
  variant.back = [count](std::vector<Feeds> all) {
    return std::vector<Feeds>(
        all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end());
  };
}

void open_again(Variant& variant, const std::string&) { variant.same_bits = SameBits::everywhere; }

void reverse_order(Variant& variant, const std::string&) {
  if (variant.is.feeds.size() < 2) throw Error(ErrorKind::unsupported, "there is one run");
  std::reverse(variant.is.feeds.begin(), variant.is.feeds.end());
  variant.back = [](std::vector<Feeds> all) {
    std::reverse(all.begin(), all.end());
    return all;
  };
}

void save_and_load(Variant& variant, const std::string&) {
  const Scratch scratch;
  save_model(variant.is.model, scratch.path() / "model.onnx");
  variant.is.model = load_model(scratch.path() / "model.onnx", limits_of_case());
  variant.same_bits = SameBits::everywhere;
}

void move_weights_out(Variant& variant, const std::string&) {
  if (variant.is.model.graph.initializers.empty())
    throw Error(ErrorKind::unsupported, "there are no weights");
  variant.external = true;
  variant.same_bits = SameBits::everywhere;
}

const std::vector<Transformation> table{
    {"repeat", "All sets of feeds run twice in one session.", false, false, one_way, repeat},
    {"session", "A second session runs the same model.", false, false, one_way, open_again},
    {"order", "The sets of feeds run in the opposite order.", false, false, one_way, reverse_order},
    {"save", "The model is written to a file and read again.", false, false, one_way,
     save_and_load},
    {"external", "The weights are external data.", false, false, one_way, move_weights_out},
    {"identity", "Each input, or each value of a node, passes through a copy.", false, true, behind,
     insert_identities},
    {"dead", "Nodes are added whose values no node reads.", false, true, dead, add_dead_nodes},
    {"outputs", "Hidden values are outputs, or omitted outputs have names.", false, true, outputs,
     add_outputs},
    {"function", "Each node, or the whole graph, is a call of a function of the model.", false,
     true, functions, make_functions},
    {"body", "Nodes are calls of the standard's function bodies.", false, false, one_way,
     call_standard_bodies},
    {"opset-up", "The model is converted to a newer opset.", false, false, opsets_above,
     convert_opset},
    {"opset-down", "The model is converted to an older opset.", false, false, opsets_below,
     convert_opset},
    {"optimized", "Graph passes of this level have rewritten the model.", false, true, graph_levels,
     optimize_to},
    {"pass", "This pass or pattern alone has rewritten the model.", false, true, passes_that_change,
     run_one_pass},
    {"optimized-without", "All passes but this one have rewritten the model.", false, true,
     passes_that_change, leave_out_pass},
    {"split", "The batch runs in two parts.", false, false, ways_to_split, split_batch},
    {"threads", "The session has so many threads.", true, true, thread_counts,
     [](Variant& variant, const std::string& value) { variant.options = "threads=" + value; }},
    {"isa", "Kernels of this instruction set run.", true, true, instruction_sets,
     [](Variant& variant, const std::string& value) { variant.options = "isa=" + value; }},
    {"level", "The session's passes are those of this level.", true, true, session_levels,
     [](Variant& variant, const std::string& value) { variant.options = "level=" + value; }},
    {"without", "The session runs without this pass or pattern.", true, true, passes_that_change,
     [](Variant& variant, const std::string& value) { variant.options = "without=" + value; }},
};

// Returns the name and the parameter of "opset-up=21".
std::pair<std::string, std::string> parts_of(const std::string& recipe) {
  const std::size_t at = recipe.find('=');
  if (at == std::string::npos) return {recipe, ""};
  return {recipe.substr(0, at), recipe.substr(at + 1)};
}

const Transformation& named(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Transformation& one : table) {
    if (one.name == name) return one;
    known.push_back(one.name);
  }
  throw Error(ErrorKind::usage, "there is no transformation '" + name + "'")
      .with_help(did_you_mean(name, known) + "docs/fuzzing.md lists them");
}

}  // namespace

const std::vector<Transformation>& all_transformations() { return table; }

Variant transformed(const Case& one) {
  const auto [name, parameter] = parts_of(one.transformation);
  const Transformation& transformation = named(name);
  const Budget budget(limits_of_case());
  const LimitsScope scope(limits_of_case());
  Variant variant{one};
  variant.is.transformation.clear();
  require_valid(variant.is.model, limits_of_case());
  transformation.apply(variant, parameter);
  return variant;
}

std::string label_of(const std::string& recipe) {
  const auto [name, parameter] = parts_of(recipe);
  return named(name).names_parameter ? recipe : name;
}

std::string_view doc_of_recipe(const std::string& recipe) {
  return named(parts_of(recipe).first).doc;
}

std::string draw_transformation(const Case& one, bool fast, Random& random) {
  for (int k = 0; k < max_draws; ++k) {
    const Transformation& drawn = random.pick(table);
    const bool is_plain = drawn.parameters == one_way;
    if ((drawn.of_fast && !fast) || (is_plain && !random.one_in(plain_one_in))) continue;
    try {
      const std::vector<std::string> parameters = drawn.parameters(one);
      if (parameters.empty()) continue;
      const std::string& parameter = random.pick(parameters);
      Case tried = one;
      tried.transformation = std::string(drawn.name) + (parameter.empty() ? "" : "=") + parameter;
      (void)transformed(tried);
      return tried.transformation;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::internal) throw;
    }
  }
  return "";
}

}  // namespace touchstone::fuzz
