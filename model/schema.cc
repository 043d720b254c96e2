// Finds signatures in the generated table, which is sorted by domain, operator and version.
#include "model/schema.h"

#include <algorithm>
#include <map>
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

// Called for each node that is bound, so the table is scanned once.
Index newest_opset(std::string_view domain) {
  static const std::map<std::string_view, Index> newest = [] {
    std::map<std::string_view, Index> found;
    for (const Signature& version : all_signatures()) {
      Index& most = found[version.domain];
      most = std::max<Index>(most, version.since);
    }
    return found;
  }();
  const auto found = newest.find(domain);
  return found == newest.end() ? 0 : found->second;
}

}  // namespace touchstone
