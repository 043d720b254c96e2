// Fits size expressions: finds a formula of symbols that reproduces a size in all examples.
//
// Tried in this order: a number, a symbol, a polynomial of few symbols, a linear expression of
// many, and one floor division of a linear expression in one symbol. An expression is fitted to
// some of the examples and rejected unless it gives all others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"

namespace touchstone {

// scale * floor((constant + sum of coefficient * product of symbols) / divisor) + offset. A symbol
// is a position in a list of names. Without a division, scale is 1 and offset 0.
struct SizeExpression {
  bool known = false;
  Index constant = 0, divisor = 1, scale = 1, offset = 0;
  std::map<std::vector<std::size_t>, Index> terms;

  std::optional<Index> number() const {
    return known && terms.empty() ? std::optional(constant) : std::nullopt;
  }
  // "2*N*M - 1", "3*floor((N + 1)/2)", "?" if unknown.
  std::string text(const std::vector<std::string>& names) const;
};
SizeExpression number_expression(Index number);
SizeExpression symbol_expression(std::size_t symbol);
// True if the expression is `value` at the sizes, one per symbol.
bool gives(const SizeExpression& form, const std::vector<Index>& sizes, Index value);
// Returns a - b if it is the same number for all sizes.
std::optional<Index> constant_difference(const SizeExpression& a, const SizeExpression& b);

// Symbol sizes of each example. Example 0 is the base; the next ones differ from it in the symbols
// that `changes` names, the others in all symbols.
struct Examples {
  std::vector<std::vector<Index>> sizes;  // [example][symbol]
  // Per example 1, 2 ...; together every symbol once.
  std::vector<std::vector<std::size_t>> changes;
  Index step = 1;  // all symbol sizes are multiples of it
};

// Values observed as one symbol alone grows by 1: first, first + 1 ...
struct Staircase {
  std::size_t symbol;
  Index first;
  std::vector<Index> values;
};

// A fitted size expression and the symbols that the values depend on.
struct Fit {
  SizeExpression form;
  std::vector<std::size_t> depends;  // on these symbols
};
Fit fit(const Examples& examples, const std::vector<Index>& values);
SizeExpression fit_floor(const Examples& examples, const std::vector<Index>& values,
                         const Staircase& stairs);

}  // namespace touchstone
