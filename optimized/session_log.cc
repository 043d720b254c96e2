// Writes messages of a session about its plans.
#include "optimized/session_log.h"

#include "core/log.h"

namespace touchstone::optimized {
namespace {

constexpr const char* category = "session";

}  // namespace

void log_slow_nodes(const Plan& plan) {
  if (!logs(Severity::info)) return;
  for (const NodePlacement& row : plan.kernels()) {
    if (row.grade != KernelGrade::reference && row.grade != KernelGrade::generic) continue;
    log(Severity::info, category,
        "slow: " + row.node + " runs on the " + std::string(name(row.grade)) + " kernel" +
            (row.why.empty() ? "" : ": " + row.why));
  }
}

void log_fallbacks(const Plan& plan) {
  if (!logs(Severity::info)) return;
  for (const auto& [node, why] : plan.fallbacks())
    log(Severity::info, category, "fallback: " + node + " ran on the reference kernel: " + why);
}

}  // namespace touchstone::optimized
