// Instantiates the JSON class that core/json.h declares extern, once for the whole program.
#include <nlohmann/json.hpp>

namespace nlohmann {
template class basic_json<ordered_map>;
}  // namespace nlohmann
