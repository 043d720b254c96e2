// A temporary folder for files exchanged between processes, removed by the destructor.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "core/error.h"

namespace touchstone {

class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& within = std::filesystem::temp_directory_path()) {
    std::string name = (within / "touchstone-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::file, "no folder '" + name + "'");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace touchstone
