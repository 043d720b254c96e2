// Waivers of known failures: a file of rows, each with a link, a reason and a last day. An expired
// row is refused before anything runs, so that no waiver outlives its reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/results.h"

namespace touchstone::conformance {

struct Waiver {
  std::string target,
      suite;            // "onnxruntime" waives it under any options; "onnx@1.23.2"; "": any suite
  std::string pattern;  // shell pattern of case names: "test_conv_*"
  std::string link, reason;
  std::string expires;  // the last valid day: "2027-03-31"
};

// Reads {"schema": "touchstone.waivers/1", "waivers": [{"target", "suite", "case", "link",
// "reason", "expires"}]}. Throws Error (usage) that names a row that is incomplete or expired
// before `today`. `file` is for messages.
std::vector<Waiver> read_waivers(std::string_view text, const std::string& file,
                                 std::string_view today);

// Turns failures that a waiver covers into `waived`; their detail adds the expiry date, the reason
// and the original verdict. Passes and harness faults are unchanged. Returns the number of waived
// cases of each waiver.
std::vector<Index> waive(std::span<const Waiver> waivers, TargetRun& run);

// Returns the calendar date in UTC.
std::string today();

}  // namespace touchstone::conformance
