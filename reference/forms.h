// A size as a formula of symbols, found from examples: how large it was when the symbols were as
// large as this.
//
// Tried in this order: a number, a symbol, a polynomial of few symbols, a linear form of many, and
// one floor division of a linear form in one symbol. A form is fitted to some of the examples and
// must give all the others, or it is dropped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"

namespace touchstone {

// scale * floor((constant + the sum of coefficient * product of symbols) / divisor) + offset; a
// symbol is a position in a list of names. Where nothing is divided, scale is 1 and offset 0.
struct SizeExpression {
  bool known = false;
  Index constant = 0, divisor = 1, scale = 1, offset = 0;
  std::map<std::vector<std::size_t>, Index> terms;

  std::optional<Index> number() const {
    return known && terms.empty() ? std::optional(constant) : std::nullopt;
  }
  // "2*N*M - 1", "3*floor((N + 1)/2)", "?" if it is not known.
  std::string text(const std::vector<std::string>& names) const;
};
SizeExpression number_form(Index number);
SizeExpression symbol_form(std::size_t symbol);
// By how much `a` is always larger than `b`, where that is one number for all sizes.
std::optional<Index> constant_difference(const SizeExpression& a, const SizeExpression& b);

// The sizes of all symbols, once an example. Example 0 is the base; the next ones differ from it in
// the symbols that `changes` names, the others in all symbols.
struct Examples {
  std::vector<std::vector<Index>> sizes;  // [example][symbol]
  std::vector<std::vector<std::size_t>>
      changes;     // of examples 1, 2 ...: together every symbol once
  Index step = 1;  // that all sizes of symbols are a multiple of
};

// A symbol and what a value was as that alone grew by 1: first, first + 1 ...
struct Staircase {
  std::size_t symbol;
  Index first;
  std::vector<Index> values;
};

struct Fit {
  SizeExpression form;
  std::vector<std::size_t> depends;  // on these symbols
};
Fit fit(const Examples& examples, const std::vector<Index>& values);
SizeExpression fit_floor(const Examples& examples, const std::vector<Index>& values,
                         const Staircase& stairs);

}  // namespace touchstone
