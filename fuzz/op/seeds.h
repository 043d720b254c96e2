// Starting points of draws: the lines of the spec suite by operator version, and the values that
// they give to attributes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuzz/op/draft.h"

namespace touchstone::fuzz {

class Seeds {
 public:
  struct Version {
    std::vector<Draft> valid, refused;
    std::map<std::string, std::vector<std::string>> values;  // of attributes, each once
    std::map<std::size_t, std::vector<DraftPort>> ports;     // values of optional inputs
  };

  // Reads all lines below a folder. Throws Error (file) if there are none.
  explicit Seeds(const std::filesystem::path& folder);

  const Version& of(const Signature& signature) const;

 private:
  std::map<const Signature*, Version> versions_;
};

}  // namespace touchstone::fuzz
