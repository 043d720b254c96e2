// Registration functions of the parts of the module `touchstone._native`.
#pragma once

#include <nanobind/nanobind.h>

#include "core/tensor.h"

namespace touchstone::python {

// A map of plain numbers or strings as a dict, a sequence of such maps as a list; otherwise no
// object.
nanobind::object plain_maps(const Value& value);

void bind_errors(nanobind::module_& module);
void bind_values(nanobind::module_& module);
void bind_operators(nanobind::module_& module);
void bind_settings(nanobind::module_& module);
void bind_session(nanobind::module_& module);
void bind_functions(nanobind::module_& module);

}  // namespace touchstone::python
