// Finds signatures in the generated table, which is sorted by domain, operator and version.
#include "model/schema.h"

#include <algorithm>
#include <tuple>

namespace touchstone {

extern const Signature signature_table[];
extern const std::size_t signature_count;

namespace {

using Name = std::pair<std::string_view, std::string_view>;

std::span<const Signature> versions_of(std::string_view domain, std::string_view op) {
  const auto less = [](const Signature& a, const Name& b) { return Name(a.domain, a.op) < b; };
  const auto greater = [](const Name& a, const Signature& b) { return a < Name(b.domain, b.op); };
  const std::span<const Signature> all = all_signatures();
  const Name name(domain, op);
  const auto first = std::lower_bound(all.begin(), all.end(), name, less);
  const auto last = std::upper_bound(first, all.end(), name, greater);
  return all.subspan(first - all.begin(), last - first);
}

}  // namespace

std::span<const Signature> all_signatures() { return {signature_table, signature_count}; }

const Signature* find_signature(std::string_view domain, std::string_view op, Index opset) {
  const Signature* found = nullptr;
  for (const Signature& version : versions_of(domain, op)) {
    if (version.since <= opset) found = &version;
  }
  return found;
}

bool knows_operator(std::string_view domain, std::string_view op) {
  return !versions_of(domain, op).empty();
}

Index newest_opset(std::string_view domain) {
  Index newest = 0;
  for (const Signature& version : all_signatures()) {
    if (version.domain == domain) newest = std::max<Index>(newest, version.since);
  }
  return newest;
}

}  // namespace touchstone
