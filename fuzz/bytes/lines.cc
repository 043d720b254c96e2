// Reads a line of the spec suite.
#include "conformance/suites/line.h"

#include "fuzz/bytes/target.h"

namespace touchstone::bytes {

void lines(Bytes input) {
  const std::string text(text_of(input));
  suites::rule_of_line(text);
  accepts([&] { suites::parse_line(text); });
}

}  // namespace touchstone::bytes
