// Checks the shapes of a call of attention against the rules of its definition.
#include "optimized/lowering/attention_extents.h"

#include <algorithm>

#include "core/checked.h"

namespace touchstone::optimized::attention {
namespace {

constexpr Index longest = Index{1} << 30;

}  // namespace

std::optional<Extents> extents_of(const CallShapes& call) {
  const Shape &q = call.q, &k = call.k, &v = call.v;
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size())
    return std::nullopt;
  Extents x;
  x.is_flat = q.size() == 3;
  if (x.is_flat && (call.q_heads <= 0 || call.kv_heads <= 0)) return std::nullopt;
  x.batch = q[0];
  x.heads = x.is_flat ? call.q_heads : q[1];
  x.kv_heads = x.is_flat ? call.kv_heads : k[1];
  x.queries = q[q.size() - 2];
  x.steps = k[k.size() - 2];
  if (x.heads <= 0 || x.kv_heads <= 0 || x.heads % x.kv_heads != 0) return std::nullopt;
  const Index own = x.is_flat ? x.kv_heads : 1, asked = x.is_flat ? x.heads : 1;
  if (q.back() % asked != 0 || k.back() % own != 0 || v.back() % own != 0) return std::nullopt;
  x.depth = q.back() / asked;
  x.width = v.back() / own;
  if (!x.is_flat && v[1] != x.kv_heads) return std::nullopt;
  if (k[0] != x.batch || v[0] != x.batch || v[v.size() - 2] != x.steps) return std::nullopt;
  if (k.back() / own != x.depth) return std::nullopt;
  if ((call.past_key == nullptr) != (call.past_value == nullptr)) return std::nullopt;
  if (call.past_key != nullptr) {
    if (call.past_key->size() != 4) return std::nullopt;
    x.past = (*call.past_key)[2];
    if (*call.past_key != Shape{x.batch, x.kv_heads, x.past, x.depth}) return std::nullopt;
    if (*call.past_value != Shape{x.batch, x.kv_heads, x.past, x.width}) return std::nullopt;
  }
  x.total = add(x.past, x.steps);
  for (const Index extent : {x.batch, x.queries, x.total, x.depth, x.width}) {
    if (extent == 0) return std::nullopt;
  }
  if (std::max({x.queries, x.total, x.depth, x.width}) >= longest) return std::nullopt;
  return x;
}

}  // namespace touchstone::optimized::attention
