// Judge for tests of sessions. conformance/ depends on this folder, so tests/fast/session_judge.cc
// defines the function for the program.
#pragma once

#include <map>
#include <string>

#include "model/graph.h"

namespace touchstone::optimized {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TOUCHSTONE_SANITISED
#endif
#endif

// True in the build that checks each access itself. There, tests leave out what the other build
// checks on the same kernels, and what takes minutes.
#ifdef TOUCHSTONE_SANITISED
inline constexpr bool is_sanitised = true;
#else
inline constexpr bool is_sanitised = false;
#endif

// Returns the reason why the judge refuses a run's outputs or cannot decide; "" if it accepts them.
std::string why_refused(const Model& model, const std::map<std::string, Value>& feeds,
                        const std::map<std::string, Value>& outputs);

}  // namespace touchstone::optimized
