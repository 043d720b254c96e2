// Tensors and the standard's other kinds of values. Copies of a tensor share its buffer, which is
// immutable once the tensor has been handed on: fill a tensor right after making it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/shape.h"
#include "core/sorted_map.h"
#include "core/types.h"

namespace touchstone {

class Restorable;
struct ElementMemory;

// Weights are allocated with extra capacity, so that a packed form fits over their elements.
// Unfilled memory is not zeroed if it is large: its maker writes all elements. Not for strings.
enum class Storage { values, weights, unfilled };
// Size in bytes from which weights get extra capacity.
inline constexpr Index min_extra_capacity = 256 * 1024;

// A contiguous row-major tensor of any element type. Copying aliases the buffer.
class Tensor {
 public:
  Tensor() = default;
  // Zero-filled (empty strings). Types under 8 bits are packed as in the file, element 0 in the
  // lowest bits. Throws Error: limit if the size exceeds current_limits(), out_of_memory if the
  // allocation fails.
  Tensor(Type type, Shape shape, Storage storage = Storage::values);

  Type type() const { return type_; }
  const Shape& shape() const { return shape_; }
  Index size() const { return size_; }       // number of elements
  std::span<const std::byte> bytes() const;  // empty for strings
  std::span<std::byte> bytes();
  template <class T>
  const T* data() const {
    return static_cast<const T*>(static_cast<const void*>(elements()));
  }
  template <class T>
  T* data() {
    return static_cast<T*>(static_cast<void*>(elements()));
  }
  // Strings: data<std::string>()

  // True if no copy of the tensor exists, on any thread: its elements may be written anew.
  bool is_sole() const;
  // Address that copies have in common, and no tensor with other elements alive at the same time.
  const void* identity() const { return buffer_.get(); }

  // Charges the heap bytes of the strings to the account that their array is charged to.
  void charge_texts() const;

  // The same elements under another shape of the same count. The copy aliases the buffer.
  Tensor reshaped(Shape shape) const;
  // Element `at` as a scalar that aliases the buffer, for types of whole bytes. Identity does not
  // tell element 0 from the whole.
  Tensor scalar(Index at) const;

 private:
  friend bool make_restorable(std::span<Tensor* const> tensors);
  friend std::shared_ptr<Restorable> restorable_of(const Tensor& tensor);
  friend ElementMemory memory_of(const Tensor& tensor);
  friend Tensor tensor_at(void* memory, Type type, Shape shape);
  void* elements() const { return is_restorable_ ? restored() : buffer_.get(); }
  void* restored() const;

  Type type_ = Type::undefined;
  bool is_restorable_ = false;  // the buffer is a Restorable (core/restorable.h)
  Shape shape_;
  Index size_ = 0;
  std::shared_ptr<void> buffer_;  // aligned to 64 bytes; an array of std::string for strings
};

// Returns the bytes that `size` elements of `type` take, packed. Throws Error (limit) on overflow.
Index packed_bytes(Type type, Index size);

// Converts a packed tensor to one byte per element (the code in the low bits), and back. Types of 8
// bits or more are copied unchanged.
std::vector<std::uint8_t> unpack(const Tensor& packed);
void pack(std::span<const std::uint8_t> codes, Tensor& packed);

struct Value;

struct Sequence {
  ValueType inner;
  std::vector<Value> items;
};
struct Optional {
  ValueType inner;
  std::shared_ptr<const Value> item;  // null if empty
};
struct Map {
  Type key = Type::int64;
  ValueType value;
  SortedMap<Index, Value> by_integer;       // keys of an integer type
  SortedMap<std::string, Value> by_string;  // keys of type string
};
struct SparseTensor {  // as in the standard: values [n], indices [n] linear or [n, rank]
  Tensor values, indices;
  Shape shape;
};

// Any value of the standard, or none (an omitted input or output).
struct Value {
  std::variant<std::monostate, Tensor, Sequence, Optional, Map, SparseTensor> is;

  Value() = default;
  template <class T>
  requires(std::is_same_v<T, Tensor> || std::is_same_v<T, Sequence> ||
           std::is_same_v<T, Optional> || std::is_same_v<T, Map> || std::is_same_v<T, SparseTensor>)
      Value(T held)
      : is(std::move(held)) {}  // NOLINT: implicit on purpose
  bool absent() const { return is.index() == 0; }
  bool is_tensor() const { return std::holds_alternative<Tensor>(is); }
  const Tensor& tensor() const;  // throws Error (internal) if it holds no tensor
  ValueType type() const;        // a tensor of undefined elements if absent
};

}  // namespace touchstone
