// Converts strings that need not be UTF-8 (names in a model, elements of type string) to and from
// Python's str. Invalid bytes become lone surrogates, as in file names, so the round trip is exact.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace touchstone::python {

inline nanobind::object to_str(std::string_view bytes) {
  PyObject* made =
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (made == nullptr) throw nanobind::python_error();
  return nanobind::steal(made);
}

inline std::string from_str(nanobind::handle text) {
  nanobind::object held = nanobind::borrow(text);
  if (PyUnicode_Check(text.ptr())) {
    held = nanobind::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
    if (!held.is_valid()) throw nanobind::python_error();
  }
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(held.ptr(), &data, &size) != 0) throw nanobind::python_error();
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace touchstone::python
