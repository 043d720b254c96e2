// Arena check: detects and names a step that writes or reads memory that is not its own.
//
// Guards surround every buffer. Guards and dead buffers are filled with a NaN of a distinct
// payload. After each step, every byte that the step may not write is compared with a copy. This
// copies and compares the whole arena per step, so only tests enable it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "optimized/plan/arena.h"
#include "optimized/plan/builder.h"
#include "optimized/plan/step.h"

namespace touchstone::optimized {

// True if TOUCHSTONE_CHECK is "arena". Throws Error (usage) for any other non-empty value.
bool arena_check_chosen();

class ArenaCheck {
 public:
  static constexpr Index guard_bytes = 4096;  // on each side of a buffer
  static constexpr Index guard_floats = guard_bytes / static_cast<Index>(sizeof(float));

  struct Area {
    float* first;
    Index bytes;
  };

  // Like place_spans, with guards around each span.
  static Index place(std::vector<Span>& spans);

  // `areas` contain all buffers except constants. Throws Error (internal) if the placement itself
  // is wrong: overlapping buffers, or an output whose buffer is reused before the run ends.
  ArenaCheck(const Builder& builder, const Memory& memory, std::vector<Area> areas);
  ~ArenaCheck();
  ArenaCheck(const ArenaCheck&) = delete;
  ArenaCheck& operator=(const ArenaCheck&) = delete;

  // Binds the step and verifies that it binds only buffers that the plan assigned to it.
  void bind(Index step);
  // Watches one scratch buffer per thread, of `floats` floats with `guard` floats on each side.
  void watch_scratch(std::vector<float*> scratch, Index floats, Index guard);

  // Call order of a run: begin, then before and after each step, then end.
  void begin(const std::map<std::string, Value>& feeds);
  void before(Index step);
  void after(Index step, const std::vector<Value>& values);
  void end(const std::vector<Value>& values);

 private:
  class Recorder;
  struct Range {
    const std::byte* first;
    const std::byte* end;
  };
  struct Constant {
    std::string name;
    const Tensor* tensor;
    std::uint64_t checksum;
  };

  const Step& step(Index k) const { return *builder_.steps[static_cast<std::size_t>(k)]; }
  const BufferUse& use(Index k) const { return builder_.uses[static_cast<std::size_t>(k)]; }
  const Span& span(Index buffer) const { return builder_.spans[static_cast<std::size_t>(buffer)]; }
  bool is_placed(Index buffer) const;
  bool is_live(Index buffer, Index step) const;
  Range range(Index buffer) const;
  void add_ranges(const BufferUse::Write& write, std::vector<Range>& ranges) const;
  std::string buffer_name(Index buffer) const;
  std::string place_name(const std::byte* at, Index step) const;

  void require_apart() const;
  void require_outputs_last() const;
  void compare(Index step, std::size_t area, const std::byte* first, const std::byte* end) const;
  void require_no_poison(Index step) const;
  void require_poison(Index step, const float* first, const float* end, const char* where) const;
  void require_constants(Index step) const;
  void require_tensors(const std::vector<Index>& of, const std::vector<Value>& values,
                       const std::string& who) const;
  void copy(Index buffer);
  void poison(Index buffer);
  void open_all();

  const Builder& builder_;
  const Memory& memory_;
  const std::vector<Area> areas_;
  std::vector<std::vector<std::byte>> copies_;  // of the areas
  std::map<Index, Index> values_;               // by plain buffer
  std::unique_ptr<Recorder> recorder_;
  std::vector<std::vector<Constant>> constants_;  // read by each step
  std::vector<Constant> feeds_;
  std::vector<float*> scratch_;
  Index scratch_floats_ = 0, scratch_guard_ = 0;
};

}  // namespace touchstone::optimized
