// Packed weights of one model: plans for several shapes, and bodies in them, share each packed
// form.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <typeindex>
#include <vector>

#include "core/tensor.h"
#include "optimized/plan/large.h"

namespace touchstone::optimized {

// Holds no packed form by itself: one that no plan uses any more is released. Thread-safe.
class SharedWeights {
 public:
  // Returns the packed form of constants under a format: numbers that determine it beside the
  // constants' types, shapes and elements. Calls `make` if no plan has it. The constants must not
  // change later. `make` returns a T, which may hold memory of its own. For a form of a node,
  // `format` has its address.
  template <class T, class F>
  std::shared_ptr<const T> get(std::initializer_list<const Tensor*> constants,
                               const IndexVector& format, F&& make) {
    Key key{typeid(T), {}, {format.begin(), format.end()}};
    for (const Tensor* const constant : constants) {
      std::get<1>(key).push_back(constant ? constant->identity() : nullptr);
      if (constant != nullptr) append_shape(*constant, std::get<2>(key));
    }
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    if (std::shared_ptr<const void> found = entry.packed.lock())
      return std::static_pointer_cast<const T>(found);
    auto made = std::make_shared<const T>(make());
    entry.packed = made;
    entry.constants.clear();
    for (const Tensor* const constant : constants)
      entry.constants.push_back(constant ? *constant : Tensor());
    return made;
  }

  // Returns uninitialized memory for a form that is being packed, valid until `make` returns. A
  // plan releases it once all its weights are packed.
  float* scratch(Index floats) {
    if (floats > scratch_floats_) {
      scratch_.reset();
      scratch_floats_ = 0;
      scratch_ = large_memory(floats);
      scratch_floats_ = floats;
    }
    return scratch_.get();
  }
  void release_scratch() {
    const std::lock_guard lock(mutex_);
    scratch_.reset();
    scratch_floats_ = 0;
  }

  // Forgets the packed forms that no plan uses, and their constants.
  void release_unused() {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const auto& entry) { return entry.second.packed.expired(); });
  }

 private:
  using Key = std::tuple<std::type_index, std::vector<const void*>, std::vector<Index>>;
  // Constants of other shapes may share a buffer.
  static void append_shape(const Tensor& constant, std::vector<Index>& to) {
    to.push_back(static_cast<Index>(constant.type()));
    to.push_back(constant.shape().size());
    to.insert(to.end(), constant.shape().begin(), constant.shape().end());
  }
  struct Entry {
    std::weak_ptr<const void> packed;
    std::vector<Tensor> constants;  // keep their addresses from other tensors
  };

  std::mutex mutex_;
  std::map<Key, Entry> entries_;
  LargeMemory scratch_;
  Index scratch_floats_ = 0;
};

}  // namespace touchstone::optimized
