// Boundary between Python and C++: releases the interpreter's lock during our work, and converts
// every exception to Error.
#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <new>
#include <stdexcept>

#include "core/error.h"

namespace touchstone::python {

// Runs pending Python signal handlers and returns true if one raised. Always false outside the main
// thread.
bool signal_raised();

// Runs `work`, which must not touch Python objects, without the interpreter's lock.
template <class Work>
auto unlocked(const Work& work) {
  const nanobind::gil_scoped_release release;
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory, "no memory is left");
  } catch (const std::length_error&) {
    throw Error(ErrorKind::out_of_memory, "more is asked for than memory can hold");
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(ErrorKind::file, error.what());
  } catch (const std::exception& error) {
    throw Error(ErrorKind::internal, error.what())
        .with_help("this is a fault of Touchstone, not of the model: please report it");
  }
}

}  // namespace touchstone::python
