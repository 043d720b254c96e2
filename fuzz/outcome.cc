// Outcomes as JSON, and their signatures.
#include "fuzz/outcome.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "conformance/results.h"
#include "conformance/suites/line.h"
#include "core/error.h"

namespace touchstone::fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_frames = 3;
constexpr std::size_t longest_pattern = 200;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Returns the kind of an element from its text: "number", "zero", "nan", "infinity", "text".
std::string kind_of_element(const std::string& text) {
  const std::string bare = text.starts_with('-') ? text.substr(1) : text;
  if (bare.starts_with("nan")) return "nan";
  if (bare.starts_with("inf")) return "infinity";
  if (bare.starts_with('"')) return "text";
  if (bare.starts_with("0 ")) return "zero";
  return "number";
}

// Returns an attribute as a signature shows it, "" if it has its default: a number depends on the
// case, a string selects a definition.
std::string shown_attribute(const Node& node, const std::string& name, const Attribute& attribute) {
  const auto& specs =
      node.signature ? node.signature->attributes : std::span<const AttributeSpec>{};
  const auto spec = std::find_if(specs.begin(), specs.end(),
                                 [&](const AttributeSpec& one) { return one.name == name; });
  const std::string fallback(spec == specs.end() ? "" : spec->default_json);
  if (const auto* text = std::get_if<std::string>(&attribute.is))
    return Json(*text).dump() == fallback ? "" : name + "=" + *text;
  const Json known = Json::parse(fallback, nullptr, false);
  if (const auto* number = std::get_if<Index>(&attribute.is))
    return known.is_number() && known.get<Index>() == *number ? "" : name;
  if (const auto* number = std::get_if<float>(&attribute.is))
    return known.is_number() && known.get<float>() == *number ? "" : name;
  return name;
}

}  // namespace

bool Outcome::is_finding() const {
  if (verdict == no_case || verdict == over_limit || verdict.empty()) return false;
  const conformance::Standing how = conformance::standing(verdict);
  return how == conformance::Standing::fail || how == conformance::Standing::harness;
}

Json to_json(const Outcome& outcome) {
  Json object{{"verdict", outcome.verdict}, {"text", outcome.text}, {"covered", outcome.covered}};
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) object[key] = text;
  };
  put("detail", outcome.detail);
  put("node", outcome.node);
  put("pattern", outcome.pattern);
  put("frames", outcome.frames);
  put("place", outcome.place);
  put("refused", outcome.refused);
  if (!outcome.types.empty()) object["types"] = outcome.types;
  if (!outcome.attributes.empty()) object["attributes"] = outcome.attributes;
  if (!outcome.element.output.empty()) {
    object["element"] = {{"data_set", outcome.element.data_set},
                         {"output", outcome.element.output},
                         {"where", outcome.element.where},
                         {"actual", outcome.element.actual},
                         {"expected", outcome.element.expected}};
  }
  return object;
}

Outcome outcome_of(const Json& object) {
  using Strings = std::vector<std::string>;
  Outcome made;
  made.verdict = object.value("verdict", "");
  made.detail = object.value("detail", "");
  made.node = object.value("node", "");
  made.pattern = object.value("pattern", "");
  made.frames = object.value("frames", "");
  made.place = object.value("place", "");
  made.text = object.value("text", "");
  made.refused = object.value("refused", "");
  made.types = object.value("types", Strings{});
  made.attributes = object.value("attributes", Strings{});
  made.covered = object.value("covered", Strings{});
  if (object.contains("element")) {
    const Json& element = object["element"];
    made.element = {element.value("data_set", std::size_t{0}), element.value("output", ""),
                    element.value("where", Index{-1}), element.value("actual", ""),
                    element.value("expected", "")};
  }
  return made;
}

void describe_node(const Node& node, const std::vector<Value>& inputs, Outcome& outcome) {
  outcome.node = node.domain.empty() ? node.op : node.domain + "." + node.op;
  if (node.signature) {
    outcome.node += "-" + std::to_string(node.signature->since);
    outcome.place = node.signature->source;
  }
  outcome.types.clear();
  for (const Value& input : inputs) {
    if (input.absent()) continue;
    const std::string type =
        input.is_tensor() ? std::string(name(input.tensor().type())) : text(input.type());
    outcome.types.push_back(type);
  }
  outcome.types.erase(std::unique(outcome.types.begin(), outcome.types.end()),
                      outcome.types.end());  // of a variadic input
  outcome.attributes.clear();
  for (const auto& [name, attribute] : node.attributes) {
    std::string shown = shown_attribute(node, name, attribute);
    if (!shown.empty()) outcome.attributes.push_back(std::move(shown));
  }
}

std::string pattern_of(const judge::NodeJudgement& judgement) {
  for (std::size_t k = 0; k < judgement.outputs.size(); ++k) {
    const judge::Comparison& one = judgement.outputs[k];
    if (!judge::is_fail(one.verdict)) continue;
    const std::string place = "output " + std::to_string(k) + ": ";
    if (one.verdict != judge::Verdict::wrong_value)
      return place + std::string(judge::name(one.verdict));
    if (one.where < 0) return place + masked(one.detail);
    return place + kind_of_element(one.actual) + " for " + kind_of_element(one.expected);
  }
  return masked(judgement.detail);
}

std::string masked(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size() && out.size() < longest_pattern;) {
    const char before = k == 0 ? ' ' : text[k - 1];
    const std::size_t quote =
        text[k] == '\'' && !is_letter(before) ? text.find('\'', k + 1) : std::string_view::npos;
    if (quote != std::string_view::npos) {
      out += "'_'";
      k = quote + 1;
    } else if (is_digit(text[k]) && !is_letter(before) && !is_digit(before)) {
      while (k < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '.' ||
              ((text[k] == '-' || text[k] == '+') && std::tolower(text[k - 1]) == 'e')))
        ++k;
      if (out.ends_with("#,")) {  // of an index with several parts
        out.pop_back();
      } else {
        out += '#';
      }
    } else if (text[k] == '/' && k + 1 < text.size() && is_letter(text[k + 1])) {
      const std::size_t end = std::min(text.find_first_of(" \n:()'\"", k), text.size());
      out += text.substr(text.rfind('/', end - 1), end - text.rfind('/', end - 1));
      k = end;
    } else {
      out += text[k] == '\n' ? ' ' : text[k];
      ++k;
    }
  }
  return out;
}

std::string frames_in(std::string_view printed) {
  constexpr std::string_view heading = "frames:\n";
  std::size_t at = printed.rfind(heading);
  if (at == std::string_view::npos) return "";
  at += heading.size();
  std::string found;
  for (std::size_t k = 0; k < max_frames && at < printed.size(); ++k) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string_view line = printed.substr(at, end - at);  // "/a/b(name+0x12) [0x...]"
    const std::size_t open = line.find('('), close = line.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const std::size_t slash = line.rfind('/', open);
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    found += (found.empty() ? "" : " < ") + std::string(line.substr(begin, open - begin)) +
             std::string(line.substr(open + 1, close - open - 1));
    at = end + 1;
  }
  return found;
}

std::string signature(const std::string& target, const Outcome& outcome) {
  std::string text = target + "\n" + outcome.verdict + "\n" + outcome.node + "\n";
  for (const std::string& type : outcome.types) text += type + " ";
  text += "\n";
  for (const std::string& attribute : outcome.attributes) text += attribute + " ";
  return text + "\n" + outcome.pattern + "\n" + outcome.frames;
}

std::string hash_of_signature(const std::string& signature) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::uint64_t hash = suites::hash_of_line(signature), k = 0; k < 16; ++k, hash <<= 4U)
    text += digits[hash >> 60U];
  return text;
}

bool same_fault(const Outcome& a, const Outcome& b) {
  return a.verdict == b.verdict && a.node == b.node && a.pattern == b.pattern &&
         a.frames == b.frames;
}

}  // namespace touchstone::fuzz
