// How a mutant ends on a runtime, and whether two ends are the same.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/error.h"
#include "tests/mutation/subject.h"

namespace touchstone::mutation {

struct End {
  std::optional<ErrorKind> refused;  // none: it ran
  std::string message;
  std::map<std::string, Value> outputs;
};

using Runtime =
    std::function<std::map<std::string, Value>(const Model&, const std::map<std::string, Value>&)>;
// Both check the model first.
std::map<std::string, Value> run_reference(const Model& model,
                                           const std::map<std::string, Value>& feeds);
std::map<std::string, Value> run_fast(const Model& model,
                                      const std::map<std::string, Value>& feeds);

// Whatever is thrown is an end; what is no Error is one of kind internal.
End end_of(const Runtime& runtime, const Model& model, const std::map<std::string, Value>& feeds);

// "ran", "limit", ..
std::string name_of(const End& end);

// Wrong about one mutant: "" if nothing is. The mutant runs on both runtimes, and so does its twin
// with other declared shapes. All four are to end alike; where outputs differ in a bit, the judge
// decides. `counts`: of ends, by name.
std::string wrong_about(const Subject& subject, Random& random,
                        std::map<std::string, Index>& counts,
                        const Runtime& reference = run_reference, const Runtime& fast = run_fast);

}  // namespace touchstone::mutation
