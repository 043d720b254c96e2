// Messages of the library for the program.
#pragma once

#include "include/touchstone/touchstone.h"

namespace touchstone::api {

ts_status* log_to(ts_log log, void* user, ts_severity least);

}  // namespace touchstone::api
