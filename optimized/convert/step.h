// What the files of spec/conversions become: generated/optimized/conversions.cc fills this in.
#pragma once

#include <span>
#include <string_view>

#include "core/shape.h"

namespace touchstone::conversion {

class Found;
class Rewrite;

// What is done with a node: the first piece whose conditions hold.
struct Piece {
  bool (*when)(const Found& found);   // null: always
  void (*replace)(Rewrite& rewrite);  // null: the node is carried over as it stands
};

// From one version of an operator to its neighbour, where that is not plain; to 0: out of the
// operator.
struct Step {
  std::string_view domain, op;
  int from, to;
  std::span<const Piece> pieces;
  std::string_view lacking;  // why a node for which no piece is meant is refused
  std::string_view source;   // "spec/conversions/axes.yaml:12"
};
std::span<const Step> all_steps();

// An attribute that the next version dropped, and that nothing in this one reads.
struct Idle {
  std::string_view domain, op;
  int from, to;
  std::string_view attribute;
};
std::span<const Idle> all_idle();

// A release of ONNX knew a version of the file format and, of each domain, an opset; oldest first.
struct Release {
  Index ir;
  std::string_view domain;
  Index opset;
};
std::span<const Release> all_releases();

}  // namespace touchstone::conversion
