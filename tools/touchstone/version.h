// Facts of this build and machine, which --version --json prints.
#pragma once

#include "core/json.h"

namespace touchstone::command {

nlohmann::ordered_json version_object();

}  // namespace touchstone::command
