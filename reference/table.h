// A table of rows keyed by signature.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "model/schema.h"

namespace touchstone {

// The signature of exactly this version. A generated table that names one that the spec lacks is a
// bug.
inline const Signature* signature_of(std::string_view domain, std::string_view op, int since) {
  const Signature* found = find_signature(domain, op, since);
  if (!found || found->since != since) BUG(std::string(op).c_str());
  return found;
}

template <class Row>
class Table {
 public:
  explicit Table(std::vector<Row> rows) : rows_(std::move(rows)) {
    for (const Row& row : rows_) by_signature_.emplace(row.signature, &row);
  }
  const Row* find(const Signature& signature) const {
    const auto found = by_signature_.find(&signature);
    return found == by_signature_.end() ? nullptr : found->second;
  }

 private:
  std::vector<Row> rows_;
  std::unordered_map<const Signature*, const Row*> by_signature_;
};

}  // namespace touchstone
