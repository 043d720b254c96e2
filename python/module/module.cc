// Entry point of touchstone._native, the thin C++ half of the Python package: values, sessions and
// errors. Their Python form (arrays, lists, option names) is defined in python/touchstone.
#include "python/module/module.h"

NB_MODULE(_native, module) {
  nanobind::set_leak_warnings(false);  // a session may live until the interpreter ends
  module.attr("__version__") = TOUCHSTONE_VERSION;
  touchstone::python::bind_errors(module);
  touchstone::python::bind_values(module);
  touchstone::python::bind_operators(module);
  touchstone::python::bind_settings(module);
  touchstone::python::bind_session(module);
  touchstone::python::bind_functions(module);
}
