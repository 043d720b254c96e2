// Runs mutants on one case. For a fault in the inputs, the reference's kernel runs on the faulty
// inputs, and the judge sees its outputs with the right inputs. A fault in the outputs changes the
// right outputs. A mutant that ends in an error has refused a valid case, so it is killed.
#include "tests/lines/killed_mutants.h"

#include <algorithm>

#include "conformance/judge/judge.h"
#include "conformance/single_node.h"
#include "core/error.h"
#include "reference/calls.h"
#include "reference/registry.h"

namespace touchstone {
namespace {

std::vector<Value> answer(const Given& given) {
  Call call = call_of(given.node, given.inputs);
  find_entry(*given.node.signature)->native(call);
  return std::move(call.outputs);
}

bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
  const auto equal = [](const Value& x, const Value& y) {
    if (x.absent() || y.absent()) return x.absent() == y.absent();
    return judge::is_pass(judge::judge_exact(x, y, judge::ZeroSign::compared).verdict);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

bool wrong(const Given& right, const std::vector<Value>& expected,
           const std::vector<Value>& outputs) {
  return !same(expected, outputs) &&
         judge::is_fail(judge::judge_node(right.node, right.inputs, outputs).verdict);
}

bool refused(const Given& right, const std::vector<Value>& expected, const Given& faulty) {
  std::vector<Value> outputs;
  try {
    outputs = answer(faulty);
  } catch (const Error&) {
    return true;
  }
  return wrong(right, expected, outputs);
}

}  // namespace

KilledMutants find_killed_mutants(const Given& right, const std::set<std::string>& known) {
  KilledMutants found;
  if (!find_entry(*right.node.signature) || !conformance::why_not_judged(right.node).empty())
    return found;
  const std::vector<Value> expected = answer(right);
  found.verdict = judge::judge_node(right.node, right.inputs, expected).verdict;
  if (!judge::is_pass(found.verdict)) return found;
  for (const Fault& fault : faults_of(right)) {
    if (known.contains(fault.name)) continue;
    const std::optional<Given> faulty = fault.of(right);
    if (faulty && refused(right, expected, *faulty)) found.faults.push_back(fault.name);
  }
  for (const AnswerFault& fault : answer_faults_of(expected)) {
    if (known.contains(fault.name)) continue;
    std::vector<Value> answered = expected;
    if (fault.change(answered) && wrong(right, expected, answered))
      found.faults.push_back(fault.name);
  }
  return found;
}

}  // namespace touchstone
