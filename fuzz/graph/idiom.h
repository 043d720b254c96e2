// Idioms: small subgraphs that exporters write, as data (fuzz/idioms/*.idioms). README.md there
// describes the language.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/shape.h"

namespace touchstone::fuzz {

// Values of a size parameter that no input determines.
struct SizeRange {
  std::string name;
  Index low = 1, high = 6;
  bool dynamic = false;  // may be a symbol with a size of its own in each run
};

// An input: a value of the graph, or a new one.
struct Hole {
  std::string name, element;      // "x", "float"
  bool leading = false;           // any extents may precede
  std::vector<std::string> dims;  // a number, a size parameter or "_"
  std::string regime = "real";    // of new data
};

struct Statement {
  enum class Kind { node, constant, chain, body, function };
  Kind kind = Kind::node;
  std::vector<std::string> outputs;  // names; "_" if omitted
  std::string op;                    // "Concat", "ai.onnx.ml.Scaler", "@" and a function's name
  std::vector<std::string> ports;    // names, "_", or tensors as in a line of the spec suite
  std::string attributes;            // as in a line
  std::vector<std::pair<std::string, std::string>> graphs;      // attribute and body
  std::vector<std::pair<std::string, std::string>> parameters;  // of a body: name, first value
  std::vector<Statement> inner;
  std::vector<std::string> results;  // that a body returns
  std::string place;                 // "masks.idioms:12"
};

struct Idiom {
  std::string name;
  std::string adapts;  // "cast", "shape" or "calm" for adapters, else ""
  Index since = 1, until = std::numeric_limits<Index>::max();  // opsets
  std::vector<SizeRange> sizes;
  std::vector<Hole> holes;
  std::vector<Statement> statements;
};

// Throws Error (usage) with the place of the first line that is malformed.
std::vector<Idiom> parse_idioms(const std::string& text, const std::string& file);
// Reads all files of a folder, in the order of their names.
std::vector<Idiom> read_idioms(const std::filesystem::path& folder);

}  // namespace touchstone::fuzz
