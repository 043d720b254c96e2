// Index programs: what definitions say of shapes and elements, as trees to be evaluated over
// symbols. codegen/index_program.py writes them; index_evaluator.h evaluates them.
#pragma once

#include <string_view>
#include <vector>

#include "core/shape.h"
#include "core/types.h"
#include "model/schema.h"
#include "reference/index_operations.h"

namespace touchstone {

// A type as a program names it: one of its constraints, an element type, or neither.
struct IndexType {
  int constraint = -1;
  Type type = Type::undefined;
};

struct IndexExpression {
  IndexOperation is = IndexOperation::absent;
  IndexSort sort = IndexSort::index_;  // of arithmetic, coercions and calls
  IndexType of;                        // of the sort `element`
  // The number of a constant, place of a name, slot of a binder, function, class or reduction.
  Index number = 0;
  std::string_view text;
  std::vector<IndexExpression> operands;
  std::vector<std::string_view> arms;  // of a match; a null text: any other
  struct Binder {
    IndexBinder is;
    Index input = 0, slot = 0;
    std::vector<IndexExpression> bounds;  // low and high, or the extents of a box
  };
  std::vector<Binder> binders;  // of a reduction

  explicit operator bool() const { return is != IndexOperation::absent; }
};

struct IndexStatement {
  IndexStatementKind is = IndexStatementKind::opaque;
  bool of_output = false;
  Index target = 0;        // an output or a buffer
  Index family_slot = -1;  // of the index over the tensors of a variadic output
  struct Place {
    IndexPlace is;
    Index slot;
    IndexExpression size;
  };
  std::vector<Place> places;
  IndexExpression view, value;
  std::vector<IndexStatement> block;
};

struct IndexProgram {
  struct Constraint {
    Type only = Type::undefined;
    std::vector<Index> inputs, outputs;
  };
  struct Input {
    bool variadic = false;
    IndexExpression default_element;
  };
  struct Attribute {
    std::string_view name;
    IndexAttribute kind = IndexAttribute::other;
    bool has_default = false;
    std::vector<Index> numbers;
    std::vector<std::string_view> texts;
  };
  struct Output {
    bool has_shape = false;
    Index family_slot = -1;
    IndexExpression shape;
  };
  std::vector<Constraint> constraints;
  std::vector<Input> inputs;
  std::vector<Attribute> attributes;
  std::vector<IndexExpression> lets;
  std::vector<Output> outputs;
  Index buffers = 0, slots = 0;
  std::vector<IndexStatement> body;
};

// The number of a text such as "0.5".
double real_constant(std::string_view text);

// Null if the version has no program. Programs are read on first use and kept.
const IndexProgram* find_index_program(const Signature& signature);

// Written by codegen.
struct IndexProgramRow {
  std::uint16_t domain, op, since;  // texts, by number
  std::uint32_t place;              // in index_bytes
};
extern const IndexProgramRow index_rows[];
extern const std::size_t index_row_count, index_text_count;
extern const char index_texts[], index_bytes[];

}  // namespace touchstone
