// Float convolutions of one image on maps in channel blocks, a part at a time: a part is a group of
// output channel blocks and a range of rows, and who calls spreads parts over threads. A window is
// laid over the input as it lies; padding is a halo of zeros that the input already has.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "optimized/kernels/picture.h"
#include "optimized/kernels/soon.h"

namespace touchstone {

// What is known when a plan is made.
struct ConvolutionShape {
  Index kernel_rows = 1, kernel_columns = 1;
  Index row_stride = 1, column_stride = 1;
  Index row_dilation = 1, column_dilation = 1;
  Index channels_in = 1, channels_out = 1;  // of one group; depthwise: channels_out is all of them
  Index rows_out = 1, columns_out = 1;
  bool plain_input =
      false;  // [channel][row][column]: Picture::block is a channel's step, column is 1
  bool depthwise = false;
  bool adds = false;  // a residual
};

struct ConvolutionKernel;

// How: each tap by itself, by Winograd's way with tiles of so many points, or with points that
// share a vector; `best` takes what a model of the costs says.
enum class ConvolutionWay { direct, best, winograd2, winograd4, narrow };

// Weights as pack() made them, and as it was given them: what a detour cannot sum right it sums
// with these. Without a detour nobody reads them.
struct ConvolutionWeights {
  const float* packed;
  const float* plain = nullptr;
};

// What is computed in one go. As Convolution::run says.
struct ConvolutionRows {
  const Picture& input;
  ConvolutionWeights weights;
  const float* bias;
  const Picture* residual;
  const Picture& output;
  float least, most;
  Index part, first, count;  // of the rows
  float* scratch;
  Soon soon;
};

// A way that leads over other convolutions. As Convolution says. Rows of tiles that it would make
// NaN or infinite where the definition does not, it sums as the definition says (in_order.h).
class ConvolutionDetour {
 public:
  virtual ~ConvolutionDetour() = default;
  virtual Index parts() const { return 1; }
  virtual std::pair<Index, Index> blocks_of(Index part) const = 0;
  virtual Index packed_size() const = 0;
  virtual void pack(const float* weights, float* packed) const = 0;
  virtual Index rows_at_once() const = 0;
  virtual Index rows_of_a_tile() const = 0;
  virtual Index scratch_size() const = 0;
  virtual std::string name() const = 0;
  virtual void run(const ConvolutionRows& rows) const = 0;
};

class Convolution {
 public:
  // `threads`: how many it is cut for, if it takes a way that is costly to cut afterwards.
  Convolution(Isa isa, const ConvolutionShape& shape, ConvolutionWay way = ConvolutionWay::best,
              Index threads = 1);

  // Floats. Megabytes of weights are read a tenth to a quarter faster from huge pages.
  Index packed_size() const { return packed_size_; }
  // From [out][in][kernel row][kernel column].
  void pack(const float* weights, float* packed) const;

  // Where the weights of a part stand, of a convolution with a single tap: rows of `width` output
  // channels from `first` on, one a channel of the input.
  struct Rows {
    Index offset, first, width;
  };
  Rows rows_of(Index part) const;

  // The weights of a part times a factor for each channel of the input, those of lane l of block b
  // at factors.data[b * factors.block + l]; of a convolution with a single tap.
  void scale(const float* packed, const Picture& factors, Index part, float* scaled) const;

  Index parts() const { return detour_ ? detour_->parts() : static_cast<Index>(groups_.size()); }
  // The output blocks of a part: the first, and how many.
  std::pair<Index, Index> blocks_of(Index part) const;
  // So many rows of the output are best made by all parts before the next: the input then stays in
  // cache. It is all rows where the weights are the larger half.
  Index rows_at_once() const { return rows_at_once_; }
  // Whether fewer rows at once cost no more, but for what each call costs.
  bool may_be_cut() const { return !detour_; }
  // A call's rows should be a multiple of this, unless they are the last.
  Index rows_of_a_tile() const;
  Index scratch_size() const;  // floats a call needs for at most rows_at_once() rows; often none

  // Rows [first_row, first_row + rows) of the blocks of `part`, at most rows_at_once() where there
  // is scratch: clamp(sum + bias + residual). NaN is not clamped. The first tap of output (0, 0)
  // reads input.data; `bias` is padded to whole blocks; `residual` may be null, or be the output.
  // Lanes of the last block that hold no channel are written with anything, and never read. `soon`:
  // what follows the last part; the others ask for the weights of the next.
  void run(const Picture& input, const ConvolutionWeights& weights, const float* bias,
           const Picture* residual, const Picture& output, float least, float most, Index part,
           Index first_row, Index rows, float* scratch, const Soon& soon = {}) const;

  ConvolutionWay way() const { return way_; }  // taken: never `best`
  std::string kernels_chosen() const;  // "blocked 2x14x1 step 1 over 56": for a bench to show

 private:
  struct Group {
    Index first_block, blocks;
    Index offset, size;  // of its weights
  };
  // Columns side by side that kernels of one width make.
  struct Strip {
    Index columns = 0;
    const ConvolutionKernel* single = nullptr;   // a row at a time
    const ConvolutionKernel* several = nullptr;  // several rows at a time, or null
  };
  static constexpr Index planned = 64;  // widths up to this are cut as the table says
  // The strip that a width begins with, for each width.
  using Cuts = std::array<Strip, planned + 1>;
  struct Call;

  Cuts cuts(Index blocks, Index rows) const;
  Soon after(Index part, const float* packed, const Soon& soon) const;
  Strip next_strip(const Cuts& cuts, Index columns) const;
  void run_rows(const ConvolutionKernel& kernel, Index columns, Index rows, const Call& call) const;

  Isa isa_;
  ConvolutionShape shape_;
  Index lanes_;
  ConvolutionWay way_ = ConvolutionWay::direct;
  Index threads_;  // a thread that has made a part takes the one behind those of the others
  Index full_blocks_, rest_;  // of the input's channels
  std::vector<Group> groups_;
  std::vector<Cuts> by_rows_, one_run_;  // for tiles of 1, 2 ... blocks
  std::shared_ptr<const ConvolutionDetour> detour_;
  Index packed_size_ = 0, rows_at_once_ = 0;
};

}  // namespace touchstone
