// See core/json.h.
#include <nlohmann/json.hpp>

namespace nlohmann {
template class basic_json<ordered_map>;
}  // namespace nlohmann
