// Hands the program's function to the library's log.
#include "core/log.h"

#include <map>
#include <memory>
#include <mutex>

#include "api/fork.h"
#include "api/log.h"
#include "api/status.h"

namespace touchstone::api {
namespace {

struct Program {
  ts_log log;
  void* user;
};

void write(void* user, Severity severity, const char* category, const char* message) {
  const auto& program = *static_cast<const Program*>(user);
  program.log(program.user, static_cast<ts_severity>(severity), category, message);
}

// Returns the one object of a function and its argument. None is freed: a thread may be using it.
Program* kept(ts_log log, void* user) {
  using All = std::map<std::pair<ts_log, void*>, Program>;
  static std::mutex& mutex = *new std::mutex;
  static All& all = (survive_fork(mutex), *new All);
  const std::lock_guard lock(mutex);
  return &all.try_emplace({log, user}, Program{log, user}).first->second;
}

}  // namespace

ts_status* log_to(ts_log log, void* user, ts_severity least) {
  return guarded([&] {
    if (least < TS_SEVERITY_VERBOSE || least > TS_SEVERITY_FATAL)
      throw Error(ErrorKind::usage, "there is no severity " + std::to_string(least));
    set_log(log ? LogSink{write, kept(log, user), static_cast<Severity>(least)} : LogSink{});
  });
}

}  // namespace touchstone::api
