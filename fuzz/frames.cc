// Signal handler that writes the call stack, on a stack of its own: the fault may be an overflow.
#include "fuzz/frames.h"

#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace touchstone::fuzz {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

constexpr int max_frames = 12;
constexpr int handler_frames = 2;  // the handler, and the call of it by the system
char handler_stack[1 << 16];

void print_frames(int signal) {
  static constexpr char heading[] = "frames:\n";
  void* frames[max_frames];
  const int count = ::backtrace(frames, max_frames);
  if (::write(STDERR_FILENO, heading, sizeof heading - 1) > 0 && count > handler_frames)
    ::backtrace_symbols_fd(frames + handler_frames, count - handler_frames, STDERR_FILENO);
  std::raise(signal);  // by default now: SA_RESETHAND
}

}  // namespace

void print_frames_of_crashes() {
  if (is_sanitized) return;
  void* loaded[1];
  ::backtrace(loaded, 1);  // loads the unwinder, which allocates
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = print_frames;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::sigaction(signal, &action, nullptr);
}

}  // namespace touchstone::fuzz
