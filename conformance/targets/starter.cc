// A request is one byte with two descriptors (conformance/targets/starter.py).
#include "conformance/targets/starter.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace touchstone::targets {
namespace {

constexpr std::chrono::seconds start_limit{120};  // as of a worker (conformance/targets/host.cc)

using Descriptors = std::array<int, 3>;

bool send_descriptors(int to, const Descriptors& descriptors) {
  char byte = 1;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Descriptors))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(Descriptors));
  std::memcpy(CMSG_DATA(head), descriptors.data(), sizeof(Descriptors));
  ssize_t sent;
  do {
    sent = sendmsg(to, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

}  // namespace

std::optional<Starter::Started> Starter::start(int streams, int printed) const {
  int ends[2];
  if (!child_.alive() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const bool sent = send_descriptors(child_.socket(), {streams, printed, ends[1]});
  close(ends[1]);
  Started made{-1, ends[0]};
  int process = -1;
  if (sent && receive_number(made.end, process, start_limit)) {
    made.process = process;
    return made;
  }
  close(made.end);
  return {};
}

bool receive_number(int socket, int& number, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waited{socket, POLLIN, 0};
    const int ready = poll(&waited, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t came = recv(socket, &number, sizeof number, MSG_WAITALL);
    if (came < 0 && errno == EINTR) continue;
    return came == sizeof number;
  }
}

}  // namespace touchstone::targets
