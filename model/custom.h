// Operators that a program adds to those of the standard, for the models that it loads. A node of
// one has a signature like any other; inference and the interpreter ask the operator itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/graph.h"

namespace touchstone {

struct Call;  // reference/call.h

// Facts of an input or output without its elements.
struct CustomFact {
  std::optional<ValueType> type;
  std::optional<Shape> shape;  // of a tensor
};

struct CustomParameter {
  std::string name;
  std::vector<std::string> types;  // "tensor(float)"; none: every tensor type
  std::string bound;  // parameters with the same word here have the same type; "": free
  bool optional = false, variadic = false;
};

class CustomOperator {
 public:
  // Throws Error (usage): a domain of the standard, a name or parameter that is none.
  CustomOperator(std::string domain, std::string op, int since, std::vector<CustomParameter> inputs,
                 std::vector<CustomParameter> outputs);
  virtual ~CustomOperator() = default;
  CustomOperator(const CustomOperator&) = delete;
  CustomOperator& operator=(const CustomOperator&) = delete;

  const Signature& signature() const { return signature_; }

  // Fills the wanted outputs of a call whose inputs have the types of the signature. May be called
  // by several threads at once.
  virtual void compute(Call& call) const = 0;
  // Returns a row for each output, empty where nothing is known. Called many times, also with
  // shapes that no run has. An Error says that nothing is known.
  virtual std::vector<CustomFact> infer(const Node&, const std::vector<CustomFact>&) const {
    return {};
  }

 private:
  // Signature that leads back to its operator.
  struct Own : Signature {
    const CustomOperator* of = nullptr;
  };
  struct Side {
    std::vector<CustomParameter> written;
    std::vector<std::string> constraints;  // names, by parameter
    std::vector<ParameterSpec> specs;
  };
  void add(Side& side, std::vector<CustomParameter> written, const char* what);
  friend const CustomOperator* custom_operator(const Signature& signature);

  const std::string domain_, op_;
  Side inputs_, outputs_;
  std::vector<std::vector<std::string_view>> lists_;  // of types, by constraint
  std::vector<ConstraintSpec> constraints_;
  Own signature_;
};

// Returns the operator of a signature; null for the standard's.
const CustomOperator* custom_operator(const Signature& signature);

using CustomOperators = std::vector<std::shared_ptr<const CustomOperator>>;

// Lets resolve() find these operators on this thread until the scope ends. They must outlive the
// models that it resolves.
class CustomScope {
 public:
  explicit CustomScope(const CustomOperators& operators);
  ~CustomScope();
  CustomScope(const CustomScope&) = delete;
  CustomScope& operator=(const CustomScope&) = delete;

 private:
  const CustomOperators* const before_;
};

// Returns the newest version in force at an opset, of the operators in scope; null if there is
// none.
const Signature* find_custom(std::string_view domain, std::string_view op, Index opset);
bool knows_custom(std::string_view domain, std::string_view op);  // in any version

// Adds an operator. Throws Error (usage) if the list has this version of it.
void add_operator(CustomOperators& to, std::shared_ptr<const CustomOperator> added);

}  // namespace touchstone
