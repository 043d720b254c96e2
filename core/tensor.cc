// Tensor buffers: one allocation for a small tensor, pages that stay untouched until written for a
// large one.
#include "core/tensor.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/budget.h"
#include "core/checked.h"
#include "core/error.h"
#include "core/limits.h"
#include "core/placement.h"
#include "core/restorable.h"

namespace touchstone {
namespace {

constexpr Index small_bytes = 16 * 1024, large_bytes = Index{4} << 20, alignment = 64;
// Share of the elements' bytes that weights get as extra capacity. Pages that no packed form needs
// stay untouched.
constexpr Index extra_share = 16;

std::byte* aligned(std::byte* base) {
  const auto past = reinterpret_cast<std::uintptr_t>(base) % alignment;
  return past == 0 ? base : base + (alignment - past);
}

// Best effort: page faults on the small pages of a large buffer would cost more than writing it.
// Not for weights, which are touched once: the first touch of a large page may cost much more. It
// does where a virtual machine has given free memory back to its host.
void ask_for_large_pages(std::byte* base, std::size_t length) {
  constexpr std::uintptr_t page = 4096;
  const auto first = (reinterpret_cast<std::uintptr_t>(base) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(base) + length) / page * page;
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

struct FreePages {
  std::byte* base;
  Index capacity;  // after the aligned first byte
  std::shared_ptr<Charge> charge;
  void operator()(void*) const { std::free(base); }
};

// Allocates bytes, zeroed unless the storage is unfilled. An over-allocated block aligned by hand
// costs a small tensor two thirds less than an aligned allocation. calloc leaves the pages of a
// large buffer to the kernel until they are written.
std::shared_ptr<void> allocated(Index bytes, Storage storage) {
  const auto length = static_cast<std::size_t>((Checked(bytes) + (alignment - 1)).value());
  if (bytes <= small_bytes) {
    std::shared_ptr<std::byte[]> block =
        std::allocate_shared<std::byte[]>(ChargedAllocator<std::byte>(), length);
    std::byte* const first = aligned(block.get());
    return std::shared_ptr<void>(std::move(block), first);
  }
  auto charge = std::make_shared<Charge>(static_cast<Index>(length));
  const bool weights = storage == Storage::weights;
  const Index extra = weights && bytes >= min_extra_capacity ? bytes / extra_share : 0;
  const std::size_t whole = length + static_cast<std::size_t>(extra);
  auto* const base = static_cast<std::byte*>(storage == Storage::unfilled ? std::malloc(whole)
                                                                          : std::calloc(whole, 1));
  if (!base) throw std::bad_alloc();
  if (!weights && bytes >= large_bytes) ask_for_large_pages(base, length);
  return std::shared_ptr<void>(aligned(base), FreePages{base, bytes + extra, std::move(charge)});
}

// Buffer of a string tensor: the array, and the charged heap bytes of its strings.
struct Texts {
  explicit Texts(Index size)
      : account(current_budget() ? current_budget()->account() : nullptr),
        array((Checked(size) * Index{sizeof(std::string)}).value()),
        texts(std::make_unique<std::string[]>(static_cast<std::size_t>(size))) {}
  ~Texts() {
    if (account) account->give(beside);
  }
  std::shared_ptr<MemoryAccount> account;
  Charge array;
  std::atomic<Index> beside{0};
  std::unique_ptr<std::string[]> texts;
};
struct HoldsTexts {
  std::shared_ptr<Texts> held;
  void operator()(void*) const {}
};

}  // namespace

Tensor::Tensor(Type type, Shape shape, Storage storage) : type_(type), shape_(std::move(shape)) {
  size_ = check_size(type, shape_, current_limits());
  try {
    if (type == Type::string) {
      auto held = std::make_shared<Texts>(size_);
      std::string* const first = held->texts.get();
      buffer_ = std::shared_ptr<void>(static_cast<void*>(first), HoldsTexts{std::move(held)});
    } else {
      buffer_ = allocated(packed_bytes(type, size_), storage);
    }
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory,
                "no memory for a tensor of " + std::string(name(type)) + text(shape_));
  }
}

Tensor tensor_at(void* memory, Type type, Shape shape) {
  if (type == Type::string) BUG("strings are placed in foreign memory");
  Tensor made;
  made.size_ = check_size(type, shape, current_limits());
  made.type_ = type;
  made.shape_ = std::move(shape);
  made.buffer_ = std::shared_ptr<void>(std::shared_ptr<void>(), memory);  // not owned
  return made;
}

void Tensor::charge_texts() const {
  const HoldsTexts* holder = std::get_deleter<HoldsTexts>(buffer_);
  if (holder == nullptr || !holder->held->account) return;
  Texts& held = *holder->held;
  Index bytes = 0;
  for (Index k = 0; k < size_; ++k) {
    const auto length = static_cast<Index>(held.texts[static_cast<std::size_t>(k)].size());
    if (length > text_in_place) bytes += length;
  }
  // Another thread may hold the same tensor.
  for (Index told = held.beside; told < bytes;) {
    held.account->take(bytes - told);
    const Index more = bytes - told;
    if (held.beside.compare_exchange_strong(told, bytes)) return;
    held.account->give(more);
  }
}

bool Tensor::is_sole() const {
  if (buffer_.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // after the last use of another thread
  return true;
}

void* Tensor::restored() const { return static_cast<Restorable*>(buffer_.get())->pin(); }

bool make_restorable(std::span<Tensor* const> tensors) {
  if (tensors.empty() || tensors[0]->is_restorable_) return false;
  const std::shared_ptr<void>& buffer = tensors[0]->buffer_;
  if (std::get_deleter<FreePages>(buffer) == nullptr ||
      buffer.use_count() != static_cast<long>(tensors.size()))
    return false;
  const auto elements = std::make_shared<Restorable>(memory_of(*tensors[0]));
  for (Tensor* const tensor : tensors) {
    tensor->buffer_ = elements;
    tensor->is_restorable_ = true;
  }
  return true;
}

std::shared_ptr<Restorable> restorable_of(const Tensor& tensor) {
  return tensor.is_restorable_ ? std::static_pointer_cast<Restorable>(tensor.buffer_) : nullptr;
}

ElementMemory memory_of(const Tensor& tensor) {
  const FreePages* const pages = std::get_deleter<FreePages>(tensor.buffer_);
  return {tensor.buffer_, pages ? pages->capacity : packed_bytes(tensor.type(), tensor.size())};
}

std::span<const std::byte> Tensor::bytes() const {
  if (!buffer_ || type_ == Type::string) return {};
  return {data<std::byte>(), static_cast<std::size_t>(packed_bytes(type_, size_))};
}

std::span<std::byte> Tensor::bytes() {
  if (!buffer_ || type_ == Type::string) return {};
  return {data<std::byte>(), static_cast<std::size_t>(packed_bytes(type_, size_))};
}

Tensor Tensor::reshaped(Shape shape) const {
  if (count(shape) != size_) BUG("a tensor is reshaped to another number of elements");
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Tensor Tensor::scalar(Index at) const {
  const int bits = facts(type_).bits;
  if (at < 0 || at >= size_ || bits % 8 != 0 || type_ == Type::string)
    BUG("a scalar is taken of no element, or of elements that are not whole bytes");
  Tensor out;
  out.type_ = type_;
  out.size_ = 1;
  out.buffer_ =
      std::shared_ptr<void>(buffer_, static_cast<std::byte*>(elements()) + at * (bits / 8));
  return out;
}

Index packed_bytes(Type type, Index size) {
  const int bits = facts(type).bits;
  if (bits >= 8) return (Checked(size) * (bits / 8)).value();
  // Split, so that counts near the end of the range do not overflow in between.
  return (Checked(size / 8) * bits + (size % 8 * bits + 7) / 8).value();
}

// Types under 8 bits are one stream of bits, lowest first; a 6-bit code may span two bytes.
std::vector<std::uint8_t> unpack(const Tensor& packed) {
  const std::span<const std::byte> bytes = packed.bytes();
  if (!is_packed(packed.type())) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return {first, first + bytes.size()};
  }
  charge_scratch(packed.size());
  const int bits = facts(packed.type()).bits;
  const unsigned mask = (1U << bits) - 1;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(packed.size()));
  std::size_t byte = 0;
  int shift = 0;
  for (std::uint8_t& code : codes) {
    unsigned window = std::to_integer<unsigned>(bytes[byte]);
    if (shift + bits > 8) window |= std::to_integer<unsigned>(bytes[byte + 1]) << 8;
    code = static_cast<std::uint8_t>(window >> shift & mask);
    shift += bits;
    if (shift >= 8) shift -= 8, ++byte;
  }
  return codes;
}

void pack(std::span<const std::uint8_t> codes, Tensor& packed) {
  const std::span<std::byte> bytes = packed.bytes();
  if (!is_packed(packed.type())) {
    if (codes.size() != bytes.size()) BUG("pack: as many bytes as the tensor has are wanted");
    if (!codes.empty()) std::memcpy(bytes.data(), codes.data(), codes.size());
    return;
  }
  if (static_cast<Index>(codes.size()) != packed.size()) BUG("pack: one code an element is wanted");
  const int bits = facts(packed.type()).bits;
  const unsigned mask = (1U << bits) - 1;
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  std::size_t byte = 0;
  int shift = 0;
  for (const std::uint8_t code : codes) {
    const unsigned window = (code & mask) << shift;
    bytes[byte] |= static_cast<std::byte>(window & 0xFF);
    if (shift + bits > 8) bytes[byte + 1] |= static_cast<std::byte>(window >> 8);
    shift += bits;
    if (shift >= 8) shift -= 8, ++byte;
  }
}

}  // namespace touchstone
