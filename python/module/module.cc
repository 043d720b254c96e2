// touchstone._native: the thin half of the Python package. It knows values, sessions and errors;
// what they look like to a user of Python (arrays, lists, names of options) is python/touchstone's.
#include "python/module/module.h"

NB_MODULE(_native, module) {
  nanobind::set_leak_warnings(false);  // a session may well live until the interpreter ends
  module.attr("__version__") = TOUCHSTONE_VERSION;
  touchstone::python::bind_errors(module);
  touchstone::python::bind_values(module);
  touchstone::python::bind_session(module);
}
