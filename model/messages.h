// What a parser would build of a message's bytes, counted before it does: an empty message takes
// two bytes of a file and two hundred of memory.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/budget.h"

namespace touchstone {

struct Messages {
  Index count = 0;
  Charge charge;  // for as long as the messages live
};

// `name` is that of a message of the standard, "ModelProto" say, with or without its package.
// Throws Error (limit) naming 'nodes', 'messages' or 'memory'. What is no message is the parser's
// to refuse.
Messages charge_messages(std::span<const std::byte> bytes, std::string_view name,
                         const Limits& limits);

}  // namespace touchstone
