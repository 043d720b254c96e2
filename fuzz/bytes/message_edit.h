// Edits protobuf messages field by field, at any depth. Plain edits of bytes seldom leave a message
// whose lengths still fit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace touchstone::bytes {

// Returns the message with one field removed, repeated, moved, replaced or changed: the same one
// for a seed. `change` edits text and numbers of fixed length, and bytes that are no message.
std::string edited_message(std::string_view message, std::uint32_t seed,
                           const std::function<std::string(std::string_view)>& change);

}  // namespace touchstone::bytes
