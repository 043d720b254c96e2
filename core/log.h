// Messages about what the library does, for the program that embeds it. Nothing is written unless
// the program gives a function.
#pragma once

#include <string>

namespace touchstone {

// In ONNX Runtime's order, and with its numbers.
enum class Severity { verbose, info, warning, error, fatal };

struct LogSink {
  // Called by the thread that has the message, by several at once.
  void (*write)(void* user, Severity severity, const char* category, const char* message) = nullptr;
  void* user = nullptr;
  Severity least = Severity::warning;  // of the messages that it gets
};

// Replaces the sink of the process; one without a function ends messages. Calls that have begun go
// on. Throws std::bad_alloc.
void set_log(const LogSink& sink);

bool logs(Severity severity);  // true if a message would reach a sink
// `category`: the part that speaks, such as "session".
void log(Severity severity, const char* category, const std::string& message);

}  // namespace touchstone
