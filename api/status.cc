// Errors of the C interface: kept with their text until the caller releases them.
#include "api/status.h"

#include "api/handle.h"
#include "core/json.h"

namespace touchstone::api {
namespace {

struct Status {
  ErrorKind kind;
  std::string message, json;
};

Handles<Status>& statuses() {
  static Handles<Status>& all = *new Handles<Status>("ts_status");
  return all;
}

// Handle of the error that there is no memory, for which nothing is allocated.
constexpr std::uintptr_t no_memory = 0x8;
constexpr const char* no_memory_message = "there is not enough memory";
constexpr const char* no_memory_json =
    R"({"kind":"out_of_memory","message":"there is not enough memory"})";

bool is_no_memory(const ts_status* status) {
  return reinterpret_cast<std::uintptr_t>(status) == no_memory;
}

std::shared_ptr<Status> found(const ts_status* status) {
  try {
    return statuses().get(status);
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::string json_of(const Error& error) {
  nlohmann::ordered_json all{{"kind", name(error.kind)}, {"message", error.message}};
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) all[key] = text;
  };
  add("rule", error.rule), add("rule_text", error.rule_text), add("spec_line", error.spec_line);
  add("place", error.place), add("help", error.help);
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

ts_status* out_of_memory() noexcept { return as_handle<ts_status>(no_memory); }

ts_status* status_of(const Error& error) noexcept {
  try {
    if (error.kind == ErrorKind::out_of_memory && error.place.empty()) return out_of_memory();
    return as_handle<ts_status>(statuses().add(
        std::make_shared<Status>(Status{error.kind, error.message, json_of(error)})));
  } catch (const std::exception&) {
    return out_of_memory();
  }
}

Error taken(ts_status* status) {
  if (is_no_memory(status)) return {ErrorKind::out_of_memory, no_memory_message};
  const std::shared_ptr<Status> held = statuses().take(status);
  if (!held) return {ErrorKind::usage, "a function of the program returned what is no ts_status"};
  return {held->kind, held->message};
}

ts_status* status_create(ts_error kind, const char* message, ts_status** status) {
  return guarded([&] {
    require(message, "message"), require(status, "status");
    if (kind < TS_ERROR_USAGE || kind > TS_ERROR_INTERNAL)
      throw Error(ErrorKind::usage, "there is no error of kind " + std::to_string(kind));
    // The kinds have the same order in both languages, without a first one for success.
    *status = status_of(Error(static_cast<ErrorKind>(kind - TS_ERROR_USAGE), message));
  });
}

ts_error status_kind(const ts_status* status) {
  if (status == nullptr) return TS_ERROR_NONE;
  if (is_no_memory(status)) return TS_ERROR_OUT_OF_MEMORY;
  const std::shared_ptr<Status> held = found(status);
  if (!held) return TS_ERROR_USAGE;
  switch (held->kind) {
    case ErrorKind::usage:
      return TS_ERROR_USAGE;
    case ErrorKind::invalid_model:
      return TS_ERROR_INVALID_MODEL;
    case ErrorKind::invalid_input:
      return TS_ERROR_INVALID_INPUT;
    case ErrorKind::unsupported:
      return TS_ERROR_UNSUPPORTED;
    case ErrorKind::out_of_memory:
      return TS_ERROR_OUT_OF_MEMORY;
    case ErrorKind::limit:
      return TS_ERROR_LIMIT;
    case ErrorKind::cancelled:
      return TS_ERROR_CANCELLED;
    case ErrorKind::file:
      return TS_ERROR_FILE;
    case ErrorKind::internal:
      return TS_ERROR_INTERNAL;
  }
  return TS_ERROR_INTERNAL;
}

const char* status_message(const ts_status* status) {
  if (is_no_memory(status)) return no_memory_message;
  const std::shared_ptr<Status> held = found(status);
  return held ? held->message.c_str() : "";
}

const char* status_json(const ts_status* status) {
  if (is_no_memory(status)) return no_memory_json;
  const std::shared_ptr<Status> held = found(status);
  return held ? held->json.c_str() : "";
}

void status_release(ts_status* status) { statuses().take(status); }

void require(const void* argument, const char* name) {
  if (argument == nullptr)
    throw Error(ErrorKind::usage, std::string("the argument '") + name + "' is null");
}

}  // namespace touchstone::api
