// Framing by hand: four bytes of magic, the number of parts, then each part's length and bytes. Both ends are one
// executable on one machine, so numbers travel in its own byte order.
#include "conformance/targets/message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace touchstone {
namespace {

constexpr std::uint32_t magic = 0x314d5354;  // "TSM1"
constexpr std::uint32_t most_parts = 1 << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 34;  // of one part
constexpr std::size_t step = std::size_t{1} << 20;

// Waits until the socket is ready for `events`; late if the deadline comes first.
Passage wait(int socket, short events, std::optional<Moment> deadline) {
  while (true) {
    int milliseconds = -1;
    if (deadline) {
      const auto left = *deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return Passage::late;
      const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      milliseconds = static_cast<int>(std::min<std::int64_t>(whole, 1 << 30));
    }
    pollfd waited{socket, events, 0};
    const int ready = poll(&waited, 1, milliseconds);
    if (ready > 0) return Passage::done;
    if (ready < 0 && errno != EINTR) return Passage::ended;
  }
}

Passage put(int socket, const char* from, std::size_t size, std::optional<Moment> deadline) {
  while (size > 0) {
    const ssize_t went = send(socket, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (went > 0) {
      from += went;
      size -= static_cast<std::size_t>(went);
    } else if (went < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (const Passage waited = wait(socket, POLLOUT, deadline); waited != Passage::done) return waited;
    } else {
      return Passage::ended;
    }
  }
  return Passage::done;
}

Passage take(int socket, char* to, std::size_t size, std::optional<Moment> deadline) {
  while (size > 0) {
    const ssize_t came = recv(socket, to, size, MSG_DONTWAIT);
    if (came > 0) {
      to += came;
      size -= static_cast<std::size_t>(came);
    } else if (came < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (const Passage waited = wait(socket, POLLIN, deadline); waited != Passage::done) return waited;
    } else {
      return Passage::ended;
    }
  }
  return Passage::done;
}

Passage take_part(int socket, std::string& part, std::optional<Moment> deadline) {
  std::uint64_t size = 0;
  Passage passage = take(socket, reinterpret_cast<char*>(&size), sizeof size, deadline);
  if (passage != Passage::done) return passage;
  if (size > most_bytes) return Passage::garbled;
  part.clear();
  while (part.size() < size) {
    const std::size_t start = part.size();
    // Doubling, but never past what has come plus a step: a false length costs nothing.
    const std::size_t grown = std::min<std::uint64_t>(size, start + std::max(step, start));
    part.resize(grown);
    passage = take(socket, part.data() + start, grown - start, deadline);
    if (passage != Passage::done) return passage;
  }
  return Passage::done;
}

}  // namespace

Passage send_message(int socket, const Message& message, std::optional<Moment> deadline) {
  std::string head(8, '\0');
  const std::uint32_t count = static_cast<std::uint32_t>(message.size());
  std::memcpy(head.data(), &magic, 4);
  std::memcpy(head.data() + 4, &count, 4);
  Passage passage = put(socket, head.data(), head.size(), deadline);
  for (std::size_t k = 0; k < message.size() && passage == Passage::done; ++k) {
    const std::uint64_t size = message[k].size();
    passage = put(socket, reinterpret_cast<const char*>(&size), sizeof size, deadline);
    if (passage == Passage::done) passage = put(socket, message[k].data(), message[k].size(), deadline);
  }
  return passage;
}

Passage receive_message(int socket, Message& message, std::optional<Moment> deadline) {
  std::uint32_t head[2] = {0, 0};
  Passage passage = take(socket, reinterpret_cast<char*>(head), sizeof head, deadline);
  if (passage != Passage::done) return passage;
  if (head[0] != magic || head[1] == 0 || head[1] > most_parts) return Passage::garbled;
  message.clear();
  for (std::uint32_t k = 0; k < head[1] && passage == Passage::done; ++k) {
    passage = take_part(socket, message.emplace_back(), deadline);
  }
  return passage;
}

}  // namespace touchstone
