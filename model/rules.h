// Rules of the file format, as opposed to those of operators. Each has an id that errors, docs and
// tests cite.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/limits.h"

namespace touchstone {

// One row of docs/model-rules.md.
struct FormatRule {
  std::string_view id;  // "model/cycle"
  ErrorKind kind;
  std::string_view text;  // the requirement
  std::string_view help;  // hint for mending a breach
};

// Worst first: the order in which check() reports.
std::span<const FormatRule> format_rules();

// Makes an error that cites a rule of the table; `message` holds the values.
Error breach(std::string_view id, std::string message);

// Makes an error that names a limit: "1000001 passes the limit 'nodes' of 1000000".
Error over_limit(std::string_view limit, Index asked, Index allowed);

// Position of an error's rule in the table; operator rules come after the last one.
std::size_t severity(const Error& error);

// Runs `work` and adds `place()` to an Error that has no place yet.
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
