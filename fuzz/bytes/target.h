// Readers of hostile bytes, each on its own, as libFuzzer and the replay of kept inputs call them.
// Bytes are read, or an Error refuses them; any other exception and any death is a fault.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/budget.h"
#include "core/error.h"

namespace touchstone::bytes {

using Bytes = std::span<const std::byte>;

// One target per file of this folder.
void external(Bytes input);   // text: places of external data, and their reading
void fast(Bytes input);       // a model: the fast executor runs it
void images(Bytes input);     // an image file
void lines(Bytes input);      // a line of the spec suite
void messages(Bytes input);   // a frame and a message between host and worker
void model(Bytes input);      // a model: loaded and checked
void npy(Bytes input);        // a type, then a file of NumPy
void reference(Bytes input);  // a model: the reference runs it
void types(Bytes input);      // text: the type of a value, a number
void values(Bytes input);     // a type, then a serialized value of test data

// Limits of one input: those for fuzzing with less work, and without a clock, so that an input ends
// the same way on every machine.
Limits limits_of_input();

class Fault : public std::logic_error {
  using std::logic_error::logic_error;
};
inline void require(bool holds, const std::string& what) {
  if (!holds) throw Fault(what);
}

// Runs `work` within the limits. Returns the Error that refuses the input. Throws Fault for an
// internal one.
template <class Work>
std::optional<Error> refusal(const Work& work) {
  const Limits limits = limits_of_input();
  const Budget budget(limits);
  const LimitsScope scope(limits);
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind == ErrorKind::internal) throw Fault("internal error: " + error.message);
    return error;
  }
}
template <class Work>
bool accepts(const Work& work) {
  return !refusal(work);
}

std::string_view text_of(Bytes input);
// Removes the first byte and returns it; 0 if there is none.
unsigned take_byte(Bytes& input);

}  // namespace touchstone::bytes
