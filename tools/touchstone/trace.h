// Timings of the steps of a session's last run, as a trace for Chrome and Perfetto.
#pragma once

#include <filesystem>
#include <string>

#include "core/json.h"
#include "optimized/session.h"

namespace touchstone::command {

class Trace {
 public:
  // Adds a session that keeps timings and has run. Each added session is a process of the trace: a
  // row of steps, and a row per thread with its share of them.
  void add(const std::string& name, const optimized::Session& session);
  void write(const std::filesystem::path& file) const;
  std::size_t size() const { return events_.size(); }  // of events

 private:
  nlohmann::ordered_json events_ = nlohmann::ordered_json::array();
  int processes_ = 0;
};

}  // namespace touchstone::command
