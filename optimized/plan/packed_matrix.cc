// Packs a constant matrix over its own elements, and restores them if they are read later.
#include "optimized/plan/packed_matrix.h"

#include <cstring>
#include <utility>

#include "core/restorable.h"
#include "optimized/plan/large.h"

namespace touchstone::optimized {
namespace {

struct Layout {
  Shape shape;
  bool across;
  Index depth() const { return shape[across ? 1 : 0]; }
  Index columns() const { return shape[across ? 0 : 1]; }
  template <class T>
  GemmMatrix<T> of(T* elements) const {
    return {elements, across ? 1 : columns(), across ? depth() : 1, depth(), columns()};
  }
};

void pack(const Gemm& gemm, const Layout& at, const void* elements, const float* bias,
          float* packed) {
  gemm.pack(at.of(static_cast<const float*>(elements)), bias, packed, 0, gemm.panels(at.columns()));
}

ElementMemory unpacked(const Gemm& gemm, const Layout& at, const void* packed) {
  Tensor made(Type::float32, at.shape, Storage::weights);
  gemm.unpack(static_cast<const float*>(packed), at.of(made.data<float>()));
  return memory_of(made);
}

std::shared_ptr<void> shared(LargeMemory memory) {
  return std::shared_ptr<float>(std::move(memory));
}

}  // namespace

PackedMatrix::PackedMatrix(const Gemm& gemm, const Source& source, SharedWeights& weights)
    : memory_(std::make_shared<Memory>()) {
  const Layout at{source.matrix.shape(), source.across};
  const Index floats = gemm.packed_size(at.depth(), at.columns());
  const std::shared_ptr<Restorable> elements = restorable_of(source.matrix);
  if (!elements || elements->is_pinned()) {
    LargeMemory packed = large_memory(floats);
    pack(gemm, at, source.matrix.data<void>(), source.bias, packed.get());
    memory_->first = shared(std::move(packed));
    return;
  }
  float* const packed = weights.scratch(floats);
  pack(gemm, at, elements->hold().get(), source.bias, packed);
  const auto restore = [gemm, at, memory = memory_] {
    return unpacked(gemm, at, memory->first.get());
  };
  const Index bytes = floats * Index{sizeof(float)}, capacity = elements->capacity();
  const auto copy = [&] {
    LargeMemory made = large_memory(floats);
    std::memcpy(made.get(), packed, static_cast<std::size_t>(bytes));
    return shared(std::move(made));
  };
  if (bytes > capacity) {
    memory_->first = copy();
    elements->drop(restore, [](const ElementMemory&) {});
    return;
  }
  memory_->padding = Charge(bytes - count(at.shape) * Index{sizeof(float)});
  const bool dropped = elements->drop(restore, [&](ElementMemory memory) {
    std::memcpy(memory.first.get(), packed, static_cast<std::size_t>(bytes));
    memory_->first = std::move(memory.first);
  });
  if (dropped) return;
  memory_->padding = Charge();
  memory_->first = copy();
}

}  // namespace touchstone::optimized
