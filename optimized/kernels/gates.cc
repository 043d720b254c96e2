// Gates of recurrent layers. Sigmoid and tanh compute in float32 by the formulas of
// optimized/math/single.h; other activations compute lane by lane.
//
// Compiled once per instruction set, with TOUCHSTONE_VECTOR_BYTES and TOUCHSTONE_GATES. Calls no
// inline function of the standard library, so that the linker cannot pick code for a newer
// processor for the rest of the program.
#include "optimized/kernels/gates.h"

#include "optimized/kernels/rows/lanes.h"
#include "optimized/kernels/vector_exp.h"

namespace touchstone::optimized {

namespace {

inline Floats sigmoid(Floats x) {
  const Floats small = exp_of_negative(-size_of(x));
  const Floats inside = choose(x < 0.0F, small, all(1.0F)) / (1.0F + small);
  return choose(x != x, x, inside);
}
inline Floats tanh(Floats x) {
  const Floats size = size_of(x), square = x * x, small = exp_of_negative(-2.0F * size);
  Floats tail = square * -0x1.76922ap-8F + 0x1.52509ep-6F;
  tail = tail * square + -0x1.b84340p-5F;
  tail = tail * square + 0x1.110760p-3F;
  tail = tail * square + -0x1.555534p-2F;
  const Floats near = size + (size * square) * tail;
  const Floats far = (1.0F - small) / (1.0F + small);
  const Floats made = choose(size > 0.625F, far, near);
  return of_bits(bits(made) | (bits(x) & static_cast<std::int32_t>(0x80000000)));
}

inline float one_of(const Activation& by, float x) {
  switch (by.kind) {
    case ActivationKind::leaky_relu:
      return x < 0 ? by.alpha * x : x;
    case ActivationKind::thresholded_relu:
      return x < by.alpha ? 0 : x;
    case ActivationKind::scaled_tanh:
      return by.alpha * lanes::tanh(by.beta * x);
    case ActivationKind::hard_sigmoid:
      return lanes::minimum(lanes::maximum(by.alpha * x + by.beta, 0), 1);
    case ActivationKind::elu:
      return x < 0 ? by.alpha * (lanes::exp(x) - 1) : x;
    case ActivationKind::softsign:
      return x / (1 + lanes::abs(x));
    case ActivationKind::softplus:
      return lanes::softplus(x);
    default:
      return x;
  }
}
__attribute__((noinline)) Floats any(const Activation& by, Floats x) {
  switch (by.kind) {
    case ActivationKind::sigmoid:
      return sigmoid(x);
    case ActivationKind::tanh:
      return tanh(x);
    case ActivationKind::relu:
      return choose(x <= 0.0F, Floats{}, x);
    case ActivationKind::affine:
      return by.alpha * x + by.beta;
    default:
      for (int k = 0; k < lanes_at_once; ++k) x[k] = one_of(by, x[k]);
      return x;
  }
}

// `usual`: gates are sigmoids, all else is tanh.
template <bool usual>
inline Floats gate(const Activation& by, Floats x) {
  return usual ? sigmoid(x) : any(by, x);
}
template <bool usual>
inline Floats other(const Activation& by, Floats x) {
  return usual ? tanh(x) : any(by, x);
}
inline bool is_usual(const Activation& gate, const Activation& other) {
  return gate.kind == ActivationKind::sigmoid && other.kind == ActivationKind::tanh;
}

inline Floats clipped(Floats x, float clip) {  // NaN stays
  const Floats raised = choose(x < -clip, all(-clip), x);
  return choose(raised > clip, all(clip), raised);
}

template <bool usual>
void lstm(const LstmRow& row) {
  const std::int64_t n = row.hidden;
  for (std::int64_t j = 0; j < n; j += lanes_at_once) {
    const std::int64_t some = n - j;
    const auto drive = [&](int which) { return load(row.drive + which * n + j, some); };
    const auto peephole = [&](int which) { return load(row.peepholes + which * n + j, some); };
    const Floats before = load(row.cell + j, some);
    Floats enter = drive(0), leave = drive(1), keep = drive(2);
    if (row.peepholes != nullptr) enter += peephole(0) * before;
    enter = gate<usual>(row.gate, clipped(enter, row.clip));
    if (row.coupled) {
      keep = 1.0F - enter;
    } else {
      if (row.peepholes != nullptr) keep += peephole(2) * before;
      keep = gate<usual>(row.gate, clipped(keep, row.clip));
    }
    const Floats fresh = other<usual>(row.candidate, clipped(drive(3), row.clip));
    const Floats cell = keep * before + enter * fresh;
    if (row.peepholes != nullptr) leave += peephole(1) * cell;
    leave = gate<usual>(row.gate, clipped(leave, row.clip));
    const Floats state = leave * other<usual>(row.shown, clipped(cell, row.clip));
    store(row.cell + j, some, cell);
    store(row.state + j, some, state);
    if (row.y != nullptr) store(row.y + j, some, state);
  }
}

void lstm_of(const LstmRow& row) {
  const bool usual = is_usual(row.gate, row.candidate) && row.shown.kind == ActivationKind::tanh;
  usual ? lstm<true>(row) : lstm<false>(row);
}

void gru_reset(const GruRow& row) {
  const std::int64_t n = row.hidden;
  for (std::int64_t j = 0; j < n; j += lanes_at_once) {
    const Floats drive = clipped(load(row.drive + n + j, n - j), row.clip);
    const Floats reset =
        row.gate.kind == ActivationKind::sigmoid ? sigmoid(drive) : any(row.gate, drive);
    store(row.reset_state + j, n - j, reset * load(row.state + j, n - j));
  }
}

template <bool usual>
void gru(const GruRow& row) {
  const std::int64_t n = row.hidden;
  for (std::int64_t j = 0; j < n; j += lanes_at_once) {
    const std::int64_t some = n - j;
    const auto drive = [&](int which) { return load(row.drive + which * n + j, some); };
    const Floats update = gate<usual>(row.gate, clipped(drive(0), row.clip));
    Floats candidate = drive(2);
    if (row.carried != nullptr) {
      const Floats reset = gate<usual>(row.gate, clipped(drive(1), row.clip));
      candidate += reset * load(row.carried + j, some);
    }
    const Floats fresh = other<usual>(row.candidate, clipped(candidate, row.clip));
    const Floats state = (1.0F - update) * fresh + update * load(row.state + j, some);
    store(row.state + j, some, state);
    if (row.y != nullptr) store(row.y + j, some, state);
  }
}

void gru_of(const GruRow& row) {
  is_usual(row.gate, row.candidate) ? gru<true>(row) : gru<false>(row);
}

void rnn(const RnnRow& row) {
  const std::int64_t n = row.hidden;
  for (std::int64_t j = 0; j < n; j += lanes_at_once) {
    const Floats drive = clipped(load(row.drive + j, n - j), row.clip);
    const Floats state =
        row.activation.kind == ActivationKind::tanh ? tanh(drive) : any(row.activation, drive);
    store(row.state + j, n - j, state);
    if (row.y != nullptr) store(row.y + j, n - j, state);
  }
}

}  // namespace

const GateKernels TOUCHSTONE_GATES{lstm_of, gru_reset, gru_of, rnn};

}  // namespace touchstone::optimized
