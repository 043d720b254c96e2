// nlohmann's JSON for the folders that write reports. Its functions are compiled once (json.cc),
// not in every file that includes it.
#pragma once

#include <nlohmann/json.hpp>

namespace nlohmann {
extern template class basic_json<ordered_map>;
}  // namespace nlohmann
