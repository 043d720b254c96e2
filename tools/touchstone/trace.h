// What each step of a session's last run took, as the trace that Chrome and Perfetto show.
#pragma once

#include <filesystem>
#include <string>

#include "core/json.h"
#include "optimized/session.h"

namespace touchstone {

class Trace {
 public:
  // The session keeps timings and has run. Each one that is added is a process of the trace: a row
  // of steps, and one a thread with what it did of them.
  void add(const std::string& name, const Session& session);
  void write(const std::filesystem::path& file) const;

 private:
  nlohmann::ordered_json events_ = nlohmann::ordered_json::array();
  int processes_ = 0;
};

}  // namespace touchstone
