// Spawns child processes by posix_spawn, and ends their process groups.
#include "conformance/targets/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "conformance/targets/starter.h"
#include "core/error.h"

extern char** environ;

namespace touchstone::targets {
namespace {

constexpr off_t tail_bytes = 2048;
constexpr auto time_to_end = std::chrono::minutes(1);  // on a busy machine it may take a while
constexpr auto check_interval = std::chrono::milliseconds(5);

// Returns the last nonempty line, for a report: an assertion's text, a what() of terminate.
std::string last_line(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return "";
  std::string tail(static_cast<std::size_t>(std::min(size, tail_bytes)), '\0');
  const ssize_t got = pread(file, tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
  tail.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::size_t end = tail.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const std::size_t start = tail.find_last_of('\n', end);
  const std::size_t first = start == std::string::npos ? 0 : start + 1;
  return tail.substr(first, end + 1 - first);
}

std::string describe(int status, bool killed_by_us) {
  if (killed_by_us) return "killed";
  if (WIFSIGNALED(status)) {
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const Starter* starter) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(ErrorKind::file, std::string("no socket for a worker: ") + strerror(errno));
  }
  socket_ = ends[0];
  printed_ = memfd_create("touchstone-worker", MFD_CLOEXEC);
  const auto started = starter ? starter->start(ends[1], printed_) : std::nullopt;
  int failed = 0;
  if (started) {
    process_ = started->process;
    end_ = started->end;
  } else {
    failed = spawn(command, ends[1]);
  }
  close(ends[1]);
  if (failed != 0) {
    process_ = -1;
    close(socket_);
    close(printed_);
    throw Error(ErrorKind::file, "cannot start '" + command.front() + "': " + strerror(failed));
  }
}

// Returns 0 or the error's number.
int Child::spawn(const std::vector<std::string>& command, int streams) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams, 0);
  posix_spawn_file_actions_adddup2(&actions, streams, 1);
  posix_spawn_file_actions_adddup2(&actions, printed_, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed =
      posix_spawnp(&process_, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

Child::~Child() {
  if (alive()) end(true);
}

IoStatus Child::exchange(const Message& question, Message& answer, Moment deadline) {
  const IoStatus status = send(question, deadline);
  return status == IoStatus::done ? receive(answer, deadline) : status;
}

IoStatus Child::send(const Message& question, Moment deadline) {
  if (!alive()) BUG("asked a child that has ended");
  const IoStatus status = send_message(socket_, question, deadline);
  if (status != IoStatus::done) end(status != IoStatus::ended);
  return status;
}

IoStatus Child::receive(Message& answer, Moment deadline) {
  if (!alive()) BUG("waited for a child that has ended");
  const IoStatus status = receive_message(socket_, answer, deadline);
  if (status != IoStatus::done) end(status != IoStatus::ended);
  return status;
}

// Returns the status of waitpid() after the end. Kills the group at once if asked to, else after a
// minute.
int Child::wait(bool& killed_by_us) {
  int status = 0;
  if (end_ >= 0) {
    if (!killed_by_us) killed_by_us = !receive_number(end_, status, time_to_end);
    if (killed_by_us) {
      shutdown(end_, SHUT_WR);  // the starter kills the group
      receive_number(end_, status, time_to_end);
    }
    close(end_);
    end_ = -1;
    return status;
  }
  if (!killed_by_us) {
    // The socket closed, so the process is dying. Waits for it, to distinguish its own signal from
    // ours.
    siginfo_t info{};
    for (int k = 0; k < time_to_end / check_interval && info.si_pid == 0; ++k) {
      if (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        break;
      if (info.si_pid == 0) std::this_thread::sleep_for(check_interval);
    }
    killed_by_us = info.si_pid == 0;
  }
  kill(-process_, SIGKILL);  // the group, with all processes that it started
  kill(process_, SIGKILL);   // if it has not yet become its own group
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

void Child::end(bool killed_by_us) {
  const int status = wait(killed_by_us);
  process_ = -1;
  exit_description_ = describe(status, killed_by_us);
  if (const std::string line = last_line(printed_); !line.empty()) exit_description_ += ": " + line;
  close(socket_);
  close(printed_);
  socket_ = printed_ = -1;
}

}  // namespace touchstone::targets
