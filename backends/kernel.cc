// Calls compiled Halide kernels. Halide's default error handler ends the process; this one keeps
// the message and lets the call return.
#include "backends/kernel.h"

#include <HalideRuntime.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "core/error.h"

namespace touchstone::backends {

namespace {

// Not a std::string, which would allocate on a thread's first error.
thread_local std::array<char, 1024> last_error;

// Keeps the first message, which names the cause; later ones only add the callers' context.
void keep_error(void*, const char* message) {
  if (last_error[0] != '\0') return;
  const std::size_t length = std::min(std::strlen(message), last_error.size() - 1);
  std::memcpy(last_error.data(), message, length);
  last_error[length] = '\0';
}

}  // namespace

void forget_words() {
  static const bool handled = (halide_set_error_handler(keep_error), true);
  (void)handled;
  last_error[0] = '\0';
}

void check_compiled(int status, const char* what) {
  if (status == 0) return;
  const bool memory =
      status == halide_error_code_out_of_memory || status == halide_error_code_device_malloc_failed;
  std::string words = last_error.data();
  while (!words.empty() && words.back() == '\n') words.pop_back();
  throw Error(memory ? ErrorKind::out_of_memory : ErrorKind::internal,
              std::string(what) + " failed with status " + std::to_string(status) + ": " + words);
}

void call_compiled(CompiledKernel kernel, void** arguments) {
  forget_words();
  check_compiled(kernel(arguments), "a fast kernel");
}

}  // namespace touchstone::backends
