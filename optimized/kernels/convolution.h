// Convolution of one float32 image on feature maps in channel blocks. Work is split into parts: a
// group of output channel blocks and a range of rows, which the caller distributes among threads.
// Padding is a halo of zeros that the input already contains.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "optimized/kernels/blocked_image.h"
#include "optimized/kernels/prefetch_hint.h"
#include "optimized/problems/band.h"

namespace touchstone::optimized {

// Parameters known when the plan is built.
struct ConvolutionShape {
  Index kernel_rows = 1, kernel_columns = 1;
  Index row_stride = 1, column_stride = 1;
  Index row_dilation = 1, column_dilation = 1;
  // Channels of one group; channels_out counts all groups if they are computed together.
  Index channels_in = 1, channels_out = 1;
  Index rows_out = 1, columns_out = 1;
  // Input is [channel][row][column]: BlockedImage::block is the channel stride,
  // BlockedImage::column is 1.
  bool plain_input = false;
  bool depthwise = false;
  bool adds = false;  // adds a residual
  Index groups = 1;   // that are computed together (grouped.h), but for depthwise ones
  // Planes of a volume, which follow one another as channels in whole blocks, and the channels of
  // each; channels_in counts those of all blocks. `plane_channels`: 0 for an image.
  Index planes = 1, plane_channels = 0;
  // Bands whose other taps are left out; empty: all taps everywhere. Blocked input only.
  std::vector<Band> row_bands, column_bands;
};

struct ConvolutionKernel;

// Algorithm: direct, Winograd with tiles of 2x2 or 4x4 points, neighboring points that share a
// vector (narrow.h), or groups that share a vector (grouped.h). `best` selects by a cost model.
enum class ConvolutionAlgorithm { direct, best, winograd2, winograd4, narrow, grouped };

// Weights as pack() wrote them, and the original ones. Only an algorithm other than direct reads
// the latter, for rows that it cannot compute faithfully.
struct ConvolutionWeights {
  const float* packed;
  const float* plain = nullptr;
};

// Arguments of one call; see Convolution::run.
struct ConvolutionRows {
  const BlockedImage& input;
  ConvolutionWeights weights;
  const float* bias;
  const BlockedImage* residual;
  const BlockedImage& output;
  float min, max;
  Index part, first, count;  // of the rows
  float* scratch;
  PrefetchHint prefetch;
};

// Algorithm built on other convolutions, with the contract of Convolution. Rows of tiles that it
// would make NaN or infinite where the definition does not are summed in the definition's order
// (in_order.h).
class ConvolutionVariant {
 public:
  virtual ~ConvolutionVariant() = default;
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
  // `threads`: number of threads to split the work for; some algorithms fix the split at
  // construction.
  Convolution(Isa isa, const ConvolutionShape& shape,
              ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::best, Index threads = 1);

  // In floats. Packed weights of megabytes are read a tenth to a quarter faster from huge pages.
  Index packed_size() const { return packed_size_; }
  // Packs weights of the layout [out][in][plane][kernel row][kernel column].
  void pack(const float* weights, float* packed) const;

  // Location of a part's packed weights in a 1x1 convolution: `width` output channels from `first`
  // on, one row per input channel.
  struct Rows {
    Index offset, first, width;
  };
  Rows rows_of(Index part) const;

  // Multiplies the weights of a part by a factor per input channel; lane l of block b reads
  // factors.data[b * factors.block + l]. 1x1 convolutions only.
  void scale(const float* packed, const BlockedImage& factors, Index part, float* scaled) const;

  Index parts() const { return variant_ ? variant_->parts() : static_cast<Index>(groups_.size()); }
  // Output blocks of a part: the first, and their number.
  std::pair<Index, Index> blocks_of(Index part) const;
  // Number of output rows that all parts should compute before the next rows, so that the input
  // stays in cache. All rows if the weights are larger than the input.
  Index rows_at_once() const { return rows_at_once_; }
  // True if splitting the rows further costs nothing but the additional calls.
  bool may_be_cut() const { return !variant_ || algorithm_ == ConvolutionAlgorithm::grouped; }
  // Rows of a call should be a multiple of this, except for the last call.
  Index rows_of_a_tile() const;
  Index scratch_size() const;  // floats of scratch per call of at most rows_at_once() rows; often 0

  // Computes clamp(sum + bias + residual) for rows [first_row, first_row + rows) of the blocks of
  // `part`. If there is scratch, at most rows_at_once() rows. NaN is not clamped. The first tap of
  // output (0, 0) reads input.data; `bias` is padded to whole blocks; `residual` may be null or
  // alias the output. Unused lanes of the last block are written with unspecified values and never
  // read. `prefetch`: memory to prefetch after the last part; other parts prefetch the next part's
  // weights.
  void run(const BlockedImage& input, const ConvolutionWeights& weights, const float* bias,
           const BlockedImage* residual, const BlockedImage& output, float min, float max,
           Index part, Index first_row, Index rows, float* scratch,
           const PrefetchHint& prefetch = {}) const;

  ConvolutionAlgorithm algorithm() const {
    return algorithm_;
  }                                    // the algorithm chosen, never `best`
  std::string kernels_chosen() const;  // "blocked 2x14x1 step 1 over 56": for benchmarks

 private:
  struct Group {
    Index first_block, blocks;
    Index offset, size;  // of its weights
  };
  // Adjacent columns that kernels of one width compute.
  struct Strip {
    Index columns = 0;
    const ConvolutionKernel* single = nullptr;   // computes one row per call
    const ConvolutionKernel* several = nullptr;  // computes several rows at once; may be null
  };
  static constexpr Index planned = 64;  // the table covers widths up to this
  // First strip of each width.
  using Cuts = std::array<Strip, planned + 1>;
  struct Call;

  void choose_variant(ConvolutionAlgorithm algorithm);
  Cuts cuts(Index blocks, Index rows) const;
  PrefetchHint after(Index part, const float* packed, const PrefetchHint& prefetch) const;
  Strip next_strip(const Cuts& cuts, Index columns) const;
  void run_band(const Cuts& cuts, Index columns, Index rows, Call call) const;
  void run_rows(const ConvolutionKernel& kernel, Index columns, Index rows, const Call& call) const;

  Isa isa_;
  ConvolutionShape shape_;
  Index lanes_;
  ConvolutionAlgorithm algorithm_ = ConvolutionAlgorithm::direct;
  Index threads_;             // a thread that finished part k continues with part k + threads_
  Index full_blocks_, rest_;  // of the input's channels
  std::vector<Group> groups_;
  std::vector<Cuts> by_rows_, one_run_;  // by blocks per tile, from 1
  std::shared_ptr<const ConvolutionVariant> variant_;
  Index packed_size_ = 0, rows_at_once_ = 0;
};

}  // namespace touchstone::optimized
