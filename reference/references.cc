// Substitution of attribute references. See reference/references.h.
#include "reference/references.h"

#include "model/rules.h"

namespace touchstone {

bool has_references(const Node& node) {
  for (const auto& [name, attribute] : node.attributes) {
    if (!attribute.reference.empty()) return true;
  }
  return false;
}

Node bound(const Node& node, const Attributes& given) {
  Node copy = node;
  for (auto at = copy.attributes.begin(); at != copy.attributes.end();) {
    const std::string& reference = at->second.reference;
    if (reference.empty()) {
      ++at;
      continue;
    }
    const auto found = given.find(reference);
    if (found == given.end()) {
      at = copy.attributes.erase(at);
    } else if (found->second.is.index() != at->second.is.index()) {
      throw breach("model/attribute-kind", "attribute '" + at->first + "' refers to '" + reference +
                                               "', and the caller gives that as another kind");
    } else {
      at++->second = found->second;
    }
  }
  return copy;
}

Attributes attributes_of_call(const Node& node) {
  Attributes attributes = node.attributes;
  for (const auto& [name, standard] : node.function->default_attributes)
    attributes.emplace(name, standard);
  return attributes;
}

}  // namespace touchstone
