// Puts a plan together: for each group of nodes a step, for each value the forms in which steps
// want it (a plain tensor, blocks of channels), for each form a buffer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "optimized/plan/arena.h"
#include "optimized/plan/blocks.h"
#include "optimized/plan/groups.h"
#include "optimized/plan/plan.h"
#include "optimized/plan/step.h"

namespace touchstone {

// A value in blocks: where, and how it lies.
struct Blocked {
  Index buffer;
  Blocks blocks;
};

// The buffers of a step, for the arena check (arena_check.h).
struct BufferUse {
  struct Write {
    Index buffer;
    std::optional<Blocks> blocks;  // the part of the buffer that is a value in blocks
  };
  std::set<Index> buffers;    // all that it may read
  std::vector<Write> writes;  // those of them that it may write
};

class Builder {
 public:
  Builder(const Outline& outline, Index threads, const PlanOptions& options);

  const Outline& outline() const { return outline_; }
  Index threads() const { return threads_; }
  Index lanes() const { return lanes_; }
  bool winograd() const { return winograd_; }
  const Shape& shape(Index value) const { return *outline_.value(value).shape; }

  // For a step that is being built: its inputs, made ready before it where they are not in this
  // form yet.
  Index plain(Index value);  // a buffer; of a constant too
  const Blocked& blocked(Index value);
  bool is_blocked(Index value) const { return blocked_.contains(value); }
  // Its outputs.
  Index make_plain(Index value);
  const Blocked& make_blocked(Index value);
  // `made` is `of` under another shape: the same buffer.
  void make_view(Index made, Index of);
  // On the device: buffers that are numbered apart.
  Index on_device(Index value);
  // Memory of the step alone.
  Index temporary(Index floats);
  void add(std::unique_ptr<Step> step, std::vector<Index> nodes);

  // One node by itself: on a generated kernel, on a nest, or on the reference, where no fast step
  // takes it after all.
  void on_kernel(Index node);
  void on_nest(Index node);
  void on_reference(Index node);

  void build();

  // The result. Buffers of constants are in no arena.
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<BufferUse> uses;  // of each step
  std::vector<Span> spans;      // of buffers
  std::vector<Span> device_spans;
  std::map<Index, const Tensor*> device_constants;  // by device buffer
  std::map<Index, const Tensor*> constants;         // by buffer
  std::map<Index, Index> tensors;   // values that steps see as tensors: their buffers
  std::map<Index, Index> outputs;   // of the graph: value -> buffer; else its own tensor
  std::map<Index, Index> last_use;  // of values that are tensors of their own: a step
  const std::map<Index, Index>& plain_buffers() const { return plain_; }  // by value
  const std::map<Index, Blocked>& blocked_buffers() const { return blocked_; }

 private:
  Index new_buffer(Index floats);
  void note_use();
  const Blocked& place_blocked(Index value);
  Index place_output(Index value);
  void build(const Group& group);
  void tell_tensors(Index node);
  void tell_tensors(const std::vector<Index>& values);
  Index new_device_buffer(Index bytes);
  void download(Index value, Index buffer);
  void build_on_device(Index node);
  void view_on_device(Index node);
  void foresee();
  bool is_in_blocks(const Group& group, const std::set<Index>& in_blocks) const;
  void give_homes();
  void between(const std::function<void()>& change);

  const Outline& outline_;
  const Index threads_, lanes_;
  const bool winograd_;
  const std::shared_ptr<Device> device_;
  std::vector<Group> groups_;
  std::map<Index, Index> plain_;  // value -> buffer
  std::map<Index, Blocked> blocked_;
  std::map<Index, Index> there_;  // value -> device buffer
  std::set<Index> made_there_;    // values that the device makes
  struct Home {
    Index joined;       // a value
    Index first_block;  // of its blocks
  };
  std::map<Index, Home> homes_;            // values that stand inside of what they are joined to
  std::map<Index, Halo> halos_;            // what the windows that read a value reach around it
  std::vector<Index> shared_;              // buffers that may be seen until the run ends
  std::vector<Index> touched_;             // buffers of the step that is being built
  std::vector<BufferUse::Write> written_;  // those of them that are blocks which it makes
  std::vector<Index> touched_there_;
};

// Steps of each kind of work (steps_*.cc). They ask the builder for their inputs first.
void build_convolution(Builder& builder, const Group& group);
void build_transposed(Builder& builder, const Group& group);
void build_pool(Builder& builder, const Group& group);
void build_product(Builder& builder, const Group& group);
void build_fed_product(Builder& builder, const Group& group);
void build_join(Builder& builder, const Group& group);
void build_move(Builder& builder, const Group& group);
void build_repeat(Builder& builder, const Group& group);
void build_pointwise(Builder& builder, const Group& group);
// Whether a transposed convolution is one product a point and leaves a plain tensor.
bool is_spread(const Window& window, Index channels, Index lanes);
std::unique_ptr<Step> load(const ValueFact& fact, Index value, Index buffer);
std::unique_ptr<Step> to_blocks(Index plain, const Blocked& blocked);
std::unique_ptr<Step> to_plain(const Blocked& blocked, Index plain);
std::unique_ptr<Step> reference_step(const Outline& outline, Index node);
// `buffer`: nobody's where the output's shape is not known before the run.
std::unique_ptr<Step> kernel_step(const Outline& outline, Index node, Index buffer);
std::unique_ptr<Step> nest_step(const Outline& outline, Index node, std::vector<Index> buffers);

}  // namespace touchstone
