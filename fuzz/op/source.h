// Source of cases of one operator. A number draws an operator version, a starting point among the
// lines of the spec suite, and changes of it. The solver mends the rules that the changes break.
#pragma once

#include <memory>
#include <string>

#include "fuzz/case.h"
#include "fuzz/op/trial.h"

namespace touchstone::fuzz {

struct OperatorOptions {
  std::string versions = "*";  // shell pattern of names such as Conv-22, ai.onnx.ml.Scaler-1
  Index invalid_percent = 10;  // share of cases that a rule must refuse
  Bounds bounds = {};
};

class OperatorSource : public Source {
 public:
  // Throws Error (usage) if no version matches.
  explicit OperatorSource(OperatorOptions options = {});
  ~OperatorSource() override;

  Case make(std::uint64_t number) const override;

  // The case of a line: its identity makes it again.
  static Case of_line(const std::string& line);

  struct Impl;

 private:
  std::unique_ptr<const Impl> impl_;
};

}  // namespace touchstone::fuzz
