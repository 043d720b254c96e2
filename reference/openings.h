// Recomputes our answer with the target's own choices (an order, a random draw) where a question of
// the standard is open (`open:` in an entry). The judge then compares, so that everything else must
// still be right.
#pragma once

#include <vector>

#include "reference/call.h"

namespace touchstone {

struct Opened {
  std::vector<Value> outputs;
  std::vector<Index> open;  // for each output the number of elements that may be anything
};
using Opening = Opened (*)(Call& call, const std::vector<Value>& observed);

namespace openings {
// The order of the found elements.
Opened order_of_the_chosen(Call& call, const std::vector<Value>& observed);
// Integers divided by zero.
Opened quotients_by_zero(Call& call, const std::vector<Value>& observed);
// Floats that an integer type cannot hold.
Opened floats_that_do_not_fit(Call& call, const std::vector<Value>& observed);
// Elements and slices that several updates write (Q043): any of these updates may win.
Opened updates_of_one_element(Call& call, const std::vector<Value>& observed);
Opened updates_of_one_slice(Call& call, const std::vector<Value>& observed);
// A pool's element, and index, of a window that holds only padding (Q024).
Opened windows_of_padding(Call& call, const std::vector<Value>& observed);
// The elements that a draw sets to zero.
Opened drawn_zeros(Call& call, const std::vector<Value>& observed);
}  // namespace openings

}  // namespace touchstone
