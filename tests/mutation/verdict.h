// Runs a mutant on a runtime, and compares how two runs end.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/error.h"
#include "tests/mutation/subject.h"

namespace touchstone::mutation {

struct End {
  std::optional<ErrorKind> refused;  // nullopt: it ran
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

// Any exception is an end; one that is no Error has the kind internal.
End end_of(const Runtime& runtime, const Model& model, const std::map<std::string, Value>& feeds);

// "ran", "limit", ...
std::string name_of(const End& end);

// Describes what is wrong about one mutant, or returns "". Both runtimes run the mutant and its
// twin with other declared shapes. All four must end alike; if outputs differ in any bit, the judge
// decides. `counts` collects the ends by name.
std::string wrong_about(const Subject& subject, Random& random,
                        std::map<std::string, Index>& counts,
                        const Runtime& reference = run_reference, const Runtime& fast = run_fast);

}  // namespace touchstone::mutation
