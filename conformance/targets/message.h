// How messages travel between host and worker: bytes behind their length, on a local socket.
// Neither side trusts the other: a length costs no memory until its bytes have come.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace touchstone {

using Message = std::string;
using Moment = std::chrono::steady_clock::time_point;

enum class Passage {
  done,
  ended,    // the other side is gone
  late,     // the deadline came first
  garbled,  // what came is no message
};

// No deadline: waits for ever.
Passage send_message(int socket, const Message& message, std::optional<Moment> deadline = {});
Passage receive_message(int socket, Message& message, std::optional<Moment> deadline = {});

}  // namespace touchstone
