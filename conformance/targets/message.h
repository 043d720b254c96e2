// Transports messages between host and worker: length-prefixed bytes on a local socket. Neither
// side trusts the other: memory is allocated only for bytes that have arrived.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace touchstone::targets {

using Message = std::string;
using Moment = std::chrono::steady_clock::time_point;

enum class IoStatus {
  done,
  ended,    // the other side is gone
  late,     // the deadline passed first
  garbled,  // the received bytes are no message
};

// Without a deadline these wait forever.
IoStatus send_message(int socket, const Message& message, std::optional<Moment> deadline = {});
IoStatus receive_message(int socket, Message& message, std::optional<Moment> deadline = {});

}  // namespace touchstone::targets
