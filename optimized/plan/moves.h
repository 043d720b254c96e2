// Nodes that only move elements: where each element of an output comes from.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "optimized/kernels/move.h"
#include "optimized/plan/outline.h"

namespace touchstone {

inline constexpr Index nothing = -1;  // the source of a zero that no input has

// Elements that come one behind the other from one input.
struct MovedRun {
  Index source, from, to, count;
};
// Elements that come from one input by even steps, from element `from` on, and go to the output by
// even steps.
struct MovedPart {
  Move move;
  Index source = nothing, from = 0, to = 0;
};

// Sources count the inputs that are moved.
struct MovedOutput {
  Index buffer = nobody;
  Shape shape;
  std::vector<MovedRun> runs;    // in order; or
  std::vector<MovedPart> parts;  // over what it is filled with first, if it is; or
  bool filled = false;
  Index fill = nothing;                // a source of one element
  Index source = nothing;              // out of one input
  std::vector<std::int32_t> elements;  // one by one, -1 for zero
};

// Whether the node moves the elements of its input k: it has the type of the first one. Others say
// where to.
bool is_moved(const NodeFact& fact, std::size_t k);

// Element n of source k is known as first[k] + n; 0 is known as nobody's.
struct ElementNames {
  std::vector<Index> first;
  Index next = 1;

  ElementNames(const Outline& outline, const NodeFact& fact);
  std::pair<Index, Index> of(Index name) const;  // source and element
};

// The node's outputs where the elements that it moves are their names, or `whole` less their names.
// `shape`, if given, is that of its first input instead.
std::vector<Value> ask(const Outline& outline, const NodeFact& fact, Index whole,
                       const Shape* shape = nullptr);

// None where that is more dimensions than a Move has.
std::optional<Move> by_even_steps(const Shape& extents, const Point& from_steps,
                                  const Point& to_steps);
// Says of an output, whose shape is set, how its elements come, from their names.
void describe(MovedOutput& output, const std::int64_t* names, const ElementNames& known);

// What the node's role tells (told_moves.cc): none where it tells nothing.
std::optional<MovedOutput> told_move(const Outline& outline, const NodeFact& fact);
// What its reference kernel answers about every element (asked_moves.cc): none where it does not
// just move them.
std::vector<MovedOutput> asked_move(const Outline& outline, const NodeFact& fact);

}  // namespace touchstone
