// Elementwise part of a step of a recurrent layer, for one row of a batch: activations of the gates
// and the new state. gates.cc is compiled once per instruction set.
#pragma once

#include <cstdint>

namespace touchstone::optimized {

enum class ActivationKind {
  sigmoid,
  tanh,
  relu,
  affine,
  leaky_relu,
  thresholded_relu,
  scaled_tanh,
  hard_sigmoid,
  elu,
  softsign,
  softplus,
};

struct Activation {
  ActivationKind kind;
  float alpha, beta;
};

// Products and biases of a step are in `drive`, one after the other by gate. `clip` limits the
// arguments of activations: infinity if the layer has no limit. `y`, where not null, receives a
// copy of the new state.
struct LstmRow {
  const float* drive;      // gates of input, output and forget, and the cell's candidate
  const float* peepholes;  // of input, output and forget; or null
  float *cell, *state, *y;
  std::int64_t hidden;
  float clip;
  bool coupled;  // the forget gate is one minus the input gate
  Activation gate, candidate, shown;
};
struct GruRow {
  const float* drive;    // gates of update and reset, and the candidate
  const float* carried;  // the candidate's product with the state, reset by the gate; or null
  float* reset_state;    // for reset()
  float *state, *y;
  std::int64_t hidden;
  float clip;
  Activation gate, candidate;
};
struct RnnRow {
  const float* drive;
  float *state, *y;
  std::int64_t hidden;
  float clip;
  Activation activation;
};

struct GateKernels {
  void (*lstm)(const LstmRow& row);
  void (*gru_reset)(const GruRow& row);  // the state times the reset gate
  void (*gru)(const GruRow& row);
  void (*rnn)(const RnnRow& row);
};
extern const GateKernels gates_sse41, gates_avx2, gates_avx512;

}  // namespace touchstone::optimized
