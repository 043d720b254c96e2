// Limits and text of an input.
#include "fuzz/bytes/target.h"

namespace touchstone::bytes {

Limits limits_of_input() {
  Limits limits = Limits::fuzz();
  limits.work = 1'000'000;
  limits.folding_work = 200'000;
  limits.milliseconds = 0;
  return limits;
}

std::string_view text_of(Bytes input) {
  return {static_cast<const char*>(static_cast<const void*>(input.data())), input.size()};
}

unsigned take_byte(Bytes& input) {
  if (input.empty()) return 0;
  const auto first = std::to_integer<unsigned>(input.front());
  input = input.subspan(1);
  return first;
}

}  // namespace touchstone::bytes
