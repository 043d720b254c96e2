// Greedy reduction: takes the first simpler case that shows the same fault, and goes on from there
// until none does.
#include "fuzz/reduce.h"

#include <set>

#include "conformance/suites/line.h"
#include "core/error.h"
#include "fuzz/line_source.h"
#include "fuzz/line_text.h"

namespace touchstone::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

class Reduction {
 public:
  Reduction(const Case& one, const Outcome& found, const ExamineCase& examine,
            std::chrono::milliseconds time)
      : best_{one, found}, first_(found), examine_(examine), end_(Clock::now() + time) {}

  Reduced run() {
    is_line_ = is_case_of_line(best_.is);
    if (!is_line_) {
      descend([](const Case& one) { return simpler_graphs(one); });
      const std::string line = line_of(best_.is);
      if (!line.empty()) is_line_ = take_line(line);
    }
    if (is_line_) {
      descend([this](const Case& one) {
        std::vector<Case> cases;
        for (const std::string& line : simpler_lines(one.text)) {
          try {
            cases.push_back(case_of(line));
          } catch (const Error&) {  // it does not parse
          }
        }
        return cases;
      });
    }
    best_.in_time = Clock::now() < end_;
    return std::move(best_);
  }

 private:
  // True if the text is a line that makes this very case.
  static bool is_case_of_line(const Case& one) {
    try {
      suites::parse_line(one.text);
      return one.feeds.size() == 1 && one.model.graph.nodes.size() == 1;
    } catch (const Error&) {
      return false;
    }
  }

  bool take(const Case& candidate) {
    if (is_line_ && !tried_.insert(candidate.text).second) return false;
    ++best_.trials;
    Outcome found = examine_(candidate);
    if (!same_fault(found, first_)) return false;
    best_.is = candidate;
    best_.outcome = std::move(found);
    return true;
  }

  // Returns the case of a line, with the transformation of the case that is reduced.
  Case case_of(const std::string& line) const {
    Case made = case_of_line(line);
    made.transformation = best_.is.transformation;
    return made;
  }

  bool take_line(const std::string& line) {
    try {
      return take(case_of(line));
    } catch (const Error&) {
      return false;
    }
  }

  // Tries candidates in order. After a success the candidates are those of the new case, from the
  // same position on; ends after a whole pass without one.
  template <class Simplify>
  void descend(const Simplify& simplify) {
    std::size_t without = 0;
    std::vector<Case> candidates = simplify(best_.is);
    for (std::size_t k = 0; !candidates.empty() && without < candidates.size(); ++k) {
      if (Clock::now() >= end_) return;
      k %= candidates.size();
      if (!take(candidates[k])) {
        ++without;
        continue;
      }
      without = 0;
      candidates = simplify(best_.is);
      --k;  // the next candidate has this position
    }
  }

  Reduced best_;
  bool is_line_ = false;
  std::set<std::string> tried_;  // lines
  const Outcome first_;
  const ExamineCase& examine_;
  const Clock::time_point end_;
};

}  // namespace

Reduced reduce(const Case& one, const Outcome& found, const ExamineCase& examine,
               std::chrono::milliseconds time) {
  return Reduction(one, found, examine, time).run();
}

}  // namespace touchstone::fuzz
