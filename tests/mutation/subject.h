// Mutants: models with changed semantics, and feeds for them.
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
  std::string what;  // describes the edits and the original
};

// Limits of a mutant's run: low, since there are many.
Limits limits();

// A source of mutants. The same number gives the same mutant on every machine.
class Source {
 public:
  virtual ~Source() = default;
  // Throws Error for a number that gives no mutant.
  virtual Subject make(Index number) const = 0;
};

// One or two edits of a model: of attributes, initializers' values and shapes, declared input
// sizes, a node's inputs, the opset.
class ModelSource : public Source {
 public:
  // Finds every model.onnx below the folders that is small enough.
  explicit ModelSource(const std::vector<std::filesystem::path>& folders);
  Subject make(Index number) const override;

 private:
  std::vector<std::filesystem::path> files_;
};

// One to three edits of a line of the spec suite (conformance/suites/line.h).
class LineSource : public Source {
 public:
  explicit LineSource(const std::filesystem::path& folder);  // reads its files *.cases
  Subject make(Index number) const override;

 private:
  std::map<std::string, std::vector<std::string>> by_operator_;
  std::vector<std::string> operators_;
};

// Copies of the model without shapes of intermediate values and outputs, or with wrong ones.
Model without_shapes(Model model);
Model with_lies(Model model, Random& random);
// The model with its file's own declarations, or with wrong shapes.
Model twin_of(const Subject& subject, Random& random);
Random twin_random(Index number);

}  // namespace touchstone::mutation
