// Steps of recurrent layers. The products of all time steps with the input weights are one packed
// matmul; each time step multiplies the state by the packed recurrent weights, then applies the
// gates. Both directions go over places of the sequence: a row takes part where its sequence has
// an element, so a reversed short sequence starts at its own end.
#include "optimized/lowering/recurrent.h"

#include <algorithm>
#include <cstring>

#include "core/budget.h"
#include "core/checked.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/recurrent_weights.h"
#include "reference/lists.h"

namespace touchstone::optimized {
namespace {

using Cell = RecurrentLayer::Cell;

const GateKernels& gates_of(Isa isa) { return BY_ISA(isa, gates); }

class RecurrentStep : public TensorStep {
 public:
  RecurrentStep(const AnalyzedGraph& graph, Index index, std::vector<Index> buffers)
      : TensorStep(graph, index, std::move(buffers)),
        layer_(*recurrent_layer(graph.node(index))),
        gemm_(chosen_isa()),
        kernels_(gates_of(chosen_isa())),
        weights_(layer_, chosen_isa()) {
    kernel = "recurrent " + std::string(name(chosen_isa()));
    kernel_class = KernelClass::recurrent;
    const auto constant = [&](std::size_t k) {
      return has_input(k) ? graph.value(fact().inputs[k]).constant : nullptr;
    };
    const Tensor *w = constant(of_w), *r = constant(of_r), *b = constant(of_b);
    if (w == nullptr || r == nullptr || (b == nullptr && has_input(of_b))) return;
    const std::optional<WeightExtents> extents = extents_of(layer_, *w, *r, b);
    if (!extents) return;
    weights_.pack(*extents, *w, *r, b);
    packed_ = true;
  }

  void run(RunState& state) override {
    if (!prepare(state)) return run_on_reference(state);
    if (!packed_) {
      weights_.pack({inputs_, hidden_}, input(state, of_w), input(state, of_r),
                    has_input(of_b) ? &input(state, of_b) : nullptr);
    }
    const Index directions = layer_.directions;
    const Index states = multiply(multiply(directions, batch_), hidden_);
    row_ = layer_.gates() * hidden_;
    const Index place = multiply(multiply(directions, batch_), row_);
    // The products of some places at a time stay in the cache until the gates read them.
    constexpr Index floats_at_once = Index{1} << 18, rows_at_once = 64;
    at_once_ =
        std::min(steps_, std::max({floats_at_once / place, rows_at_once / batch_, Index{1}}));
    drive_ = memory_.at<float>(add(multiply(place, at_once_), multiply(3, states)));
    state_ = drive_ + place * at_once_;
    cell_ = state_ + states;
    reset_ = cell_ + states;
    start(state, of_h, state_);
    if (layer_.cell == Cell::lstm) start(state, of_c, cell_);
    y_ = has_output(0) ? output(state, 0, Type::float32, shape_of_y()).data<float>() : nullptr;
    for (Index first = 0; first < steps_; first += at_once_) {
      check_budget();
      const Index some = std::min(at_once_, steps_ - first);
      for (Index d = 0; d < directions; ++d)
        project(state, d, layer_.backward(d) ? steps_ - first - some : first, some);
      recur(state, first, some);
    }
    finish(state, 1, state_);
    if (layer_.cell == Cell::lstm) finish(state, 2, cell_);
  }

 private:
  Shape shape_of_y() const {
    return layer_.batch_first ? Shape{batch_, steps_, layer_.directions, hidden_}
                              : Shape{steps_, layer_.directions, batch_, hidden_};
  }
  Shape shape_of_state() const {
    return layer_.batch_first ? Shape{batch_, layer_.directions, hidden_}
                              : Shape{layer_.directions, batch_, hidden_};
  }

  // Returns false if a rule of the operator does not hold, or a tensor is empty.
  bool prepare(const RunState& state) {
    const Tensor &x = input(state, of_x), &w = input(state, of_w), &r = input(state, of_r);
    const Tensor* const biases = has_input(of_b) ? &input(state, of_b) : nullptr;
    const std::optional<WeightExtents> extents = extents_of(layer_, w, r, biases);
    if (!extents || x.shape().size() != 3 || x.size() == 0) return false;
    inputs_ = extents->inputs;
    hidden_ = extents->hidden;
    steps_ = x.shape()[layer_.batch_first ? 1 : 0];
    batch_ = x.shape()[layer_.batch_first ? 0 : 1];
    if (x.shape()[2] != inputs_) return false;
    // Tiles of the product reach rows of other sequences by 32-bit offsets.
    constexpr Index farthest_row = (Index{1} << 31) / 16;
    if (layer_.batch_first && batch_ > 1 && multiply(steps_, inputs_) > farthest_row) return false;
    const Facts node = fact().attributes();
    if (node.integer("hidden_size", hidden_) != hidden_) return false;
    for (const std::size_t k : {of_h, of_c}) {
      if (has_input(k) && input(state, k).shape() != shape_of_state()) return false;
    }
    peepholes_ = nullptr;
    if (has_input(of_p)) {
      const Tensor& p = input(state, of_p);
      if (p.shape() != Shape{layer_.directions, multiply(3, hidden_)}) return false;
      peepholes_ = p.data<float>();
    }
    lengths_ = nullptr;
    if (has_input(of_lengths)) {
      const Tensor& lengths = input(state, of_lengths);
      if (lengths.shape() != Shape{batch_}) return false;
      lengths_ = lengths.data<std::int32_t>();
      if (!std::all_of(lengths_, lengths_ + batch_,
                       [&](std::int32_t length) { return length >= 0 && length <= steps_; }))
        return false;
    }
    x_ = x.data<float>();
    return true;
  }

  // States are in memory by direction, then row; tensors may be by row, then direction.
  void start(const RunState& state, std::size_t k, float* to) const {
    const float* const from = has_input(k) ? input(state, k).data<float>() : nullptr;
    for (Index d = 0; d < layer_.directions; ++d) {
      for (Index b = 0; b < batch_; ++b, to += hidden_) {
        if (from == nullptr)
          std::fill_n(to, hidden_, 0.0F);
        else
          std::copy_n(from + place_of_state(d, b), hidden_, to);
      }
    }
  }
  void finish(RunState& state, std::size_t k, const float* from) {
    if (!has_output(k)) return;
    float* const to = output(state, k, Type::float32, shape_of_state()).data<float>();
    for (Index d = 0; d < layer_.directions; ++d) {
      for (Index b = 0; b < batch_; ++b, from += hidden_)
        std::copy_n(from, hidden_, to + place_of_state(d, b));
    }
  }
  Index place_of_state(Index d, Index b) const {
    return (layer_.batch_first ? b * layer_.directions + d : d * batch_ + b) * hidden_;
  }
  float* y_at(Index place, Index d, Index b) const {
    if (y_ == nullptr) return nullptr;
    const Index row = layer_.batch_first ? (b * steps_ + place) * layer_.directions + d
                                         : (place * layer_.directions + d) * batch_ + b;
    return y_ + row * hidden_;
  }
  // Products of a place, counted from the first of those in memory.
  float* drive(Index d, Index place, Index b) const {
    return drive_ + ((d * at_once_ + place) * batch_ + b) * row_;
  }

  // Multiplies the inputs of `count` places by the input weights.
  void project(RunState& state, Index d, Index first, Index count) const {
    GemmProblem product;
    product.packed = weights_.input(d);
    product.depth = inputs_;
    product.columns = row_;
    Index rows = count * batch_, times = 1, from_step = 0, to_step = 0;
    product.a = x_ + first * inputs_ * (layer_.batch_first ? 1 : batch_);
    product.a_row = inputs_;
    product.c = drive(d, 0, 0);
    product.c_row = row_;
    if (layer_.batch_first && batch_ <= count) {  // one sequence after the other
      rows = count;
      times = batch_;
      from_step = steps_ * inputs_;
      to_step = row_;
      product.c_row = batch_ * row_;
    } else if (layer_.batch_first) {  // one place after the other
      rows = batch_;
      times = count;
      from_step = inputs_;
      to_step = batch_ * row_;
      product.a_row = steps_ * inputs_;
    }
    constexpr Index rows_of_a_part = 48;
    const Index panels = gemm_.panels(row_), wanted = parts_for(state.pool.size());
    const Index stride = std::max(ceil_div(rows, wanted), rows_of_a_part);
    const Index row_parts = ceil_div(rows, stride);
    const Index panel_parts = std::min(panels, ceil_div(wanted, row_parts * times));
    const double nanoseconds = cost(count * batch_, inputs_, row_);
    charge_work(multiply(multiply(multiply(count, batch_), inputs_), row_));
    state.each(times * row_parts * panel_parts, nanoseconds, [&](Index part, Index) {
      const Index panel = part % panel_parts, rest = part / panel_parts;
      const Index row = rest % row_parts * stride, time = rest / row_parts;
      GemmProblem one = product;
      one.a += time * from_step;
      one.c += time * to_step;
      const Index begin = panels * panel / panel_parts;
      gemm_.run(one, begin, panels * (panel + 1) / panel_parts - begin, row,
                std::min(stride, rows - row));
    });
  }

  static double cost(Index rows, Index depth, Index columns) {
    return static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(columns) *
           nanoseconds_a_multiply_add;
  }

  struct Rows {
    Index d, first, end;  // of the batch
  };

  // Goes over `count` places, of which `done` are behind. Directions and rows are independent; if
  // there are fewer than threads, threads share the products of each place.
  void recur(RunState& state, Index done, Index count) {
    const Index threads = state.pool.size(), directions = layer_.directions;
    const Index slices = std::min(batch_, ceil_div(threads, directions));
    const double nanoseconds = cost(batch_, hidden_, row_);
    const auto place_of = [&](Index d, Index k) {
      return layer_.backward(d) ? steps_ - done - 1 - k : done + k;
    };
    const auto first_of = [&](Index d) {
      return layer_.backward(d) ? steps_ - done - count : done;
    };
    if (threads == 1 || directions * slices > 1) {
      state.each(directions * slices,
                 nanoseconds * static_cast<double>(count) * static_cast<double>(directions),
                 [&](Index part, Index) {
                   const Index d = part / slices, slice = part % slices;
                   const Rows rows{d, batch_ * slice / slices, batch_ * (slice + 1) / slices};
                   for (Index k = 0; k < count; ++k) {
                     charge(rows);
                     step(nullptr, rows, place_of(d, k), place_of(d, k) - first_of(d));
                   }
                 });
      return;
    }
    for (Index k = 0; k < count; ++k) {
      charge({0, 0, batch_});
      step(&state, {0, 0, batch_}, place_of(0, k), place_of(0, k) - first_of(0));
    }
  }

  // Charges the products of a place, which looks at deadline and cancellation often enough.
  void charge(const Rows& rows) const {
    charge_work(multiply(multiply(rows.end - rows.first, row_), hidden_));
  }

  // One place; `shared`: null if this thread computes it alone.
  void step(RunState* shared, Rows rows, Index place, Index stored) const {
    const auto ended = [&](Index b) { return lengths_ != nullptr && lengths_[b] <= place; };
    while (rows.first < rows.end && ended(rows.first)) pad(place, rows.d, rows.first++);
    while (rows.first < rows.end && ended(rows.end - 1)) pad(place, rows.d, --rows.end);
    if (rows.first == rows.end) return;
    const bool gru = layer_.cell == Cell::gru;
    multiply_state(shared, rows, state_, weights_.gates(rows.d), weights_.gate_columns(),
                   drive(rows.d, stored, rows.first), row_, true);
    if (gru && layer_.linear) {
      multiply_state(shared, rows, state_, weights_.candidate(rows.d), hidden_,
                     at(reset_, rows.d, rows.first), hidden_, false);
    } else if (gru) {
      each_row(rows, place, stored, kernels_.gru_reset, &RecurrentStep::gru_row, ended);
      multiply_state(shared, rows, reset_, weights_.candidate(rows.d), hidden_,
                     drive(rows.d, stored, rows.first) + 2 * hidden_, row_, true);
    }
    for (Index b = rows.first; b < rows.end; ++b) {
      if (ended(b)) pad(place, rows.d, b);
    }
    switch (layer_.cell) {
      case Cell::lstm:
        return each_row(rows, place, stored, kernels_.lstm, &RecurrentStep::lstm_row, ended);
      case Cell::gru:
        return each_row(rows, place, stored, kernels_.gru, &RecurrentStep::gru_row, ended);
      case Cell::rnn:
        return each_row(rows, place, stored, kernels_.rnn, &RecurrentStep::rnn_row, ended);
    }
  }

  template <class Row, class Ended>
  void each_row(const Rows& rows, Index place, Index stored, void (*kernel_of_row)(const Row&),
                Row (RecurrentStep::*row_of)(Index d, Index b, const float* from, float* y) const,
                const Ended& ended) const {
    for (Index b = rows.first; b < rows.end; ++b) {
      if (ended(b)) continue;
      kernel_of_row((this->*row_of)(rows.d, b, drive(rows.d, stored, b), y_at(place, rows.d, b)));
    }
  }

  void pad(Index place, Index d, Index b) const {
    if (float* const y = y_at(place, d, b)) std::fill_n(y, hidden_, 0.0F);
  }
  float* at(float* states, Index d, Index b) const { return states + (d * batch_ + b) * hidden_; }

  void multiply_state(RunState* shared, const Rows& rows, float* states, const float* packed,
                      Index columns, float* c, Index c_row, bool accumulate) const {
    GemmProblem product;
    product.a = at(states, rows.d, rows.first);
    product.a_row = hidden_;
    product.packed = packed;
    product.c = c;
    product.c_row = c_row;
    product.residual = accumulate ? c : nullptr;
    product.residual_row = c_row;
    product.depth = hidden_;
    product.columns = columns;
    const Index panels = gemm_.panels(columns), count = rows.end - rows.first;
    if (shared == nullptr) return gemm_.run(product, 0, panels, 0, count);
    const Index parts = std::min(panels, shared->pool.size());
    shared->each(parts, cost(count, hidden_, columns), [&](Index part, Index) {
      const Index begin = panels * part / parts;
      gemm_.run(product, begin, panels * (part + 1) / parts - begin, 0, count);
    });
  }

  const Activation& function(Index d, Index k) const {
    return layer_.activations[static_cast<std::size_t>(d * layer_.functions() + k)];
  }
  LstmRow lstm_row(Index d, Index b, const float* from, float* y) const {
    return {from,
            peepholes_ ? peepholes_ + d * 3 * hidden_ : nullptr,
            at(cell_, d, b),
            at(state_, d, b),
            y,
            hidden_,
            layer_.clip,
            layer_.coupled,
            function(d, 0),
            function(d, 1),
            function(d, 2)};
  }
  GruRow gru_row(Index d, Index b, const float* from, float* y) const {
    return {from,
            layer_.linear ? at(reset_, d, b) : nullptr,
            at(reset_, d, b),
            at(state_, d, b),
            y,
            hidden_,
            layer_.clip,
            function(d, 0),
            function(d, 1)};
  }
  RnnRow rnn_row(Index d, Index b, const float* from, float* y) const {
    return {from, at(state_, d, b), y, hidden_, layer_.clip, function(d, 0)};
  }

  const RecurrentLayer layer_;
  const Gemm gemm_;
  const GateKernels& kernels_;
  PackedWeights weights_;
  bool packed_ = false;  // from constants, when the plan was made
  KeptMemory memory_;
  // Values of the run:
  Index inputs_ = 0, hidden_ = 0, steps_ = 0, batch_ = 0, row_ = 0, at_once_ = 0;
  const float *x_ = nullptr, *peepholes_ = nullptr;
  const std::int32_t* lengths_ = nullptr;
  float *y_ = nullptr, *drive_ = nullptr, *state_ = nullptr, *cell_ = nullptr, *reset_ = nullptr;
};

bool takes(const AnalyzedGraph& graph, Index index) {
  const AnalyzedNode& fact = graph.node(index);
  if (!recurrent_layer(fact)) return false;
  for (std::size_t k = 0; k < fact.inputs.size(); ++k) {
    const Type wanted = k == of_lengths ? Type::int32 : Type::float32;
    if (fact.inputs[k] != no_value && !graph.value(fact.inputs[k]).is(wanted)) return false;
  }
  return fact.inputs[of_x] != no_value;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index index, std::vector<Index> buffers) {
  return std::make_unique<RecurrentStep>(graph, index, std::move(buffers));
}

}  // namespace

const KernelFamily recurrent_family{"recurrent", KernelClass::recurrent, takes, step};

}  // namespace touchstone::optimized
