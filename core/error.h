// The project's one exception type: a message, the place, the broken rule and a hint. Only tools/
// prints it.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace touchstone {

enum class ErrorKind {
  usage,          // wrong call by the user, such as a feed of the wrong name, type or shape
  invalid_model,  // the model breaks a rule of the standard
  invalid_input,  // a run-time value breaks an operator's rule, such as an index out of range
  unsupported,    // valid but not implemented: named, never approximated
  out_of_memory,
  limit,      // one of the limits of core/limits.h, or a time-out
  cancelled,  // cancelled by the caller
  file,       // Missing, unreadable, or not allowed to be opened
  internal,
};

// The enumerator's spelling: "out_of_memory".
std::string_view name(ErrorKind kind);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind(kind), message(std::move(message)) {}

  Error&& with_rule(std::string id, std::string text, std::string spec) && {
    rule = std::move(id), rule_text = std::move(text), spec_line = std::move(spec);
    return std::move(*this);
  }
  Error&& with_place(std::string where) && {
    place = std::move(where);
    return std::move(*this);
  }
  Error&& with_help(std::string text) && {
    help = std::move(text);
    return std::move(*this);
  }

  const char* what() const noexcept override { return message.c_str(); }

  ErrorKind kind;
  std::string message;    // one sentence with the values in it
  std::string rule;       // "Clip-13/C1", or a rule of the format such as "model/cycle"
  std::string rule_text;  // "rank(min) == 0"
  std::string spec_line;  // "spec/ops/ai.onnx/Clip.yaml:12"
  std::string place;      // "node 'act3' (Clip), output 'act3_out', main graph"
  std::string help;       // a hint on how to mend it
};

[[noreturn]] void bug(const char* file, int line, const char* what);

}  // namespace touchstone

// For unreachable states: throws Error of kind internal.
#define BUG(what) ::touchstone::bug(__FILE_NAME__, __LINE__, what)
