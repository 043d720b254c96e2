// A source of cases that are edited lines of the spec suite (conformance/suites/line.h).
#pragma once

#include "fuzz/line_edit.h"
#include "fuzz/source_of.h"

namespace touchstone::fuzz {

// One line in four is unchanged; the others have one to three edits. Lines that the reference
// refuses become cases that a target must refuse, one in four of them.
class LineSource : public Source {
 public:
  LineSource(const std::filesystem::path& folder, const std::string& ops);
  Case make(std::uint64_t number) const override;

 private:
  std::map<std::string, std::vector<std::string>> by_operator_;
  std::vector<std::string> operators_;  // "Clip-13"
};

// Returns the case of a line. Its rule is the one that the line names.
Case case_of_line(const std::string& line);

}  // namespace touchstone::fuzz
