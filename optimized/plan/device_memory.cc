// Reuses whole device buffers instead of offsets into one block: a device may require its own
// alignment of buffers.
#include "optimized/plan/device_memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace touchstone::optimized {
namespace {

struct Slot {
  Index bytes, last;  // `last`: the step after which it is free; never for a constant
  Index first;        // the step that uses it first
};

}  // namespace

DeviceMemory::DeviceMemory(
    backends::Device& device, const std::vector<Span>& spans,
    const std::map<Index, const Tensor*>& constants,
    const std::function<void(Index step, const std::function<void()>&)>& at_step)
    : slot_of_(spans.size(), -1) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spans[a].first < spans[b].first; });
  std::vector<Slot> slots;
  for (const std::size_t k : order) {
    const Span& span = spans[k];
    const bool constant = constants.contains(static_cast<Index>(k));
    Index best = -1;
    // Selects the smallest slot that is large enough, else the largest, which grows.
    for (std::size_t s = 0; s < slots.size() && !constant; ++s) {
      if (slots[s].last >= span.first) continue;
      const auto better = [&](const Slot& a, const Slot& b) {
        const bool fits = a.bytes >= span.bytes, other = b.bytes >= span.bytes;
        return fits != other ? fits : fits ? a.bytes < b.bytes : a.bytes > b.bytes;
      };
      if (best < 0 || better(slots[s], slots[static_cast<std::size_t>(best)]))
        best = static_cast<Index>(s);
    }
    if (best < 0) {
      best = static_cast<Index>(slots.size());
      slots.push_back({0, 0, span.first});
    }
    Slot& slot = slots[static_cast<std::size_t>(best)];
    slot.bytes = std::max(slot.bytes, span.bytes);
    slot.last = constant ? std::numeric_limits<Index>::max() : span.last;
    slot_of_[k] = best;
  }
  for (const Slot& slot : slots) {
    at_step(slot.first, [&] { slots_.push_back(device.allocate(slot.bytes)); });
    bytes_ += slot.bytes;
  }
  for (const auto& [named, held] : constants) {
    const Index buffer = named;
    const Tensor* tensor = held;
    at_step(spans[static_cast<std::size_t>(buffer)].first, [&] {
      device.upload(tensor->bytes().data(), *at(buffer),
                    spans[static_cast<std::size_t>(buffer)].bytes);
    });
  }
}

}  // namespace touchstone::optimized
