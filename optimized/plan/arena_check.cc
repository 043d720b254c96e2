// Arena check. With AddressSanitizer, memory that a step may not access is also poisoned for the
// sanitizer, which detects reads.
#include "optimized/plan/arena_check.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define TOUCHSTONE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TOUCHSTONE_ASAN 1
#endif
#endif
#ifdef TOUCHSTONE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace touchstone::optimized {
namespace {

// A NaN whose bytes all differ: runs of equal 8-bit numbers, as zero points are, do not match it.
constexpr std::uint32_t poison_bits = 0x7fd2b96e;
const float poison_value = std::bit_cast<float>(poison_bits);

// Ignores the sign: a kernel may negate a value that it should not have read.
bool is_poison(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7fffffff) == poison_bits;
}

[[maybe_unused]] void close([[maybe_unused]] const void* first, [[maybe_unused]] Index bytes) {
#ifdef TOUCHSTONE_ASAN
  __asan_poison_memory_region(first, static_cast<std::size_t>(bytes));
#endif
}
void open([[maybe_unused]] const void* first, [[maybe_unused]] Index bytes) {
#ifdef TOUCHSTONE_ASAN
  __asan_unpoison_memory_region(first, static_cast<std::size_t>(bytes));
#endif
}

const std::byte* bytes_at(const float* memory) {
  return reinterpret_cast<const std::byte*>(memory);
}
std::size_t size_of(Index bytes) { return static_cast<std::size_t>(bytes); }

// Returns a hash that changes if any byte does.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + sizeof sum <= bytes.size(); at += sizeof sum) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum = std::rotl((sum ^ word) * 0x9e3779b97f4a7c15, 29);
  }
  for (; at < bytes.size(); ++at)
    sum = std::rotl((sum ^ std::to_integer<std::uint64_t>(bytes[at])) * 0x9e3779b97f4a7c15, 29);
  return sum;
}

[[noreturn]] void fail(const Step& step, const std::string& what) {
  throw Error(ErrorKind::internal, "step '" + step.kernel + "' " + what);
}

}  // namespace

bool arena_check_chosen() {
  const char* const chosen = std::getenv("TOUCHSTONE_CHECK");
  if (chosen == nullptr || *chosen == '\0') return false;
  if (std::strcmp(chosen, "arena") == 0) return true;
  throw Error(ErrorKind::usage,
              "TOUCHSTONE_CHECK is '" + std::string(chosen) + "', but it may be 'arena' alone");
}

// Records the buffers that a step binds.
class ArenaCheck::Recorder : public Memory {
 public:
  explicit Recorder(const Memory& memory) : memory_(memory) {}
  float* at(Index buffer) const override {
    bound.insert(buffer);
    return memory_.at(buffer);
  }
  backends::DeviceBuffer* on_device(Index buffer) const override {
    return memory_.on_device(buffer);
  }
  mutable std::set<Index> bound;

 private:
  const Memory& memory_;
};

Index ArenaCheck::place(std::vector<Span>& spans) {
  for (Span& span : spans) span.bytes += 2 * guard_bytes;
  const Index whole = place_spans(spans);
  for (Span& span : spans) {
    span.bytes -= 2 * guard_bytes;
    span.offset += guard_bytes;
  }
  return whole;
}

ArenaCheck::ArenaCheck(const Builder& builder, const Memory& memory, std::vector<Area> areas)
    : builder_(builder),
      memory_(memory),
      areas_(std::move(areas)),
      recorder_(std::make_unique<Recorder>(memory)),
      constants_(builder.steps.size()) {
  for (const Area& area : areas_) copies_.emplace_back(size_of(area.bytes));
  for (const auto& [value, buffer] : builder.plain_buffers()) values_.emplace(buffer, value);
  require_apart();
  require_outputs_last();
}

ArenaCheck::~ArenaCheck() { open_all(); }

bool ArenaCheck::is_placed(Index buffer) const {
  return !builder_.constants.contains(buffer) && span(buffer).bytes > 0;
}
bool ArenaCheck::is_live(Index buffer, Index step) const {
  return span(buffer).first <= step && step <= span(buffer).last;
}
ArenaCheck::Range ArenaCheck::range(Index buffer) const {
  const std::byte* const first = bytes_at(memory_.at(buffer));
  return {first, first + span(buffer).bytes};
}

// Adds the ranges of a write; if its blocks are part of a larger stack, one range per image.
void ArenaCheck::add_ranges(const BufferUse::Write& write, std::vector<Range>& ranges) const {
  if (!write.blocks) return ranges.push_back(range(write.buffer));
  const Blocks& blocks = *write.blocks;
  for (Index image = 0; image < blocks.images; ++image) {
    const float* const first =
        memory_.at(write.buffer) + image * blocks.image() + blocks.first_block * blocks.block();
    ranges.push_back({bytes_at(first), bytes_at(first + blocks.blocks() * blocks.block())});
  }
}

std::string ArenaCheck::buffer_name(Index buffer) const {
  if (const auto plain = values_.find(buffer); plain != values_.end())
    return "the buffer of '" + builder_.graph().value(plain->second).name + "'";
  for (const auto& [value, blocked] : builder_.blocked_buffers()) {
    if (blocked.buffer == buffer)
      return "the blocks of '" + builder_.graph().value(value).name + "'";
  }
  return "temporary buffer " + std::to_string(buffer);
}

// Describes an address by the buffer that contains it, or else by the nearest one.
std::string ArenaCheck::place_name(const std::byte* at, Index step) const {
  Index nearest = no_value, min = guard_bytes;
  for (Index k = 0; k < static_cast<Index>(builder_.spans.size()); ++k) {
    if (!is_placed(k) || !is_live(k, step)) continue;
    const Range inside = range(k);
    if (inside.first <= at && at < inside.end)
      return "element " + std::to_string((at - inside.first) / 4) + " of " + buffer_name(k);
    const Index distance = at < inside.first ? inside.first - at : at - inside.end;
    if (distance < min) {
      nearest = k;
      min = distance;
    }
  }
  if (nearest == no_value) return "memory where no buffer lives during this step";
  const bool in_front = at < range(nearest).first;
  return std::to_string(min) + " bytes " + (in_front ? "before " : "past the end of ") +
         buffer_name(nearest);
}

void ArenaCheck::require_apart() const {
  const auto buffers = static_cast<Index>(builder_.spans.size());
  for (Index a = 0; a < buffers; ++a) {
    if (!is_placed(a)) continue;
    for (Index b = a + 1; b < buffers; ++b) {
      if (!is_placed(b) || span(a).last < span(b).first || span(b).last < span(a).first) continue;
      if (range(a).end <= range(b).first || range(b).end <= range(a).first) continue;
      throw Error(ErrorKind::internal,
                  buffer_name(a) + " and " + buffer_name(b) + " live at the same time and overlap");
    }
  }
}

// Output copies may be late steps; no later step may write into an output's buffer.
void ArenaCheck::require_outputs_last() const {
  const auto steps = static_cast<Index>(builder_.steps.size());
  for (const auto& [value, buffer] : builder_.outputs) {
    if (!is_placed(buffer) || span(buffer).last >= steps) continue;
    throw Error(ErrorKind::internal,
                "the output '" + builder_.graph().value(value).name +
                    "' is read when the run ends, but its buffer is free after step " +
                    std::to_string(span(buffer).last) + " of " + std::to_string(steps));
  }
}

void ArenaCheck::bind(Index k) {
  recorder_->bound.clear();
  builder_.steps[static_cast<std::size_t>(k)]->bind(*recorder_);
  for (const Index buffer : recorder_->bound) {
    if (const auto constant = builder_.constants.find(buffer);
        constant != builder_.constants.end()) {
      constants_[static_cast<std::size_t>(k)].push_back(
          {buffer_name(buffer), constant->second, checksum(constant->second->bytes())});
    } else if (!use(k).buffers.contains(buffer)) {
      fail(step(k), "takes " + buffer_name(buffer) + ", which the plan did not give it");
    }
  }
}

void ArenaCheck::watch_scratch(std::vector<float*> scratch, Index floats, Index guard) {
  scratch_ = std::move(scratch);
  scratch_floats_ = floats;
  scratch_guard_ = guard;
}

void ArenaCheck::begin(const std::map<std::string, Value>& feeds) {
  open_all();  // a step of an earlier run may have thrown
  for (std::size_t k = 0; k < areas_.size(); ++k) {
    open(areas_[k].first, areas_[k].bytes);
    const Index floats = areas_[k].bytes / static_cast<Index>(sizeof(float));
    std::fill_n(areas_[k].first, floats, poison_value);
    if (floats > 0) std::memcpy(copies_[k].data(), areas_[k].first, copies_[k].size());
  }
  feeds_.clear();
  for (const auto& [name, value] : feeds) {
    if (!value.is_tensor() || value.tensor().type() == Type::string) continue;
    const Tensor& tensor = value.tensor();
    feeds_.push_back({"the feed '" + name + "'", &tensor, checksum(tensor.bytes())});
  }
}

void ArenaCheck::before([[maybe_unused]] Index k) {
  for (float* const memory : scratch_)
    std::fill(memory - scratch_guard_, memory + scratch_floats_ + scratch_guard_, poison_value);
#ifdef TOUCHSTONE_ASAN
  const auto last = static_cast<Index>(builder_.steps.size()) - 1;
  for (const Area& area : areas_) close(area.first, area.bytes);
  for (Index buffer = 0; buffer < static_cast<Index>(builder_.spans.size()); ++buffer) {
    // Buffers alive until the run ends may be part of a tensor that a reference kernel passed on.
    const bool is_shared = is_live(buffer, k) && span(buffer).last >= last;
    if (is_placed(buffer) && (is_shared || use(k).buffers.contains(buffer)))
      open(memory_.at(buffer), span(buffer).bytes);
  }
  for (float* const memory : scratch_) {
    const Index own = step(k).scratch();
    close(memory - scratch_guard_, scratch_guard_ * 4);
    close(memory + own, (scratch_floats_ + scratch_guard_ - own) * 4);
  }
#endif
}

void ArenaCheck::after(Index k, const std::vector<Value>& values) {
  open_all();
  std::vector<Range> own;
  for (const BufferUse::Write& write : use(k).writes) {
    if (is_placed(write.buffer)) add_ranges(write, own);
  }
  std::sort(own.begin(), own.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  for (std::size_t area = 0; area < areas_.size(); ++area) {
    const std::byte* at = bytes_at(areas_[area].first);
    const std::byte* const end = at + areas_[area].bytes;
    for (const Range& range : own) {
      if (range.end <= at || range.first >= end) continue;
      compare(k, area, at, range.first);
      at = range.end;
    }
    compare(k, area, at, end);
  }
  for (float* const memory : scratch_) {
    require_poison(k, memory - scratch_guard_, memory, "in front of its scratch memory");
    require_poison(k, memory + step(k).scratch(), memory + scratch_floats_ + scratch_guard_,
                   "past the end of its scratch memory");
  }
  require_constants(k);
  require_no_poison(k);
  for (const Index node : step(k).nodes)
    require_tensors(builder_.graph().node(node).outputs, values, "step '" + step(k).kernel + "'");
  for (const BufferUse::Write& write : use(k).writes) copy(write.buffer);
  for (Index buffer = 0; buffer < static_cast<Index>(builder_.spans.size()); ++buffer) {
    if (span(buffer).last == k) poison(buffer);
  }
}

void ArenaCheck::end(const std::vector<Value>& values) {
  std::vector<Index> outputs;
  for (Index k = 0; k < static_cast<Index>(values.size()); ++k) {
    if (builder_.graph().value(k).output) outputs.push_back(k);
  }
  require_tensors(outputs, values, "a step that reads what is no longer there");
}

void ArenaCheck::open_all() {
  for (const Area& area : areas_) open(area.first, area.bytes);
  for (float* const memory : scratch_)
    open(memory - scratch_guard_, (scratch_floats_ + 2 * scratch_guard_) * 4);
}

void ArenaCheck::compare(Index k, std::size_t area, const std::byte* first,
                         const std::byte* end) const {
  if (first >= end) return;
  const std::byte* const copied = copies_[area].data() + (first - bytes_at(areas_[area].first));
  if (std::memcmp(first, copied, static_cast<std::size_t>(end - first)) == 0) return;
  const Index differs = std::mismatch(first, end, copied).first - first;
  const std::byte* const at = first + differs / 4 * 4;
  fail(step(k), "wrote outside of its buffers: " + place_name(at, k));
}

void ArenaCheck::require_poison(Index k, const float* first, const float* end,
                                const char* where) const {
  const float* const other = std::find_if_not(
      first, end, [](float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; });
  if (other != end) fail(step(k), std::string("wrote outside of its buffers: ") + where);
}

void ArenaCheck::require_constants(Index k) const {
  for (const std::vector<Constant>* all : {&constants_[static_cast<std::size_t>(k)], &feeds_}) {
    for (const Constant& held : *all) {
      if (checksum(held.tensor->bytes()) != held.checksum)
        fail(step(k), "wrote outside of its buffers: into " + held.name);
    }
  }
}

// Checks every value that the step wrote; only halos and unused lanes may stay unwritten.
void ArenaCheck::require_no_poison(Index k) const {
  const auto look = [&](Index buffer, float value) {
    if (!is_poison(value)) return;
    fail(step(k), "left poison in " + buffer_name(buffer) +
                      ": it read outside of its buffers, or left an element unwritten");
  };
  for (const BufferUse::Write& write : use(k).writes) {
    if (!is_placed(write.buffer)) continue;
    float* const memory = memory_.at(write.buffer);
    if (!write.blocks) {
      const auto value = values_.find(write.buffer);
      if (value == values_.end()) continue;
      const AnalyzedValue& fact = builder_.graph().value(value->second);
      const Index bytes = packed_bytes(fact.type->element, count(*fact.shape));
      for (Index at = 0; at < bytes / 4; ++at) look(write.buffer, memory[at]);
      continue;
    }
    const Blocks& blocks = *write.blocks;
    for (Index image = 0; image < blocks.images; ++image) {
      const BlockedImage view = blocks.image_view(memory, image);
      for (Index channel = 0; channel < blocks.channels; ++channel) {
        const float* const plane =
            view.data + channel / blocks.lanes * view.block + channel % blocks.lanes;
        for (Index row = 0; row < blocks.rows; ++row) {
          for (Index column = 0; column < blocks.columns; ++column)
            look(write.buffer, plane[row * view.row + column * view.column]);
        }
      }
    }
  }
}

// Checks tensors outside of the arena, which reference kernels made or passed on.
void ArenaCheck::require_tensors(const std::vector<Index>& of, const std::vector<Value>& values,
                                 const std::string& who) const {
  for (const Index k : of) {
    if (k == no_value || builder_.graph().value(k).constant || builder_.tensors.contains(k))
      continue;
    const Value& value = values[static_cast<std::size_t>(k)];
    if (!value.is_tensor() || value.tensor().type() != Type::float32) continue;
    const float* const first = value.tensor().data<float>();
    if (std::any_of(first, first + value.tensor().size(), is_poison)) {
      throw Error(ErrorKind::internal, who + " left poison in '" + builder_.graph().value(k).name +
                                           "': it read outside of its buffers");
    }
  }
}

void ArenaCheck::copy(Index buffer) {
  if (!is_placed(buffer)) return;
  const std::byte* const first = range(buffer).first;
  for (std::size_t k = 0; k < areas_.size(); ++k) {
    const Index at = first - bytes_at(areas_[k].first);
    if (at >= 0 && at < areas_[k].bytes)
      std::memcpy(copies_[k].data() + at, first, size_of(span(buffer).bytes));
  }
}

void ArenaCheck::poison(Index buffer) {
  if (!is_placed(buffer)) return;
  std::fill_n(memory_.at(buffer), span(buffer).bytes / 4, poison_value);
  copy(buffer);
}

}  // namespace touchstone::optimized
