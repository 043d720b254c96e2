// The parts that the module `touchstone._native` is put together of.
#pragma once

#include <nanobind/nanobind.h>

namespace touchstone::python {

void bind_errors(nanobind::module_& module);
void bind_values(nanobind::module_& module);
void bind_session(nanobind::module_& module);

}  // namespace touchstone::python
