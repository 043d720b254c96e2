// What follows a target's answer where a question of the standard is open (`open:` in an entry):
// our definition, taking from the answer what is left to it. The judge then compares; what is not
// open must still be right.
#pragma once

#include <vector>

#include "reference/call.h"

namespace touchstone {

struct Opened {
  std::vector<Value> outputs;
  std::vector<Index> open;  // for each output how many elements of it were anything's right
};
using Opening = Opened (*)(Call& call, const std::vector<Value>& observed);

namespace openings {
// What is found, in whatever order.
Opened order_of_the_chosen(Call& call, const std::vector<Value>& observed);
// Integers divided by zero.
Opened quotients_by_zero(Call& call, const std::vector<Value>& observed);
// Floats that an integer type cannot hold.
Opened floats_that_do_not_fit(Call& call, const std::vector<Value>& observed);
// Elements and slices that several updates write (Q043): any of these updates may remain.
Opened updates_of_one_element(Call& call, const std::vector<Value>& observed);
Opened updates_of_one_slice(Call& call, const std::vector<Value>& observed);
// A pool's element, and index, of a window that holds nothing but padding (Q024).
Opened windows_of_padding(Call& call, const std::vector<Value>& observed);
// Which elements a draw sets to zero.
Opened drawn_zeros(Call& call, const std::vector<Value>& observed);
}  // namespace openings

}  // namespace touchstone
