// Integers over symbols: polynomials with floor divisions, minima and maxima of polynomials as
// atoms.
//
// Each expression is stored once, so equal ones are one object. Each has a hint: its value at the
// sizes of one run. A comparison is proved for every value of the symbols, or else decided by the
// hints; it is then a guard, and what follows holds where the guards do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"
#include "core/types.h"

namespace touchstone {

struct Polynomial;
struct SymbolicAtom;

// A constant or a polynomial.
class SymbolicInteger {
 public:
  SymbolicInteger(Index constant = 0) : constant_(constant) {}  // NOLINT: implicit on purpose
  static SymbolicInteger of(const Polynomial& polynomial) {
    SymbolicInteger made;
    made.polynomial_ = &polynomial;
    return made;
  }

  const Polynomial* polynomial() const { return polynomial_; }  // null: a constant
  std::optional<Index> constant() const {
    return polynomial_ ? std::nullopt : std::optional(constant_);
  }
  Index hint() const;
  bool operator==(const SymbolicInteger&) const = default;

 private:
  const Polynomial* polynomial_ = nullptr;
  Index constant_ = 0;
};

// A number computed in a float type from integers, kept as the operations that give it.
struct RealOperation;
class SymbolicReal {
 public:
  SymbolicReal(double constant = 0) : constant_(constant) {}  // NOLINT: implicit on purpose
  static SymbolicReal of(const RealOperation& operation) {
    SymbolicReal made;
    made.operation_ = &operation;
    return made;
  }

  const RealOperation* operation() const { return operation_; }  // null: a constant
  std::optional<double> constant() const {
    return operation_ ? std::nullopt : std::optional(constant_);
  }
  double hint() const;
  // Two NaN are one number here: their operations agree.
  bool operator==(const SymbolicReal& other) const;

 private:
  const RealOperation* operation_ = nullptr;
  double constant_ = 0;
};

enum class RealOperator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  floor,
  ceil,
  truncate,
  round_even,
  sqrt,
  reciprocal,
  negate,
  absolute,
  convert,     // of a real
  of_integer,  // of an integer
};

struct RealOperation {
  RealOperator is;
  Type type;  // float32 or float64: of the result and of the operands
  std::vector<SymbolicReal> operands;
  SymbolicInteger integer;  // of of_integer
  double hint = 0;
  std::int64_t number = 0;
};

double narrowed(double x, Type type);  // rounded to float32 or float64
// One operation in double. Rounded to float32 that is the result in float32, except of convert.
double applied(RealOperator op, const std::vector<double>& operands);

struct SymbolicAtom {
  enum class Kind : std::uint8_t { symbol, floor, minimum, maximum, integer_of_real };
  Kind kind = Kind::symbol;
  // Dividend and divisor of a floor; items of a minimum or maximum; the long expression that a
  // symbol stands for.
  std::vector<SymbolicInteger> operands;
  SymbolicReal real;
  std::string name;  // of a symbol
  Index hint = 0;
  Index low = INT64_MIN, high = INT64_MAX;
};

// A product of atoms, by number, with a coefficient; no atoms: the constant.
struct Monomial {
  std::vector<std::uint32_t> atoms;  // ascending; an atom repeats for a power
  Index coefficient = 0;
  auto operator<=>(const Monomial&) const = default;
};

// At least one symbol occurs.
struct Polynomial {
  std::vector<Monomial> terms;  // ascending by atoms
  Index hint = 0;
  std::int64_t number = 0;  // from 1, in the order of creation
};

inline Index SymbolicInteger::hint() const { return polynomial_ ? polynomial_->hint : constant_; }
inline double SymbolicReal::hint() const { return operation_ ? operation_->hint : constant_; }

// Thrown where symbols do not decide: a comparison that is open, or an expression too long.
struct Undecided {};

}  // namespace touchstone
