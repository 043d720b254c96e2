// Memory that is asked for while there are sums to work at, so that a tile does not wait for it.
// Two things come late: the input of the next channel block, a cache line for each column of the
// tile, which no processor guesses; and the weights of the tiles after these, which lie beyond the
// second-level cache and come at half the speed at which they are used. Both are spread: a few
// lines each time the innermost loop goes round, else the loads wait behind them.
//
// Halide's own prefetch asks for all that a loop's body reads, each time; so the lines are put into
// the loop when all else is lowered.
#pragma once

#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace touchstone::generators {

// The loop goes over four channels; around it are those of the kernel's columns and rows, of the
// channel blocks (k$w), and of tiles (xo, yo).
class Asking : public Halide::Internal::IRMutator {
 public:
  struct Tile {
    int lanes, step, blocks, columns, rows;
  };
  explicit Asking(const Tile& tile) : tile_(tile) {}

 protected:
  using Expr = Halide::Expr;
  using For = Halide::Internal::For;
  using Load = Halide::Internal::Load;
  using Stmt = Halide::Internal::Stmt;

  Stmt visit(const For* loop) override {
    around_.push_back(loop);
    Stmt done = IRMutator::visit(loop);
    const Load* const input = load_of("input");
    const Load* const weights = load_of("weights");
    if (input && weights) {
      std::vector<Stmt> body = lines(loop, input->index, first(weights->index));
      body.push_back(loop->body);
      loads_.clear();
      done = For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->partition_policy,
                       loop->device_api, Halide::Internal::Block::make(body));
    }
    around_.pop_back();
    return done;
  }
  Expr visit(const Load* load) override {
    loads_.push_back(load);
    return IRMutator::visit(load);
  }
  using IRMutator::visit;

 private:
  static constexpr int channels = 4, line = 16;

  Tile tile_;
  std::vector<const For*> around_;
  std::vector<const Load*> loads_;

  // The first that was met in the loop.
  const Load* load_of(const std::string& name) const {
    for (const Load* load : loads_) {
      if (load->name == name) return load;
    }
    return nullptr;
  }
  static Expr first(const Expr& index) {
    const auto* ramp = index.as<Halide::Internal::Ramp>();
    return ramp ? ramp->base : index;
  }
  static Expr number(const std::string& name, Halide::Type type = Halide::Int(32)) {
    return Halide::Internal::Variable::make(type, name);
  }
  const For* loop(const std::string& end) const {
    for (const For* loop : around_) {
      if (Halide::Internal::ends_with(loop->name, end)) return loop;
    }
    return nullptr;
  }
  static Stmt ask(const Expr& base, const Expr& offset) {
    using Halide::Internal::Call;
    return Halide::Internal::Evaluate::make(Call::make(
        Halide::Float(32), Call::prefetch, {base, offset, Expr(1), Expr(1)}, Call::Intrinsic));
  }

  std::vector<Stmt> lines(const For* inner, const Expr& input, const Expr& weights) const {
    std::vector<Stmt> out;
    const Expr turn = number(inner->name);
    // Behind the last block comes the first of the next tile.
    const For* const block = loop("$w");
    const int next_tile = tile_.columns * tile_.step * tile_.lanes;
    const Expr far = number("input.stride.3"), at = number(block->name);
    const Expr next = Halide::select(at + 1 < block->extent, far, next_tile - at * far);
    const Expr begin = Halide::Internal::substitute(inner->name, 0, input) + next;
    const int pitch = std::max(tile_.step * tile_.lanes, line);
    const int turns = tile_.lanes / channels;
    const int all = (next_tile + pitch - 1) / pitch, each = (all + turns - 1) / turns;
    for (int row = 0; row < tile_.rows; ++row) {
      for (int k = 0; k < each; ++k) {
        out.push_back(ask(number("input", Halide::type_of<void*>()),
                          begin + (turn * each + k) * pitch + row * number("input.stride.5")));
      }
    }
    // The share of this tile, and of it what is due now.
    Expr tiles = 0;
    if (const For* const yo = loop(".yo")) tiles = number(yo->name);
    if (const For* const xo = loop(".xo")) tiles = tiles * xo->extent + number(xo->name);
    const Expr due = Halide::cast<int>((Halide::cast<std::int64_t>(weights) * number("due")) >> 16);
    const Expr from =
        Halide::reinterpret(Halide::type_of<void*>(), number("ahead", Halide::UInt(64)));
    for (int k = 0; k < tile_.blocks * tile_.lanes / line; ++k)
      out.push_back(ask(from, tiles * number("share") + due + k * line));
    return out;
  }
};

}  // namespace touchstone::generators
