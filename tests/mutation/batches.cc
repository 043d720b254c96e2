// A pipe returns numbers and texts from each child. A number that was begun but not ended killed
// its child.
#include "tests/mutation/batches.h"

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/error.h"

namespace touchstone::mutation {
namespace {

constexpr std::size_t longest_tail = 1500;

struct Header {
  Index number;
  Index size;  // -1: the number was begun
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

bool read_all(int from, void* to, std::size_t size) {
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t some = ::read(from, at, size);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    at += some;
    size -= static_cast<std::size_t>(some);
  }
  return true;
}

// Ends the process after `seconds` of CPU time, or after waiting much longer, since other processes
// may use the processors.
void set_deadline(unsigned seconds) {
  itimerval deadline{};
  deadline.it_value.tv_sec = seconds;
  ::setitimer(ITIMER_PROF, &deadline, nullptr);
  ::alarm(seconds * 30);
}

[[noreturn]] void work_on(Index first, Index end, unsigned seconds, const Work& work, int pipe) {
  for (Index number = first; number < end; ++number) {
    const Header begun{number, -1};
    write_all(pipe, &begun, sizeof begun);
    set_deadline(seconds);
    const std::string text = work(number);
    set_deadline(0);
    const Header ended{number, static_cast<Index>(text.size())};
    write_all(pipe, &ended, sizeof ended);
    write_all(pipe, text.data(), text.size());
  }
  ::_exit(0);
}

std::string how(int status) {
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM))
    return "past the deadline";
  if (WIFSIGNALED(status)) return std::string("killed by ") + ::strsignal(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

// The sanitizer's findings, if any, then the end of the output.
std::string told_in(int file) {
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

}  // namespace

void in_batches(Index first, Index count, const BatchOptions& options, const Work& work,
                const OnEnd& on_end) {
  for (Index next = first; next < first + count;) {
    const Index end = std::min(next + options.batch, first + count);
    int ends[2];
    const int errors = ::memfd_create("stderr", 0);
    if (errors < 0 || ::pipe(ends) != 0) throw Error(ErrorKind::file, "no pipe for a child");
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw Error(ErrorKind::out_of_memory, "no process for a batch");
    if (child == 0) {
      ::close(ends[0]);
      ::dup2(errors, STDERR_FILENO);
      work_on(next, end, options.seconds, work, ends[1]);
    }
    ::close(ends[1]);
    Index open = -1;  // begun but not ended
    for (Header header; read_all(ends[0], &header, sizeof header);) {
      if (header.size < 0) {
        open = header.number;
        continue;
      }
      std::string text(static_cast<std::size_t>(header.size), '\0');
      if (!read_all(ends[0], text.data(), text.size())) break;
      open = -1;
      next = header.number + 1;
      on_end(header.number, text, "");
    }
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (open >= 0) {
      next = open + 1;
      on_end(open, "", how(status) + "\n" + told_in(errors));
    } else if (next < end) {
      on_end(next++, "", "between two numbers: " + how(status));
    }
    ::close(errors);
  }
}

}  // namespace touchstone::mutation
