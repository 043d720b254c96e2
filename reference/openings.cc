// Openings that no template of an operator holds: quotients by zero, floats that an integer type cannot hold.
#include "reference/openings.h"

#include <algorithm>
#include <cmath>

#include "core/numbers/convert.h"
#include "reference/interpreter.h"

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

}  // namespace

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
