// Recurrent layers as the attributes of their nodes describe them.
#pragma once

#include <optional>
#include <vector>

#include "core/tensor.h"
#include "optimized/kernels/gates.h"
#include "optimized/plan/analyzed_graph.h"

namespace touchstone::optimized {

struct RecurrentLayer {
  enum class Cell { lstm, gru, rnn };
  Cell cell;
  Index directions;
  bool reverse;  // the first direction is
  bool batch_first;
  bool coupled, linear;  // of an LSTM, of a GRU
  float clip;            // infinity: no limit
  std::vector<Activation> activations;

  Index gates() const { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }
  Index functions() const { return cell == Cell::lstm ? 3 : cell == Cell::gru ? 2 : 1; }
  bool backward(Index direction) const { return reverse || direction == 1; }
};

// Positions of the inputs. The cells have the first six in common.
enum RecurrentInput : std::size_t { of_x, of_w, of_r, of_b, of_lengths, of_h, of_c, of_p };

// Returns nullopt for another operator, and for attributes that the fast step does not compute.
std::optional<RecurrentLayer> recurrent_layer(const AnalyzedNode& fact);

}  // namespace touchstone::optimized
