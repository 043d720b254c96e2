// Operators that a program adds by functions of its own.
#pragma once

#include "api/session.h"

namespace touchstone::api {

// Table entries.
ts_status* options_add_operator(ts_options* options, const ts_operator* added);
ts_status* node_name(const ts_node* node, const char** name);
ts_status* node_attribute(const ts_node* node, const char* name, ts_attribute* attribute);
ts_status* node_set_output(ts_node* node, std::size_t index, const char* type, std::int32_t rank,
                           const std::int64_t* dims);

}  // namespace touchstone::api
