// Memory of a value apart from its tensors' buffers, which charge themselves.
#pragma once

#include "core/tensor.h"

namespace touchstone {

// Bytes of the lists, maps and optionals that it consists of.
Index bytes_of_lists(const Value& value);

// Charges for a copy of a container: its lists while the scope lasts, and the work.
void charge_copy(const Value& value);

// Charges the strings in its tensors.
void charge_texts(const Value& value);

}  // namespace touchstone
