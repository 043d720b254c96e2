// Texts of a finding that go to a runtime's maintainers: an issue and a script.
#pragma once

#include <optional>
#include <string>

#include "core/error.h"
#include "fuzz/case.h"
#include "fuzz/state.h"

namespace touchstone::fuzz {

// Returns an issue: runtime, clause with file and line of the entry, what was given and expected,
// and the reproduction. `refusal`: the reference's error for an invalid case.
std::string issue_text(const Finding& finding, const Case& one, const std::optional<Error>& refusal,
                       const std::string& replay);

// Returns a Python script that needs numpy, onnx and the runtime only: a file of fuzz/replay for
// the runtime, then the comparison. For a runtime without such a file it asks for one by an error.
std::string replay_script(const Finding& finding);

}  // namespace touchstone::fuzz
