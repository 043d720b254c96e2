// A pipe returns numbers and texts from each child. A number that was begun but not ended killed
// its child.
#include "fuzz/batches.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>

#include "conformance/targets/serve.h"
#include "core/error.h"
#include "fuzz/frames.h"

namespace touchstone::fuzz {
namespace {

constexpr std::size_t longest_tail = 1500;
constexpr int poll_milliseconds = 100;

struct Header {
  Index number;
  enum Kind : Index { begun, stage, ended } kind;
  Index size;  // of the text that follows
};

void write_all(int to, const void* from, std::size_t size) {
  const char* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t some = ::write(to, at, size);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) ::_exit(3);  // the parent closed the pipe
    at += some;
    size -= static_cast<std::size_t>(some);
  }
}

void send(int pipe, Index number, Header::Kind kind, std::string_view text = {}) {
  const Header header{number, kind, static_cast<Index>(text.size())};
  std::string message(sizeof header, '\0');
  std::memcpy(message.data(), &header, sizeof header);
  message += text;
  write_all(pipe, message.data(), message.size());
}

// Ends the process after some seconds of CPU time, or after waiting longer. 0: never.
void set_deadline(unsigned seconds, unsigned waiting) {
  itimerval deadline{};
  deadline.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &deadline, nullptr);
  ::alarm(waiting);
}

[[noreturn]] void work_on(Index first, Index end, const BatchOptions& options, const Work& work,
                          int pipe) {
  targets::become_worker(options.memory);
  std::signal(SIGINT, SIG_IGN);  // the parent decides
  print_frames_of_crashes();
  for (Index number = first; number < end; ++number) {
    send(pipe, number, Header::begun);
    set_deadline(options.seconds, options.waiting);
    const std::string text = work(number, [&](std::string_view stage) {
      set_deadline(0, 0);  // the parent may be busy
      send(pipe, number, Header::stage, stage);
      set_deadline(options.seconds, options.waiting);
    });
    set_deadline(0, 0);
    send(pipe, number, Header::ended, text);
  }
  ::_exit(0);
}

std::string how(int status) {
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM))
    return "past the deadline";
  if (WIFSIGNALED(status)) return std::string("killed by ") + ::strsignal(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

// Returns the sanitizer's findings, if any, then the end of the output.
std::string printed_in(int file) {
  const Index size = ::lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<Index>(size, 0)), '\0');
  const ssize_t read = ::pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
  std::string found;
  for (const char* const mark : {"runtime error: ", "ERROR: AddressSanitizer: "}) {
    const std::size_t at = text.find(mark);
    if (at == std::string::npos) continue;
    const std::size_t begin = text.rfind('\n', at) + 1;  // 0 if there is none
    found += text.substr(begin, text.find('\n', at) - begin) + "\n";
  }
  if (text.size() > longest_tail) text = text.substr(text.size() - longest_tail);
  return found + text;
}

// One child and the numbers that it has not reported yet.
class Process {
 public:
  Process(Index first, Index end, const BatchOptions& options, const Work& work)
      : next_(first), end_(end) {
    int ends[2];
    errors_ = ::memfd_create("stderr", MFD_CLOEXEC);
    if (errors_ < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorKind::file, "no pipe for a child");
    std::fflush(nullptr);
    child_ = ::fork();
    if (child_ < 0) throw Error(ErrorKind::out_of_memory, "no process for a batch");
    if (child_ == 0) {
      ::close(ends[0]);
      ::dup2(errors_, STDERR_FILENO);
      work_on(first, end, options, work, ends[1]);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  ~Process() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      wait();
    }
    ::close(pipe_);
    ::close(errors_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int pipe() const { return pipe_; }

  // Reads what has arrived. Returns false at the end, when the child is gone.
  bool hear(const OnEnd& on_end) {
    char bytes[1 << 16];
    const ssize_t some = ::read(pipe_, bytes, sizeof bytes);
    if (some < 0 && errno == EINTR) return true;
    if (some <= 0) return false;
    arrived_.append(bytes, static_cast<std::size_t>(some));
    std::size_t at = 0;
    for (Header header; at + sizeof header <= arrived_.size();) {
      std::memcpy(&header, arrived_.data() + at, sizeof header);
      const std::size_t size = sizeof header + static_cast<std::size_t>(header.size);
      if (at + size > arrived_.size()) break;
      std::string text = arrived_.substr(at + sizeof header, size - sizeof header);
      at += size;
      if (header.kind == Header::stage) {
        stage_ = std::move(text);
      } else if (header.kind == Header::begun) {
        is_open_ = true;
        stage_.clear();
      } else {
        is_open_ = false;
        next_ = header.number + 1;
        on_end({header.number, std::move(text)});
      }
    }
    arrived_.erase(0, at);
    return true;
  }

  // Reports the number that killed the child, if one did.
  void end(const OnEnd& on_end) {
    const std::string ended = how(wait());
    if (is_open_) {
      on_end({next_++, "", ended + "\n" + printed_in(errors_), stage_});
    } else if (next_ < end_) {
      on_end({next_++, "", "between two numbers: " + ended});
    }
  }

  std::pair<Index, Index> rest() const { return {next_, end_}; }

 private:
  int wait() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
  }

  Index next_, end_;
  pid_t child_ = -1;
  int pipe_ = -1, errors_ = -1;
  bool is_open_ = false;  // number next_ was begun
  std::string stage_, arrived_;
};

}  // namespace

bool in_batches(Index first, Index count, const BatchOptions& options, const Work& work,
                const OnEnd& on_end) {
  std::deque<std::pair<Index, Index>> rests;  // of children that died
  std::list<Process> running;
  const Index last = first + count;
  Index next = first;
  while (true) {
    if (options.stop && options.stop()) return false;
    while (static_cast<Index>(running.size()) < options.jobs && (!rests.empty() || next < last)) {
      std::pair<Index, Index> part{next, std::min(next + options.batch, last)};
      if (rests.empty()) {
        next = part.second;
      } else {
        part = rests.front();
        rests.pop_front();
      }
      running.emplace_back(part.first, part.second, options, work);
    }
    if (running.empty()) return true;
    std::vector<pollfd> polled;
    for (const Process& one : running) polled.push_back({one.pipe(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), poll_milliseconds) <= 0) continue;
    auto one = running.begin();
    for (const pollfd& each : polled) {
      const auto process = one++;
      if (each.revents == 0 || process->hear(on_end)) continue;
      process->end(on_end);
      if (const auto rest = process->rest(); rest.first < rest.second) rests.push_back(rest);
      running.erase(process);
    }
  }
}

}  // namespace touchstone::fuzz
