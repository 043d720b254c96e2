// Openings of ordinary operators: quotients by zero, floats out of an integer type's range, updates
// of one element, and windows of padding. Structural templates define the others.
#include "reference/openings.h"

#include <algorithm>
#include <cmath>

#include "core/numbers/convert.h"
#include "reference/calls.h"
#include "reference/interpreter.h"
#include "reference/lists.h"
#include "reference/lookup.h"

namespace touchstone::openings {
namespace {

std::vector<Value> ours(const Call& call, std::vector<Value> inputs) {
  return evaluate(*call.signature, call.node->attributes, std::move(inputs),
                  static_cast<Index>(call.outputs.size()));
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

bool is_like(const std::vector<Value>& observed, const Tensor& own, std::size_t output = 0) {
  return output < observed.size() && observed[output].is_tensor() &&
         observed[output].tensor().type() == own.type() &&
         observed[output].tensor().shape() == own.shape();
}

// Takes the elements selected by `open` from the target's answer and the rest from ours. Applies to
// all outputs that have the first one's shape.
template <class F>
Opened with_theirs(std::vector<Value> outputs, const std::vector<Value>& observed, F&& open) {
  const Shape shape = outputs[0].tensor().shape();
  Opened made;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    made.open.push_back(0);
    if (!outputs[j].is_tensor() || outputs[j].tensor().shape() != shape) continue;
    const Tensor own = outputs[j].tensor();
    if (!is_like(observed, own, j)) continue;
    Tensor mixed(own.type(), shape);
    for (Index k = 0; k < own.size(); ++k) {
      const bool theirs = open(k);
      copy_element(theirs ? observed[j].tensor() : own, k, mixed, k);
      made.open.back() += theirs;
    }
    outputs[j] = std::move(mixed);
  }
  made.outputs = std::move(outputs);
  return made;
}

bool is_same_element(const Tensor& a, Index at, const Tensor& b, Index there) {
  if (a.type() == Type::string) return a.data<std::string>()[at] == b.data<std::string>()[there];
  return code_at(a, at) == code_at(b, there);
}

// Our answer, with the target's element where it equals one of several updates. `position` returns
// the output element that update k writes.
template <class F>
Opened any_update(const Call& call, const std::vector<Value>& observed, F&& position) {
  std::vector<Value> outputs = ours(call, call.inputs);
  const bool reduced = facts_of(call).text("reduction", "none") != "none";
  if (reduced || !is_like(observed, outputs[0].tensor())) return {std::move(outputs), {0}};
  const Tensor& theirs = observed[0].tensor();
  const Tensor& updates = call.inputs[2].tensor();
  std::vector<Index> written(static_cast<std::size_t>(theirs.size()), 0);
  std::vector<bool> matched(written.size());
  for (Index k = 0; k < updates.size(); ++k) {
    const Index at = position(k);
    ++written[static_cast<std::size_t>(at)];
    if (is_same_element(updates, k, theirs, at)) matched[static_cast<std::size_t>(at)] = true;
  }
  return with_theirs(std::move(outputs), observed, [&](Index k) {
    return written[static_cast<std::size_t>(k)] > 1 && matched[static_cast<std::size_t>(k)];
  });
}

}  // namespace

Opened updates_of_one_element(Call& call, const std::vector<Value>& observed) {
  const Tensor& indices = call.inputs[1].tensor();
  const Shape& data = call.inputs[0].tensor().shape();
  const Index axis = wrap(facts_of(call).integer("axis"), data.size());
  return any_update(call, observed, [&](Index k) {
    IndexVector at = unravel(k, indices.shape());
    at[axis] = wrap(static_cast<Index>(number_at(indices, k)), data[axis]);
    return ravel(at, data);
  });
}

Opened updates_of_one_slice(Call& call, const std::vector<Value>& observed) {
  const Tensor& indices = call.inputs[1].tensor();
  const Shape& data = call.inputs[0].tensor().shape();
  const Index depth = indices.shape()[indices.shape().size() - 1];
  const Shape rows = head(data, depth);
  const Index slice = count(tail(data, depth));
  return any_update(call, observed, [&](Index k) {
    IndexVector at(depth, 0);
    for (Index m = 0; m < depth; ++m)
      at[m] = wrap(static_cast<Index>(number_at(indices, k / slice * depth + m)), rows[m]);
    return ravel(at, rows) * slice + k % slice;
  });
}

Opened quotients_by_zero(Call& call, const std::vector<Value>& observed) {
  const Tensor& dividend = call.inputs[0].tensor();
  const Tensor& divisor = call.inputs[1].tensor();
  if (!facts(divisor.type()).is_integer) return {ours(call, call.inputs), {0}};
  // Finds zero divisors under broadcasting: the elements where 1 divided by the marked divisor (1
  // for zero, else 2) equals 1 divided by 1.
  const auto one = [](long double) { return 1.0L; };
  const Value ones = mapped(dividend, one);
  const std::vector<Value> marked =
      ours(call, {ones, mapped(divisor, [](long double x) { return x == 0 ? 1.0L : 2.0L; })});
  const std::vector<Value> equal = ours(call, {ones, mapped(divisor, one)});
  return with_theirs(ours(call, {call.inputs[0],
                                 mapped(divisor, [](long double x) { return x == 0 ? 1.0L : x; })}),
                     observed, [&](Index k) {
                       return code_at(marked[0].tensor(), k) == code_at(equal[0].tensor(), k);
                     });
}

Opened floats_that_do_not_fit(Call& call, const std::vector<Value>& observed) {
  std::vector<Value> outputs = ours(call, call.inputs);
  const Tensor& from = call.inputs[0].tensor();
  const Type to = outputs[0].tensor().type();
  if (!facts(from.type()).is_float || !facts(to).is_integer) return {std::move(outputs), {0}};
  return with_theirs(std::move(outputs), observed,
                     [&](Index k) { return !fits(number_at(from, k), to); });
}

Opened windows_of_padding(Call& call, const std::vector<Value>& observed) {
  // Pools a tensor of ones: a window with an element has the maximum and the mean 1, or a mean
  // below 1 if padding counts.
  const auto one = [](long double) { return 1.0L; };
  const std::vector<Value> marked = ours(call, {mapped(call.inputs[0].tensor(), one)});
  const Tensor& of_ones = marked[0].tensor();
  const bool whole = facts(of_ones.type()).is_integer;
  return with_theirs(ours(call, call.inputs), observed, [&](Index k) {
    const long double x = number_at(of_ones, k);
    return whole ? x != 1 : !std::isfinite(x);
  });
}

}  // namespace touchstone::openings
