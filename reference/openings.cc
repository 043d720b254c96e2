// Openings that no template of an operator holds: quotients by zero, floats that an integer type
// cannot hold, updates of one element.
#include "reference/openings.h"

#include <algorithm>
#include <cmath>

#include "core/numbers/convert.h"
#include "reference/interpreter.h"
#include "reference/lists.h"

namespace touchstone::openings {
namespace {

std::vector<Value> ours(const Call& call, std::vector<Value> inputs) {
  return evaluate(*call.signature, call.node->attributes, std::move(inputs), static_cast<Index>(call.outputs.size()));
}

template <class F>
Tensor mapped(const Tensor& from, F&& f) {
  Tensor out(from.type(), from.shape());
  for (Index k = 0; k < from.size(); ++k) set_number(out, k, f(number_at(from, k)));
  return out;
}

bool fits(long double x, Type integer) {
  const TypeFacts& of = facts(integer);
  const long double end = std::ldexp(1.0L, of.is_signed ? of.bits - 1 : of.bits);
  const long double whole = std::trunc(x);  // NaN and infinities fit nowhere
  return whole >= (of.is_signed ? -end : 0) && whole < end;
}

// The elements for which `open` says so, from what the target answered; the rest is ours.
template <class F>
Opened with_theirs(std::vector<Value> outputs, const std::vector<Value>& observed, F&& open) {
  Tensor mixed(outputs[0].tensor().type(), outputs[0].tensor().shape());
  const Tensor& own = outputs[0].tensor();
  const bool alike = !observed.empty() && observed[0].is_tensor() && observed[0].tensor().type() == own.type() &&
                     observed[0].tensor().shape() == own.shape();
  Index count = 0;
  for (Index k = 0; k < own.size(); ++k) {
    const bool theirs = alike && open(k);
    set_code(mixed, k, code_at(theirs ? observed[0].tensor() : own, k));
    count += theirs;
  }
  outputs[0] = std::move(mixed);
  return {std::move(outputs), {count}};
}

void copy_element(const Tensor& from, Index at, Tensor& to, Index there) {
  if (from.type() == Type::string)
    to.data<std::string>()[there] = from.data<std::string>()[at];
  else
    set_code(to, there, code_at(from, at));
}

bool is_same_element(const Tensor& a, Index at, const Tensor& b, Index there) {
  if (a.type() == Type::string) return a.data<std::string>()[at] == b.data<std::string>()[there];
  return code_at(a, at) == code_at(b, there);
}

// Ours, with what the target answered where that is one of several updates of an element. `target`:
// where update k goes.
template <class F>
Opened any_update(const Call& call, const std::vector<Value>& observed, F&& target) {
  std::vector<Value> outputs = ours(call, call.inputs);
  const auto reduction = call.node->attributes.find("reduction");
  if (reduction != call.node->attributes.end() &&
      std::get<std::string>(reduction->second.is) != "none")
    return {std::move(outputs), {0}};
  const Tensor& own = outputs[0].tensor();
  if (observed.empty() || !observed[0].is_tensor() || observed[0].tensor().type() != own.type() ||
      observed[0].tensor().shape() != own.shape())
    return {std::move(outputs), {0}};
  const Tensor& theirs = observed[0].tensor();
  const Tensor& updates = call.inputs[2].tensor();
  std::vector<Index> updated(static_cast<std::size_t>(own.size()), 0);
  std::vector<bool> matched(updated.size());
  for (Index k = 0; k < updates.size(); ++k) {
    const auto at = static_cast<std::size_t>(target(k));
    ++updated[at];
    if (is_same_element(updates, k, theirs, static_cast<Index>(at))) matched[at] = true;
  }
  Tensor mixed(own.type(), own.shape());
  Index open = 0;
  for (Index k = 0; k < own.size(); ++k) {
    const bool any =
        updated[static_cast<std::size_t>(k)] > 1 && matched[static_cast<std::size_t>(k)];
    copy_element(any ? theirs : own, k, mixed, k);
    open += any;
  }
  outputs[0] = std::move(mixed);
  return {std::move(outputs), {open}};
}

Index from_the_end(Index index, Index size) { return index < 0 ? index + size : index; }

}  // namespace

Opened updates_of_one_element(Call& call, const std::vector<Value>& observed) {
  const Tensor& indices = call.inputs[1].tensor();
  const Shape& data = call.inputs[0].tensor().shape();
  const auto given = call.node->attributes.find("axis");
  const Index axis = from_the_end(
      given == call.node->attributes.end() ? 0 : std::get<Index>(given->second.is), data.size());
  return any_update(call, observed, [&](Index k) {
    Point at = unravel(k, indices.shape());
    at[axis] = from_the_end(static_cast<Index>(number_at(indices, k)), data[axis]);
    return ravel(at, data);
  });
}

Opened updates_of_one_slice(Call& call, const std::vector<Value>& observed) {
  const Tensor& indices = call.inputs[1].tensor();
  const Shape& data = call.inputs[0].tensor().shape();
  const Index depth = indices.shape()[indices.shape().size() - 1];
  Index slice = 1;  // elements of one
  for (Index d = depth; d < data.size(); ++d) slice *= data[d];
  return any_update(call, observed, [&](Index k) {
    Index at = 0;
    for (Index m = 0; m < depth; ++m)
      at = at * data[m] +
           from_the_end(static_cast<Index>(number_at(indices, k / slice * depth + m)), data[m]);
    return at * slice + k % slice;
  });
}

Opened quotients_by_zero(Call& call, const std::vector<Value>& observed) {
  const Tensor& dividend = call.inputs[0].tensor();
  const Tensor& divisor = call.inputs[1].tensor();
  if (!facts(divisor.type()).is_integer) return {ours(call, call.inputs), {0}};
  // Where the divisor is zero, however it is broadcast: where 1 by it (2 for any other) gives what 1 by 1 gives.
  const auto one = [](long double) { return 1.0L; };
  const Value ones = mapped(dividend, one);
  const std::vector<Value> marked = ours(call, {ones, mapped(divisor, [](long double x) { return x == 0 ? 1.0L : 2.0L; })});
  const std::vector<Value> equal = ours(call, {ones, mapped(divisor, one)});
  return with_theirs(ours(call, {call.inputs[0], mapped(divisor, [](long double x) { return x == 0 ? 1.0L : x; })}), observed,
                     [&](Index k) { return code_at(marked[0].tensor(), k) == code_at(equal[0].tensor(), k); });
}

Opened floats_that_do_not_fit(Call& call, const std::vector<Value>& observed) {
  std::vector<Value> outputs = ours(call, call.inputs);
  const Tensor& from = call.inputs[0].tensor();
  const Type to = outputs[0].tensor().type();
  if (!facts(from.type()).is_float || !facts(to).is_integer) return {std::move(outputs), {0}};
  return with_theirs(std::move(outputs), observed, [&](Index k) { return !fits(number_at(from, k), to); });
}

}  // namespace touchstone::openings
