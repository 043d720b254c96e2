// Reads the lines of the spec suite. Attributes also get their default and the words that an
// entry's lines use, so that a draw can combine values that no line combines.
#include "fuzz/op/seeds.h"

#include <algorithm>

#include "conformance/suites/suite.h"
#include "core/error.h"
#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

constexpr std::size_t max_values = 64;  // of one attribute or optional input

void add_once(std::vector<std::string>& all, const std::string& value) {
  if (all.size() < max_values && std::find(all.begin(), all.end(), value) == all.end())
    all.push_back(value);
}

void add_defaults(const Signature& signature, Seeds::Version& version) {
  for (const AttributeSpec& attribute : signature.attributes) {
    std::vector<std::string>& values = version.values[std::string(attribute.name)];
    if (!attribute.default_json.empty()) add_once(values, default_of(attribute));
  }
}

}  // namespace

Seeds::Seeds(const std::filesystem::path& folder) {
  for (const Signature& signature : all_signatures())
    add_defaults(signature, versions_[&signature]);
  for (const suites::Case& one : suites::read_lines(folder, "spec").cases) {
    Draft draft = parse_draft(one.line);
    Version& version = versions_[draft.signature];
    if (!draft.refused.empty()) {
      version.refused.push_back(std::move(draft));
      continue;
    }
    for (const auto& [name, value] : draft.attributes) add_once(version.values[name], value);
    for (std::size_t k = 0; k < draft.ports.size(); ++k) {
      if (draft.given(k) && version.ports[k].size() < max_values)
        version.ports[k].push_back(draft.ports[k]);
    }
    version.valid.push_back(std::move(draft));
  }
}

const Seeds::Version& Seeds::of(const Signature& signature) const {
  return versions_.at(&signature);
}

}  // namespace touchstone::fuzz
