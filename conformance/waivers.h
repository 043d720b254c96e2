// Fails that are known and waived for a while: a file of rows, each with a link, a reason and a
// last day. A row that has expired is refused before anything runs, so that no waiver outlives its
// reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results.h"

namespace touchstone {

struct Waiver {
  std::string target,
      suite;            // "onnxruntime" waives it under any options; "onnx@1.23.2"; "" is any suite
  std::string pattern;  // of the names of cases: "test_conv_*"
  std::string link, reason;
  std::string expires;  // the last day on which it counts: "2027-03-31"
};

// {"schema": "touchstone.waivers/1", "waivers": [{"target", "suite", "case", "link", "reason",
// "expires"}]} Throws Error (usage) naming the row that lacks something or expired before `today`.
// `file` is for messages.
std::vector<Waiver> read_waivers(std::string_view text, const std::string& file,
                                 std::string_view today);

// Fails that a waiver speaks of become `waived`; their detail says until when, why and what they
// were. What passes, and what is our own fault, stays. Returns for each waiver how many cases it
// waived.
std::vector<Index> waive(std::span<const Waiver> waivers, TargetRun& run);

// Of the calendar, in UTC.
std::string today();

}  // namespace touchstone
