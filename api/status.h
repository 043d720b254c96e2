// Errors of the C interface.
#pragma once

#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

#include "core/error.h"
#include "include/touchstone/touchstone.h"

namespace touchstone::api {

// Returns a handle; a static one if there is no memory for another.
ts_status* status_of(const Error& error) noexcept;
ts_status* out_of_memory() noexcept;

// Returns the error of a status that is not null, and releases it.
Error taken(ts_status* status);

ts_status* status_create(ts_error kind, const char* message, ts_status** status);
ts_error status_kind(const ts_status* status);
const char* status_message(const ts_status* status);
const char* status_json(const ts_status* status);
void status_release(ts_status* status);

// Runs `work` and returns its error, null if there is none.
template <class Work>
ts_status* guarded(Work&& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (const Error& error) {
    return status_of(error);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  } catch (const std::filesystem::filesystem_error& error) {
    return status_of(Error(ErrorKind::file, error.what()));
  } catch (const std::exception& error) {
    return status_of(Error(ErrorKind::internal, error.what()));
  } catch (...) {
    return status_of(Error(ErrorKind::internal, "an unknown exception"));
  }
}

// Throws Error (usage) if an argument is null.
void require(const void* argument, const char* name);

// Copies a structure to the caller's, which may be of an older header, and so shorter. Throws Error
// (usage) if struct_size was not set.
template <class T>
void write_sized(T* to, T made) {
  const std::size_t size = to->struct_size;
  if (size <= sizeof(std::size_t) || size > sizeof(T))
    throw Error(ErrorKind::usage, "struct_size is " + std::to_string(size) + ", and must be " +
                                      std::to_string(sizeof(T)));
  made.struct_size = size;
  std::memcpy(to, &made, size);
}

// Returns the caller's structure, with zeros where it is of an older header.
template <class T>
T read_sized(const T* from) {
  T made{};
  const std::size_t size = from->struct_size;
  if (size <= sizeof(std::size_t) || size > sizeof(T))
    throw Error(ErrorKind::usage, "struct_size is " + std::to_string(size) + ", and must be " +
                                      std::to_string(sizeof(T)));
  std::memcpy(&made, from, size);
  return made;
}

}  // namespace touchstone::api
