// Inserts prefetches into the innermost loop of a tile. Two streams arrive late: input values of
// the next iteration, spread over as many cache lines as a tile has columns or rows, which no
// hardware prefetcher predicts. And weights of later tiles, which lie beyond L2 and arrive at half
// the speed at which they are used. Both are spread over the iterations, a few lines each, or loads
// would queue behind them.
//
// Halide's own prefetch fetches all that a loop's body reads in every iteration, so a custom pass
// inserts the lines after lowering. Such a kernel has two more inputs: `prefetch_address`, the
// address of those weights, and `prefetch_rate`, the floats of them per own weight in units of
// 1/65536.
#pragma once

#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace touchstone::optimized::generators {

class PrefetchPass : public Halide::Internal::IRMutator {
 public:
  PrefetchPass(std::string values, std::string weights)
      : values_(std::move(values)), weights_(std::move(weights)) {}

 protected:
  using Expr = Halide::Expr;
  using For = Halide::Internal::For;
  using Load = Halide::Internal::Load;
  using Stmt = Halide::Internal::Stmt;
  static constexpr int line = 16;  // floats per cache line

  // Returns the prefetches at the start of the innermost loop's body, from the indices of the first
  // values and weights that it reads.
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
  // Returns the enclosing loop whose name ends so, or null.
  const For* loop(const std::string& end) const {
    for (const For* loop : around_) {
      if (Halide::Internal::ends_with(loop->name, end)) return loop;
    }
    return nullptr;
  }
  Stmt prefetch_value(const Expr& offset) const {
    return prefetch(Halide::Internal::Variable::make(Halide::type_of<void*>(), values_), offset);
  }
  static Stmt prefetch_weights(const Expr& offset) {
    const Expr prefetch_address =
        Halide::Internal::Variable::make(Halide::UInt(64), "prefetch_address");
    return prefetch(Halide::reinterpret(Halide::type_of<void*>(), prefetch_address), offset);
  }
  static Expr prefetch_rate(const Expr& own) {
    return Halide::cast<int>((Halide::cast<std::int64_t>(own) * number("prefetch_rate")) >> 16);
  }

 private:
  const std::string values_, weights_;
  std::vector<const For*> around_;
  // Loads of the loop and its body, except in loops that have prefetches already.
  std::vector<const Load*> loads_;

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
  static Stmt prefetch(const Expr& base, const Expr& offset) {
    using Halide::Internal::Call;
    return Halide::Internal::Evaluate::make(Call::make(
        Halide::Float(32), Call::prefetch, {base, offset, Expr(1), Expr(1)}, Call::Intrinsic));
  }
};

// Prefetches of convolutions. The innermost loop runs over four channels; around it are the loops
// over the window, over channel blocks (k$w) and over tiles (xo, yo). The prefetched values are
// those of the next block.
class PrefetchOfConvolution : public PrefetchPass {
 public:
  struct Tile {
    int lanes, step, blocks, columns, rows;
  };
  explicit PrefetchOfConvolution(const Tile& tile)
      : PrefetchPass("input", "weights"), tile_(tile) {}

 protected:
  std::vector<Stmt> lines(const For* inner, const Expr& values,
                          const Expr& weights) const override {
    std::vector<Stmt> out;
    // After the last block, the next values are the first of the next tile.
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
        out.push_back(prefetch_value(begin + column + row * number("input.stride.5")));
      }
    }
    Expr tiles = 0;
    if (const For* const yo = loop(".yo")) tiles = index(yo);
    if (const For* const xo = loop(".xo")) tiles = tiles * xo->extent + index(xo);
    for (int k = 0; k < tile_.blocks * tile_.lanes / line; ++k)
      out.push_back(prefetch_weights(tiles * number("share") + prefetch_rate(weights) + k * line));
    return out;
  }

 private:
  static constexpr int channels = 4;
  Tile tile_;
};

// Prefetches of matmuls. The innermost loop runs over one index of the depth, inside the loop over
// panels. Rows of A are `pitch` apart, and a line holds as many depth indices as floats.
class PrefetchOfGemm : public PrefetchPass {
 public:
  PrefetchOfGemm(int rows, int pitch, int panel)
      : PrefetchPass("a", "b"), rows_(rows), pitch_(pitch), panel_(panel) {}

 protected:
  std::vector<Stmt> lines(const For* inner, const Expr&, const Expr& weights) const override {
    const Expr step = index(inner), row = Halide::min(step % line, rows_ - 1);
    const Expr panel = Halide::Internal::substitute(inner->name, 0, weights);
    return {prefetch_value(row * pitch_ + (step / line + 1) * line),
            prefetch_weights(panel + prefetch_rate(step * panel_))};
  }

 private:
  int rows_, pitch_, panel_;
};

}  // namespace touchstone::optimized::generators
