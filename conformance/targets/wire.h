// Serializes answers; the judge's messages contain them too.
#pragma once

#include "conformance/targets/protocol.h"
#include "target.pb.h"

namespace touchstone::targets {

void put(const Answer& answer, wire::Answer& to);
bool take(const wire::Answer& from, Answer& answer);

}  // namespace touchstone::targets
