// Compiled form of the files in spec/conversions; generated/transform/conversions.cc fills these
// tables.
#pragma once

#include <span>
#include <string_view>

#include "core/shape.h"

namespace touchstone::transform {

class NodeMatch;
class NodeRewriter;

// Alternative of a step; the first whose condition holds applies.
struct Piece {
  bool (*when)(const NodeMatch& found);    // null: always
  void (*replace)(NodeRewriter& rewrite);  // null: the node is carried over unchanged
};

// Conversion from one operator version to the adjacent one, if carrying over is not enough. `to` is
// 0 if there is no such version.
struct Step {
  std::string_view domain, op;
  int from, to;
  std::span<const Piece> pieces;
  std::string_view lacking;  // reason of the refusal if no piece applies
  std::string_view source;   // "spec/conversions/axes.yaml:12"
};
std::span<const Step> all_steps();

// Attribute that the adjacent version lacks and that this version defines but never reads.
struct Idle {
  std::string_view domain, op;
  int from, to;
  std::string_view attribute;
};
std::span<const Idle> all_idle();

// Release of ONNX: the file-format version and the opset of one domain that it supports. Oldest
// first.
struct Release {
  Index ir;
  std::string_view domain;
  Index opset;
};
std::span<const Release> all_releases();

}  // namespace touchstone::transform
