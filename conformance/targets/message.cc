// Frames messages: the length in eight bytes, little-endian, then the message.
#include "conformance/targets/message.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "core/budget.h"

namespace touchstone::targets {
namespace {

constexpr std::uint64_t max_bytes = (std::uint64_t{1} << 31) - 1;  // protobuf's own limit
constexpr std::size_t step = std::size_t{1} << 20;

constexpr std::int64_t poll_interval = 50;  // milliseconds between checks of the thread's budget

// Waits until the socket is ready for `events`; returns late if the deadline passes first. Throws
// Error (cancelled) if the thread's budget is cancelled.
IoStatus wait(int socket, short events, std::optional<Moment> deadline) {
  while (true) {
    check_budget();
    int milliseconds = current_budget() ? static_cast<int>(poll_interval) : -1;
    if (deadline) {
      const auto left = *deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return IoStatus::late;
      const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
      const std::int64_t most = milliseconds < 0 ? 1 << 30 : poll_interval;
      milliseconds = static_cast<int>(std::min<std::int64_t>(whole, most));
    }
    pollfd waited{socket, events, 0};
    const int ready = poll(&waited, 1, milliseconds);
    if (ready > 0) return IoStatus::done;
    if (ready < 0 && errno != EINTR) return IoStatus::ended;
  }
}

IoStatus put(int socket, const char* from, std::size_t size, std::optional<Moment> deadline) {
  while (size > 0) {
    const ssize_t went = send(socket, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (went > 0) {
      from += went;
      size -= static_cast<std::size_t>(went);
    } else if (went < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (const IoStatus waited = wait(socket, POLLOUT, deadline); waited != IoStatus::done)
        return waited;
    } else {
      return IoStatus::ended;
    }
  }
  return IoStatus::done;
}

IoStatus take(int socket, char* to, std::size_t size, std::optional<Moment> deadline) {
  while (size > 0) {
    const ssize_t came = recv(socket, to, size, MSG_DONTWAIT);
    if (came > 0) {
      to += came;
      size -= static_cast<std::size_t>(came);
    } else if (came < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (const IoStatus waited = wait(socket, POLLIN, deadline); waited != IoStatus::done)
        return waited;
    } else {
      return IoStatus::ended;
    }
  }
  return IoStatus::done;
}

}  // namespace

IoStatus send_message(int socket, const Message& message, std::optional<Moment> deadline) {
  std::array<char, 8> head;
  for (std::size_t k = 0; k < head.size(); ++k)
    head[k] = static_cast<char>(message.size() >> (8 * k));
  const IoStatus status = put(socket, head.data(), head.size(), deadline);
  return status == IoStatus::done ? put(socket, message.data(), message.size(), deadline) : status;
}

IoStatus receive_message(int socket, Message& message, std::optional<Moment> deadline) {
  std::array<unsigned char, 8> head;
  IoStatus status = take(socket, reinterpret_cast<char*>(head.data()), head.size(), deadline);
  if (status != IoStatus::done) return status;
  std::uint64_t size = 0;
  for (std::size_t k = 0; k < head.size(); ++k) size |= std::uint64_t{head[k]} << (8 * k);
  if (size > max_bytes) return IoStatus::garbled;
  message.clear();
  while (message.size() < size) {
    const std::size_t start = message.size();
    // Doubles the buffer, but never by more than a chunk beyond the received bytes, so that a false
    // length allocates nothing.
    const std::size_t grown = std::min<std::uint64_t>(size, start + std::max(step, start));
    message.resize(grown);
    status = take(socket, message.data() + start, grown - start, deadline);
    if (status != IoStatus::done) return status;
  }
  return IoStatus::done;
}

}  // namespace touchstone::targets
