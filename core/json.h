// nlohmann's JSON for the rooms that write reports: its functions are compiled once (json.cc), not
// in every file that names them.
#pragma once

#include <nlohmann/json.hpp>

namespace nlohmann {
extern template class basic_json<ordered_map>;
}  // namespace nlohmann
