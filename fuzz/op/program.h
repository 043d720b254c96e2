// Rules of an operator version as terms: the entry's notation, parsed at build time
// (fuzz/op/emit_rules.py) and read here in prefix form.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/schema.h"

namespace touchstone::fuzz {

struct Term {
  enum class Kind { integer, real, string, name, form };
  Kind kind = Kind::form;
  Index number = 0;
  double real = 0;
  std::string text;  // string, name, or the head of a form
  std::vector<Term> args;

  bool is(std::string_view head) const { return kind == Kind::form && text == head; }
};

struct NamedTerm {
  std::string name;
  Term term;
};

struct Program {
  std::vector<NamedTerm> lets, rules;
  std::vector<NamedTerm> positions;   // inputs whose elements are positions below a term
  std::vector<std::string> computed;  // inputs whose elements decide shapes or rules

  const Term* let(std::string_view name) const;
};

// Row of the generated table.
struct ProgramText {
  std::string_view domain, op;
  int since;
  std::string_view text;
};
std::span<const ProgramText> program_texts();

// Operator for a role in a template of a body: "copy", "loop" (bodies.yaml).
struct BodyOperator {
  std::string_view role, op;
};
std::span<const BodyOperator> body_operators();

// Programs of all versions that are defined in the notation.
class Programs {
 public:
  Programs();
  const Program& of(const Signature& signature) const;  // an empty program if there is none

 private:
  std::map<const Signature*, std::shared_ptr<const Program>> programs_;
  Program none_;
};

}  // namespace touchstone::fuzz
