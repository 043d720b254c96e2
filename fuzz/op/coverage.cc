// Numbers far from zero and long texts count by kind, so that the number of marks is bounded.
#include "fuzz/op/coverage.h"

#include "fuzz/op/version_facts.h"

namespace touchstone::fuzz {
namespace {

constexpr Index max_shown = 16;       // integers beyond count as "large"
constexpr std::size_t max_text = 24;  // longer texts count as "long"

std::string type_of(const DraftValue& value) {
  if (value.is_tensor()) return std::string(name(value.type));
  return value.container.substr(0, value.container.find('{'));
}

std::string shown(const std::string& written) {
  if (const auto integer = integer_of(written))
    return *integer > max_shown ? "large" : *integer < -max_shown ? "-large" : written;
  if (const auto items = split_list(written)) return "list of " + std::to_string(items->size());
  return written.size() > max_text ? "long" : written;
}

}  // namespace

std::vector<std::string> marks_of(const Draft& draft) {
  const Signature& signature = *draft.signature;
  const std::string name = name_of(signature);
  std::vector<std::string> marks{"version/" + name};
  if (!draft.refused.empty()) {
    marks.push_back("rule/" + name + "/" + draft.refused.substr(draft.refused.rfind('/') + 1));
    return marks;
  }
  for (std::size_t k = 0; k < draft.ports.size(); ++k) {
    const ParameterSpec* port = port_spec(signature, k);
    if (port && draft.given(k) && constraint_of(signature, port->type))
      marks.push_back("type/" + name + "/" + std::string(port->type) + "=" +
                      type_of(draft.ports[k].value));
  }
  for (const AttributeSpec& attribute : signature.attributes) {
    const auto at = draft.attributes.find(std::string(attribute.name));
    marks.push_back("attribute/" + name + "/" + std::string(attribute.name) + "=" +
                    (at == draft.attributes.end() ? "default" : shown(at->second)));
  }
  return marks;
}

}  // namespace touchstone::fuzz
