// Names of verdicts, and their order of severity.
#include "conformance/judge/verdict.h"

#include <iterator>

#include "core/error.h"

namespace touchstone::judge {
namespace {

struct Row {
  Verdict verdict;
  std::string_view name;
  int gravity;  // 0-9 pass, 10-19 neither, 20-29 harness, 30 and more fail
};

constexpr Row rows[] = {
    {Verdict::exact, "exact", 0},
    {Verdict::within, "within", 1},
    {Verdict::in_set, "in-set", 2},
    {Verdict::profile, "profile", 3},
    {Verdict::waived, "waived", 10},
    {Verdict::open, "open", 11},
    {Verdict::unsupported, "unsupported", 12},
    {Verdict::mistrusted, "mistrusted", 13},
    {Verdict::harness, "harness", 20},
    {Verdict::wrong_value, "wrong-value", 30},
    {Verdict::wrong_shape, "wrong-shape", 31},
    {Verdict::wrong_type, "wrong-type", 32},
    {Verdict::rejected_valid, "rejected-valid", 33},
    {Verdict::accepted_invalid, "accepted-invalid", 34},
    {Verdict::nondeterministic, "nondeterministic", 35},
    {Verdict::wrote_input, "wrote-input", 36},
    {Verdict::unwritten, "unwritten", 37},
    {Verdict::overrun, "overrun", 38},
    {Verdict::timeout, "timeout", 39},
    {Verdict::out_of_memory, "out-of-memory", 40},
    {Verdict::crash, "crash", 41},
};

const Row& row(Verdict verdict) {
  for (const Row& r : rows) {
    if (r.verdict == verdict) return r;
  }
  BUG("a verdict without a row");
}

}  // namespace

std::string_view name(Verdict verdict) { return row(verdict).name; }
bool is_pass(Verdict verdict) { return row(verdict).gravity < 10; }
bool is_fail(Verdict verdict) { return row(verdict).gravity >= 30; }
Verdict worse(Verdict a, Verdict b) { return row(a).gravity >= row(b).gravity ? a : b; }

}  // namespace touchstone::judge
