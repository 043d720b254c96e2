// Reads a frame, and a message between host and worker. What was read is written, and read again as
// the same.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "conformance/targets/protocol.h"
#include "fuzz/bytes/target.h"

namespace touchstone::bytes {
namespace {

// Receives a frame from a peer that sends these bytes and ends.
targets::IoStatus receive(Bytes sent, targets::Message& into) {
  std::array<int, 2> ends{};
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0, "no sockets");
  const ssize_t went = send(ends[0], sent.data(), sent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  close(ends[0]);
  const targets::IoStatus status = targets::receive_message(ends[1], into);
  close(ends[1]);
  require(status != targets::IoStatus::done || static_cast<ssize_t>(into.size()) + 8 <= went,
          "more was received than was sent");
  return status;
}

template <class What>
void read_as(const targets::Message& message) {
  What read_one;
  if (!targets::read(message, read_one)) return;
  const targets::Message written = targets::write(read_one);
  What again;
  require(targets::read(written, again) && targets::write(again) == written,
          "what was written is read as another message");
}

}  // namespace

void messages(Bytes input) {
  constexpr std::size_t most = 100'000;  // what a socket takes without a reader
  if (input.size() > most) return;
  accepts([&] {
    targets::Message framed;
    if (receive(input, framed) != targets::IoStatus::done) framed = text_of(input);
    read_as<targets::Question>(framed);
    read_as<targets::Reply>(framed);
  });
}

}  // namespace touchstone::bytes
