// Templates of nodes: the valid lines of the spec suite, by operator version.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/schema.h"

namespace touchstone::fuzz {

struct NodeTemplates {
  // Reads the files of lines below a folder. Throws Error (file) if there is none.
  explicit NodeTemplates(const std::filesystem::path& folder);

  struct Lines {
    std::vector<std::string> all;
    std::vector<std::string> floats;  // those whose first port is a float32 tensor
  };
  struct Operator {
    std::string_view domain, op;
  };

  std::map<const Signature*, Lines> lines;
  std::vector<Operator> operators;  // those with a line, sorted
};

// Replaces regimes of extreme data by near-normal data.
std::string with_tame_data(const std::string& line);

}  // namespace touchstone::fuzz
