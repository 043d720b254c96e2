// Options of the C interface: settings by name, parsed when they are set.
#include <charconv>
#include <cmath>
#include <sstream>

#include "api/session.h"
#include "api/status.h"

namespace touchstone::api {
namespace {

Handles<HeldOptions>& all_options() {
  static Handles<HeldOptions>& all = *new Handles<HeldOptions>("ts_options");
  return all;
}

[[noreturn]] void refuse(const std::string& name, const std::string& value, const char* takes) {
  throw Error(ErrorKind::usage, "the option '" + name + "' is '" + value + "', and takes " + takes);
}

template <class T>
T number(const std::string& name, const std::string& value, T min, const char* takes) {
  T out{};
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, out);
  if (error != std::errc() || at != end || !(out >= min)) refuse(name, value, takes);
  return out;
}

std::vector<std::string> list(const std::string& value) {
  std::vector<std::string> out;
  std::istringstream parts(value);
  for (std::string part; std::getline(parts, part, ',');) out.push_back(part);
  return out;
}

void set(HeldOptions& to, const std::string& name, const std::string& value) {
  optimized::SessionOptions& options = to.options;
  if (name == "runtime") {
    if (value != "fast" && value != "reference") refuse(name, value, "fast or reference");
    to.fast = value == "fast";
  } else if (name == "threads") {
    options.threads = number<Index>(name, value, 0, "a number of threads; 0: all");
  } else if (name == "concurrent_runs") {
    options.concurrent_runs =
        number<Index>(name, value, 0, "a number of runs; 0: by the processors");
  } else if (name == "level") {
    const std::optional<transform::Level> level = transform::level_by_name(value);
    if (!level) refuse(name, value, "none, basic, extended or all");
    options.passes.level = *level;
  } else if (name == "winograd") {
    if (value != "0" && value != "1") refuse(name, value, "0 or 1");
    options.winograd = value == "1";
  } else if (name == "with_passes") {
    options.passes.with = list(value);
  } else if (name == "without_passes") {
    options.passes.without = list(value);
  } else if (name == "devices") {
    options.devices = value;
  } else if (name == "limits") {
    if (value != "trusted" && value != "untrusted") refuse(name, value, "trusted or untrusted");
    options.limits = value == "trusted" ? Limits::trusted() : Limits::untrusted();
  } else if (name == "deadline") {
    constexpr double max_seconds = 1e9;
    const auto seconds = number<double>(name, value, 1e-3, "seconds, from 0.001 on");
    if (!std::isfinite(seconds) || seconds > max_seconds)
      refuse(name, value, "seconds, from 0.001 to 1e9");
    to.milliseconds = static_cast<Index>(seconds * 1000);
  } else if (name == "memory_limit") {
    to.memory = number<Index>(name, value, 1, "a number of bytes above 0");
  } else if (name.starts_with("dim:") && name.size() > 4) {
    options.dims[name.substr(4)] = number<Index>(name, value, 0, "a size");
  } else {
    throw Error(ErrorKind::usage, "there is no option '" + name + "'")
        .with_help(
            "options: runtime, threads, concurrent_runs, level, winograd, with_passes, "
            "without_passes, devices, limits, deadline, memory_limit, dim:SYMBOL");
  }
}

}  // namespace

ts_status* options_create(ts_options** options) {
  return guarded([&] {
    require(options, "options");
    *options = as_handle<ts_options>(all_options().add(std::make_shared<HeldOptions>()));
  });
}

ts_status* options_set(ts_options* options, const char* name, const char* value) {
  return guarded([&] {
    require(name, "name"), require(value, "value");
    const std::shared_ptr<HeldOptions> held = all_options().get(options);
    const std::lock_guard lock(held->mutex);
    set(*held, name, value);
  });
}

void options_release(ts_options* options) { all_options().take(options); }

ts_status* options_set_executor(ts_options* options, ts_parallel_for executor, void* user) {
  return guarded([&] {
    const std::shared_ptr<HeldOptions> held = options_of(options);
    const std::lock_guard lock(held->mutex);
    held->options.executor = {executor, user};
  });
}

std::shared_ptr<HeldOptions> options_of(const ts_options* options) {
  return all_options().get(options);
}

HeldOptions::Settled HeldOptions::settled() const {
  const std::lock_guard lock(mutex);
  Settled made{fast, options, operators};
  if (milliseconds) made.options.limits.milliseconds = *milliseconds;
  if (memory) made.options.limits.memory = *memory;
  return made;
}

HeldOptions::Settled settings_of(const ts_options* options) {
  return options ? options_of(options)->settled() : HeldOptions().settled();
}

}  // namespace touchstone::api
