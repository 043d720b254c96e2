// Converts Error to touchstone.Error with all its fields.
#include "core/error.h"

#include <unistd.h>

#include "model/rules.h"
#include "python/module/guard.h"
#include "python/module/module.h"
#include "python/module/text.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;

void raise(const Error& error) {
  // A Python exception that caused the cancellation, such as KeyboardInterrupt, stays.
  if (error.kind == ErrorKind::cancelled && PyErr_Occurred()) return;
  const nb::object type = nb::module_::import_("touchstone.errors").attr("Error");
  const nb::object made = type(to_str(name(error.kind)), to_str(error.message), to_str(error.rule),
                               to_str(error.rule_text), to_str(error.spec_line),
                               to_str(error.place), to_str(error.help));
  PyErr_SetObject(type.ptr(), made.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error);
  }
}

}  // namespace

bool signal_raised() {
  if (::gettid() != ::getpid()) return false;
  const nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

void bind_errors(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def(
      "refuse",
      [](nb::str rule, nb::str message, nb::str place) {
        throw breach(from_str(rule), from_str(message)).with_place(from_str(place));
      },
      nb::arg("rule"), nb::arg("message"), nb::arg("place"),
      "Raises the error that cites a rule of the format.");
}

}  // namespace touchstone::python
