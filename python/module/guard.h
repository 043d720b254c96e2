// How Python calls us: the interpreter's lock is given up while we work, and whatever we throw
// arrives as the one error type.
#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <new>
#include <stdexcept>

#include "core/error.h"

namespace touchstone::python {

// Has a signal come whose handler raises? That is asked of the main thread.
bool signal_raised();

// `work` touches nothing of Python's.
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
