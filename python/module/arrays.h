// Numpy arrays of the element types that numpy and tensors store alike, and of strings. They need
// no conversion by touchstone.values.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "core/tensor.h"

namespace touchstone::python {

// Numpy arrays that a run reads. Their memory is held until the object is destroyed.
class PlainArrays {
 public:
  PlainArrays() = default;
  ~PlainArrays();
  PlainArrays(const PlainArrays&) = delete;
  PlainArrays& operator=(const PlainArrays&) = delete;

  // Returns false, without an error, for anything but a contiguous array of such a type, and for
  // objects that are no strings. Copies strings.
  bool add(nanobind::handle value);
  // Returns a copy of an array, or a view of a large one of floats, which must not outlive this
  // object. Does not touch Python. Returns the strings of an array once. Throws Error.
  Tensor tensor(std::size_t k);

 private:
  struct Held {
    Py_buffer buffer;  // of no object, for strings
    Type type;
    Tensor texts;
  };
  std::vector<Held> held_;
};

// Returns an array that owns a copy, or holds the tensor if nothing else reads or writes its memory
// (`is_own`). Returns an invalid object if the type is none of those.
nanobind::object array_of(const Tensor& tensor, bool is_own);

}  // namespace touchstone::python
