// What a value takes beside its tensors, which charge themselves.
#pragma once

#include "core/tensor.h"

namespace touchstone {

// Of the lists, maps and optionals that it is made of.
Index bytes_of_lists(const Value& value);

// Charges the texts that its tensors hold.
void charge_texts(const Value& value);

}  // namespace touchstone
