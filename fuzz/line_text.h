// Parts of a line of the spec suite as text, for edits that keep the rest as it is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace touchstone::fuzz {

struct LineText {
  std::string head;                // "ai.onnx.ml.Scaler-1"
  std::vector<std::string> ports;  // "*float[2,n=3]~special", "_"
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string outputs, rule;  // "x_x", "Clip-13/C1"; "" if missing
};
LineText split_line(const std::string& line);
std::string join_line(const LineText& parts);

// A port that is a tensor. Dimensions keep their symbols: "n=3".
struct PortText {
  std::string star, type;  // "*" or "", "float"
  std::vector<std::string> dims;
  std::string data;  // "~special" or "{1,2}"
};
// Returns false for an omitted port or a container.
bool split_port(const std::string& port, PortText& parts);
std::string join_port(const PortText& parts);

Index size_of_dim(const std::string& dim);                 // 3 of "n=3"
std::vector<std::string> items_of(std::string_view list);  // of "{1,2}" or "[1,2]"
std::string list_of(const std::vector<std::string>& items, char open, char close);

// Returns the elements as a line writes them: "{1,2.5}". The same text parses to the same elements,
// except for the payload of NaN.
std::string elements_of(const Tensor& tensor);

}  // namespace touchstone::fuzz
