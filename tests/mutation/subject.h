// Mutants: models that mean something else than the one they were made from, with feeds for them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/limits.h"
#include "model/graph.h"
#include "tests/mutation/random.h"

namespace touchstone::mutation {

struct Subject {
  Model model;  // not resolved
  std::map<std::string, Value> feeds;
  std::string what;  // what was changed about which model
};

// What a mutant may ask for: little, since there are many.
Limits limits();

// Where mutants come from. The same number gives the same mutant on every machine.
class Source {
 public:
  virtual ~Source() = default;
  // Throws Error for a number that gives no mutant.
  virtual Subject make(Index number) const = 0;
};

// One or two changes to a model: to attributes, to values and shapes of initializers, to declared
// sizes of inputs, to what a node reads, to the opset.
class ModelSource : public Source {
 public:
  // All model.onnx below the folders that are small enough.
  explicit ModelSource(const std::vector<std::filesystem::path>& folders);
  Subject make(Index number) const override;

 private:
  std::vector<std::filesystem::path> files_;
};

// One to three changes to a line of the spec suite (conformance/suites/line.h).
class LineSource : public Source {
 public:
  explicit LineSource(const std::filesystem::path& folder);  // of files *.cases
  Subject make(Index number) const override;

 private:
  std::map<std::string, std::vector<std::string>> by_operator_;
  std::vector<std::string> operators_;
};

// The text of a mutated line. `same`: lines of the same operator.
std::string mutated(std::string line, const std::vector<std::string>& same, Random& random);

// The same model but for the shapes that it declares of what nodes make: none at all, or lies.
Model without_shapes(Model model);
Model with_lies(Model model, Random& random);
// As the file declares them, or lies.
Model twin_of(const Subject& subject, Random& random);
Random twin_random(Index number);

}  // namespace touchstone::mutation
