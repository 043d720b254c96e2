// The rules of the format, apart from those of single operators: each has an id that errors, docs
// and tests cite.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/limits.h"

namespace touchstone {

struct FormatRule {
  std::string_view id;  // "model/cycle"
  ErrorKind kind;
  std::string_view text;  // what must hold
  std::string_view help;  // what to do about a breach
};

// Worst first: the order in which check() reports.
std::span<const FormatRule> format_rules();

// An error that cites a rule of the table; its sentence has the values in it.
Error breach(std::string_view id, std::string message);

// An error that names a limit: "1000001 passes the limit 'nodes' of 1000000".
Error over_limit(std::string_view limit, Index asked, Index allowed);

// Position of an error's rule in the table; behind the last one for rules of operators.
std::size_t severity(const Error& error);

// Runs `work`; an error that does not say yet where it arose gets `place()`.
template <class Work, class Place>
auto placed(const Place& place, const Work& work) {
  try {
    return work();
  } catch (Error& error) {
    if (error.place.empty()) error.place = place();
    throw;
  }
}

}  // namespace touchstone
