// Finds the buffers that can be in the caller's memory: those that no tensor over the plan's own
// memory shares.
#include "optimized/plan/caller_memory.h"

#include <algorithm>
#include <set>

#include "core/error.h"

namespace touchstone::optimized {

CallerMemory::CallerMemory(const Builder& builder, const Memory& own, Index least)
    : builder_(builder), own_(own) {
  const AnalyzedGraph& graph = builder.graph();
  std::map<Index, Index> uses;  // outputs in each buffer
  for (const auto& [value, buffer] : builder.outputs) ++uses[buffer];
  std::set<Index> fed;
  const auto fits = [&](Index value, Index buffer) {
    const Index bytes = builder.spans[static_cast<std::size_t>(buffer)].bytes;
    if (bytes < least || builder.constants.contains(buffer)) return false;
    const bool read_as_tensor =
        std::any_of(builder.tensors.begin(), builder.tensors.end(), [&](const auto& other) {
          return other.second == buffer && (other.first != value || !fed.contains(buffer));
        });
    return !read_as_tensor && bytes / least >= static_cast<Index>(users_of(buffer).size());
  };
  for (const auto& [value, buffer] : builder.plain_buffers()) {
    if (graph.value(value).producer == no_value) fed.insert(buffer);
  }
  for (const auto& [value, buffer] : builder.plain_buffers()) {
    if (graph.value(value).producer != no_value || uses.contains(buffer) || !fits(value, buffer))
      continue;
    const Index fed_value = value;
    const std::vector<Step*> users = users_of(buffer);
    if (std::any_of(users.begin(), users.end(),
                    [&](Step* step) { return step->read_in_place(fed_value, *this); }))
      lent_[buffer].users = users;
  }
  for (const auto& [value, buffer] : builder.outputs) {
    const AnalyzedValue& fact = graph.value(value);
    // Steps may write up to the end of a buffer's last float.
    const bool whole = fact.type && packed_bytes(fact.type->element, 1) >= Index{sizeof(float)};
    if (!whole || uses.at(buffer) > 1 || fed.contains(buffer) || !fits(value, buffer)) continue;
    outputs_.emplace(value, buffer);
    lent_[buffer].users = users_of(buffer);
  }
}

std::vector<Step*> CallerMemory::users_of(Index buffer) const {
  std::vector<Step*> users;
  for (std::size_t k = 0; k < builder_.steps.size(); ++k) {
    if (builder_.uses[k].buffers.contains(buffer)) users.push_back(builder_.steps[k].get());
  }
  return users;
}

float* CallerMemory::at(Index buffer) const {
  const auto found = lent_.find(buffer);
  return found == lent_.end() || found->second.at == nullptr ? own_.at(buffer) : found->second.at;
}

void CallerMemory::move(Index value, float* to) {
  const auto found = lent_.find(builder_.plain_buffers().at(value));
  if (found == lent_.end()) BUG("memory is lent for a buffer that does not take it");
  if (found->second.at == to) return;
  found->second.at = to;
  for (Step* const step : found->second.users) step->bind(*this);
}

}  // namespace touchstone::optimized
