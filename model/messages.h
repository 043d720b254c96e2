// Estimates the memory of a parsed protobuf message from its bytes before parsing. An empty message
// takes two bytes of a file and two hundred of memory, so a small hostile file could exhaust it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/budget.h"

namespace touchstone {

struct Messages {
  Index count = 0;
  Charge charge;  // held while the messages live
};

// `name` is a message type of the standard, such as "ModelProto", with or without its package.
// Throws Error (limit) naming 'nodes', 'messages' or 'memory'. Malformed bytes are left to the
// parser to refuse.
Messages charge_messages(std::span<const std::byte> bytes, std::string_view name,
                         const Limits& limits);

}  // namespace touchstone
