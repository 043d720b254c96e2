// Answers as they lie in messages: the judge's messages hold them too.
#pragma once

#include "conformance/targets/protocol.h"
#include "target.pb.h"

namespace touchstone {

void put(const Answer& answer, wire::Answer& to);
bool take(const wire::Answer& from, Answer& answer);

}  // namespace touchstone
