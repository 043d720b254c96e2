// Builds a plan: one step or more per group of nodes, the layouts of each value that steps need
// (plain tensor, channel blocks), and a buffer per layout.
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
#include "optimized/registry/components.h"

namespace touchstone::optimized {

// Value in channel blocks: its buffer and layout.
struct Blocked {
  Index buffer;
  Blocks blocks;
};

// Buffers that a step accesses, for the arena check (arena_check.h).
struct BufferUse {
  struct Write {
    Index buffer;
    std::optional<Blocks> blocks;  // the part of the buffer that belongs to a value in blocks
  };
  std::set<Index> buffers;    // all that it may read
  std::vector<Write> writes;  // the buffers among them that it may write
};

class Builder {
 public:
  Builder(const AnalyzedGraph& graph, Index threads, const PlanOptions& options);

  const AnalyzedGraph& graph() const { return graph_; }
  Index threads() const { return threads_; }
  Index lanes() const { return lanes_; }
  bool winograd() const { return graph_.winograd(); }
  const Shape& shape(Index value) const { return *graph_.value(value).shape; }

  // Inputs of the step under construction. Adds a conversion step before it if the value is not in
  // that layout yet.
  Index plain(Index value);  // returns a buffer; also for constants
  const Blocked& blocked(Index value);
  bool is_blocked(Index value) const { return blocked_.contains(value); }
  // True if no halo separates the rows of a value in blocks.
  bool has_dense_rows(Index value) const;
  // Outputs of the step under construction.
  Index make_plain(Index value);
  const Blocked& make_blocked(Index value);
  // Makes `made` an alias of `of` with another shape, in the same buffer.
  void make_view(Index made, Index of);
  // Input on the device; device buffers are numbered separately.
  Index on_device(Index value);
  // Scratch buffer of this step alone.
  Index temporary(Index floats);
  void add(std::unique_ptr<Step> step, std::vector<Index> nodes);

  // Plans one node by itself: on a generated kernel, on a row kernel, or on the reference if no
  // fast step accepts it after all.
  void on_kernel(Index node);
  void on_row_kernel(Index node);
  void on_family(Index node, const KernelFamily& family);
  void on_fused_family(const Group& group);
  void on_reference(Index node);

  void build();

  // Notes a component, or refuses it. Stands before code that only the component names: without it,
  // that code is unreachable, and the linker drops it.
  template <Component component>
  [[gnu::always_inline]] void needs() {
    components.insert(component);
    if constexpr (!is_built(component)) refuse(component);
  }

  // Result. Constants have buffers but are outside of the arena.
  std::vector<std::unique_ptr<Step>> steps;
  std::set<const KernelFamily*> families;  // of the steps
  std::set<const FusedFamily*> fused_families;
  std::set<Component> components;
  std::vector<BufferUse> uses;  // of each step
  std::vector<Span> spans;      // of buffers
  std::vector<Span> device_spans;
  std::map<Index, const Tensor*> device_constants;  // by device buffer
  std::map<Index, const Tensor*> constants;         // by buffer
  std::map<Index, Index> tensors;                   // values that steps read as tensors -> buffer
  std::map<Index, Index> outputs;   // graph output -> buffer; absent for tensors of their own
  std::map<Index, Index> last_use;  // tensors of their own -> last step that uses them
  const std::map<Index, Index>& plain_buffers() const { return plain_; }  // by value
  const std::map<Index, Blocked>& blocked_buffers() const { return blocked_; }

 private:
  Index new_buffer(Index bytes);
  void note_use();
  const Blocked& place_blocked(Index value);
  std::vector<Index> place_outputs(Index node, bool (AnalyzedValue::*places)() const);
  void build_view(const Group& group);
  void add_sharing(Index node, std::unique_ptr<Step> step);
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

  const AnalyzedGraph& graph_;
  const Index threads_, lanes_;
  const std::shared_ptr<backends::Device> device_;
  std::vector<Group> groups_;
  std::map<Index, Index> plain_;  // value -> buffer
  std::map<Index, Blocked> blocked_;
  std::map<Index, Index> there_;  // value -> device buffer
  std::set<Index> made_there_;    // values that the device computes
  struct Home {
    Index joined;       // a value
    Index first_block;  // of its blocks
  };
  // Values stored inside the value that they are joined into.
  std::map<Index, Home> homes_;
  std::map<Index, Halo> halos_;            // largest halo that the windows reading a value need
  std::vector<Index> shared_;              // buffers that may be read until the run ends
  std::vector<Index> touched_;             // buffers of the step under construction
  std::vector<BufferUse::Write> written_;  // blocks that it writes
  std::vector<Index> touched_there_;
};

// Build the steps of each kind of work (steps_*.cc). Inputs must be requested from the builder
// before outputs.
void build_convolution(Builder& builder, const Group& group);
void build_transposed(Builder& builder, const Group& group);
void build_pool(Builder& builder, const Group& group);
void build_matmul(Builder& builder, const Group& group);
void build_matmul_dynamic_b(Builder& builder, const Group& group);
void build_join(Builder& builder, const Group& group);
void build_copy(Builder& builder, const Group& group);
void build_repeat(Builder& builder, const Group& group);
void build_pointwise(Builder& builder, const Group& group);
// Returns false for a node that is no reduction, or whose kernel calls depend on the run.
bool build_reduction(Builder& builder, Index node);
// True if a transposed convolution has disjoint windows: a single product per point, which leaves a
// plain tensor.
bool is_spread(const Window& window, Index channels, Index lanes);
std::unique_ptr<Step> load(const AnalyzedValue& fact, Index value, Index buffer);
// Passes a tensor of its own on, under the shape of `made`.
std::unique_ptr<Step> view_step(const AnalyzedGraph& graph, Index made, Index of);
std::unique_ptr<Step> to_blocks(Index plain, const Blocked& blocked);
std::unique_ptr<Step> to_plain(const Blocked& blocked, Index plain);
std::unique_ptr<Step> reference_step(const AnalyzedGraph& graph, Index node);
// `buffer`: no_value if the output's shape is unknown before the run.
std::unique_ptr<Step> kernel_step(const AnalyzedGraph& graph, Index node, Index buffer);
std::unique_ptr<Step> row_kernel_step(const AnalyzedGraph& graph, Index node,
                                      std::vector<Index> buffers);

}  // namespace touchstone::optimized
