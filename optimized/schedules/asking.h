// Memory that is asked for while there are sums to work at, so that a tile does not wait for it.
// Two things come late: values of the next step that lie in as many cache lines as a tile has
// columns or rows, which no processor guesses; and the weights of the tiles after these, which lie
// beyond the second-level cache and come at half the speed at which they are used. Both are spread:
// a few lines each time the innermost loop goes round, else the loads wait behind them.
//
// Halide's own prefetch asks for all that a loop's body reads, each time; so the lines are put into
// the loop when all else is lowered. A kernel that asks has two inputs for it: `ahead`, the address
// of those weights, and `due`, how many floats of them for each of its own, in 65536ths.
#pragma once

#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace touchstone::generators {

class Asking : public Halide::Internal::IRMutator {
 public:
  Asking(std::string values, std::string weights)
      : values_(std::move(values)), weights_(std::move(weights)) {}

 protected:
  using Expr = Halide::Expr;
  using For = Halide::Internal::For;
  using Load = Halide::Internal::Load;
  using Stmt = Halide::Internal::Stmt;
  static constexpr int line = 16;  // floats

  // What the innermost loop begins with; the indices are those of the first that it reads.
  virtual std::vector<Stmt> lines(const For* inner, const Expr& values,
                                  const Expr& weights) const = 0;

  Stmt visit(const For* loop) override {
    around_.push_back(loop);
    Stmt done = IRMutator::visit(loop);
    const Load *const values = load_of(values_), *const weights = load_of(weights_);
    if (values && weights) {
      std::vector<Stmt> body = lines(loop, first(values->index), first(weights->index));
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

  static Expr number(const std::string& name) {
    return Halide::Internal::Variable::make(Halide::Int(32), name);
  }
  static Expr index(const For* loop) { return number(loop->name); }
  // A loop around this one, by the end of its name.
  const For* loop(const std::string& end) const {
    for (const For* loop : around_) {
      if (Halide::Internal::ends_with(loop->name, end)) return loop;
    }
    return nullptr;
  }
  Stmt ask_for_value(const Expr& offset) const {
    return ask(Halide::Internal::Variable::make(Halide::type_of<void*>(), values_), offset);
  }
  static Stmt ask_ahead(const Expr& offset) {
    const Expr ahead = Halide::Internal::Variable::make(Halide::UInt(64), "ahead");
    return ask(Halide::reinterpret(Halide::type_of<void*>(), ahead), offset);
  }
  static Expr due(const Expr& own) {
    return Halide::cast<int>((Halide::cast<std::int64_t>(own) * number("due")) >> 16);
  }

 private:
  const std::string values_, weights_;
  std::vector<const For*> around_;
  std::vector<const Load*> loads_;  // of the loop and what is inside, but where lines were put

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
  static Stmt ask(const Expr& base, const Expr& offset) {
    using Halide::Internal::Call;
    return Halide::Internal::Evaluate::make(Call::make(
        Halide::Float(32), Call::prefetch, {base, offset, Expr(1), Expr(1)}, Call::Intrinsic));
  }
};

// Convolutions: the loop goes over four channels; around it are those of the window, of the channel
// blocks (k$w), and of tiles (xo, yo). Values are those of the next block.
class AskingOfConvolution : public Asking {
 public:
  struct Tile {
    int lanes, step, blocks, columns, rows;
  };
  explicit AskingOfConvolution(const Tile& tile) : Asking("input", "weights"), tile_(tile) {}

 protected:
  std::vector<Stmt> lines(const For* inner, const Expr& values,
                          const Expr& weights) const override {
    std::vector<Stmt> out;
    // Behind the last block comes the first of the next tile.
    const For* const block = loop("$w");
    const int next_tile = tile_.columns * tile_.step * tile_.lanes;
    const Expr far = number("input.stride.3");
    const Expr next =
        Halide::select(index(block) + 1 < block->extent, far, next_tile - index(block) * far);
    const Expr begin = Halide::Internal::substitute(inner->name, 0, values) + next;
    const int pitch = std::max(tile_.step * tile_.lanes, line), turns = tile_.lanes / channels;
    const int all = (next_tile + pitch - 1) / pitch, each = (all + turns - 1) / turns;
    for (int row = 0; row < tile_.rows; ++row) {
      for (int k = 0; k < each; ++k) {
        const Expr column = (index(inner) * each + k) * pitch;
        out.push_back(ask_for_value(begin + column + row * number("input.stride.5")));
      }
    }
    Expr tiles = 0;
    if (const For* const yo = loop(".yo")) tiles = index(yo);
    if (const For* const xo = loop(".xo")) tiles = tiles * xo->extent + index(xo);
    for (int k = 0; k < tile_.blocks * tile_.lanes / line; ++k)
      out.push_back(ask_ahead(tiles * number("share") + due(weights) + k * line));
    return out;
  }

 private:
  static constexpr int channels = 4;
  Tile tile_;
};

// Products of matrices: the loop goes over one step of the depth, around it is that of panels. Rows
// of A lie `pitch` apart, and a line holds as many steps as it holds floats.
class AskingOfProduct : public Asking {
 public:
  AskingOfProduct(int rows, int pitch, int panel)
      : Asking("a", "b"), rows_(rows), pitch_(pitch), panel_(panel) {}

 protected:
  std::vector<Stmt> lines(const For* inner, const Expr&, const Expr& weights) const override {
    const Expr step = index(inner), row = Halide::min(step % line, rows_ - 1);
    const Expr panel = Halide::Internal::substitute(inner->name, 0, weights);
    return {ask_for_value(row * pitch_ + (step / line + 1) * line),
            ask_ahead(panel + due(step * panel_))};
  }

 private:
  int rows_, pitch_, panel_;
};

}  // namespace touchstone::generators
