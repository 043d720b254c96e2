// Slicing, stacking and concatenation of tensors along an axis. See reference/slices.h.
#include "reference/slices.h"

#include <algorithm>

#include "core/error.h"
#include "core/limits.h"
#include "reference/lists.h"

namespace touchstone {
namespace {

// A shape as [outer, extent, inner] around an axis; `inner` counts units of the copied element
// type.
struct Around {
  Index outer = 1, extent = 1, inner = 1;
  Around(const Shape& whole, Index axis, Index unit)
      : outer(count(head(whole, axis))),
        extent(whole[axis]),
        inner(multiply(count(tail(whole, axis + 1)), unit)) {}
};

// std::copy_n that also charges the copied strings and the work.
template <class E>
E* moved(const E* from, Index count, E* to) {
  constexpr Index at_once = 1 << 20;
  for (Index k = 0; k < count; k += at_once) {
    const Index next = std::min(at_once, count - k);
    charge_work(1 + next / 16);
    if constexpr (std::is_same_v<E, std::string>) {
      for (Index n = k; n < k + next; ++n) charge_text(static_cast<Index>(from[n].size()));
    }
    to = std::copy_n(from + k, next, to);
  }
  return to;
}

template <class E>
void take(const E* whole, E* part, const Around& a, const IndexVector& positions) {
  for (Index o = 0; o < a.outer; ++o) {
    for (const Index at : positions)
      part = moved(whole + (o * a.extent + at) * a.inner, a.inner, part);
  }
}
// Copies `part` to `length` positions of the axis, from `at` on.
template <class E>
void place(const E* part, E* whole, const Around& a, Index at, Index length) {
  for (Index o = 0; o < a.outer; ++o) {
    moved(part + o * length * a.inner, length * a.inner, whole + (o * a.extent + at) * a.inner);
  }
}

Index width(const Tensor& tensor) { return facts(tensor.type()).bits / 8; }
std::string described(const Tensor& tensor) {
  return "tensor(" + std::string(name(tensor.type())) + ") of shape " + text(tensor.shape());
}

}  // namespace

Tensor slice(const Tensor& whole, Index axis, Index at) {
  const Tensor part = cut(whole, axis, at, 1);
  return part.reshaped(without(part.shape(), IndexVector{axis}));
}

Tensor cut(const Tensor& whole, Index axis, Index from, Index length) {
  return picked(whole, axis, collect(from, add(from, length), [](Index k) { return k; }));
}

Tensor picked(const Tensor& whole, Index axis, const IndexVector& positions) {
  Tensor part(whole.type(), replaced(whole.shape(), axis, positions.size()));
  if (part.size() == 0) return part;
  if (whole.type() == Type::string) {
    take(whole.data<std::string>(), part.data<std::string>(), Around(whole.shape(), axis, 1),
         positions);
  } else if (is_packed(whole.type())) {
    const std::vector<std::uint8_t> codes = unpack(whole);
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(part.size()));
    take(codes.data(), taken.data(), Around(whole.shape(), axis, 1), positions);
    pack(taken, part);
  } else {
    take(whole.bytes().data(), part.bytes().data(), Around(whole.shape(), axis, width(whole)),
         positions);
  }
  return part;
}

Tensor stacked(const std::vector<Tensor>& parts, Index axis) {
  std::vector<Tensor> seen;
  for (const Tensor& part : parts) {
    seen.push_back(
        part.reshaped(join(head(part.shape(), axis), Index{1}, tail(part.shape(), axis))));
  }
  return joined(seen, axis);
}

Tensor joined(const std::vector<Tensor>& parts, Index axis) {
  if (parts.empty()) BUG("nothing is joined");
  const Tensor& first = parts[0];
  Index extent = 0;
  for (const Tensor& part : parts) extent = add(extent, part.shape()[axis]);
  Tensor whole(first.type(), replaced(first.shape(), axis, extent));
  if (whole.size() == 0) return whole;
  std::vector<std::uint8_t> codes(is_packed(first.type()) ? static_cast<std::size_t>(whole.size())
                                                          : 0);
  Index at = 0;
  for (const Tensor& part : parts) {
    const Index length = part.shape()[axis];
    if (first.type() == Type::string) {
      place(part.data<std::string>(), whole.data<std::string>(), Around(whole.shape(), axis, 1), at,
            length);
    } else if (is_packed(first.type())) {
      place(unpack(part).data(), codes.data(), Around(whole.shape(), axis, 1), at, length);
    } else {
      place(part.bytes().data(), whole.bytes().data(), Around(whole.shape(), axis, width(whole)),
            at, length);
    }
    at += length;
  }
  if (is_packed(first.type())) pack(codes, whole);
  return whole;
}

void Stack::add(Value value) {
  if (!value.is_tensor())
    throw Error(ErrorKind::invalid_input, "'" + declared_.name + "' is stacked, but is no tensor");
  const Tensor& next = value.tensor();
  if (first_ && (next.type() != first_->type() || !(next.shape() == first_->shape()))) {
    throw Error(ErrorKind::invalid_input, "'" + declared_.name + "' is stacked, but was a " +
                                              described(*first_) + " and in iteration " +
                                              std::to_string(parts_.size()) + " is a " +
                                              described(next));
  }
  if (!first_) first_ = next;
  charge_scratch(2 * sizeof(std::optional<Tensor>));
  parts_.push_back(next);
}

void Stack::skip() {
  const Index most = current_limits().loop_iterations;
  if (static_cast<Index>(parts_.size()) >= most) {
    throw passes_limit("stacking '" + declared_.name + "' so often", "loop_iterations", most);
  }
  charge_scratch(2 * sizeof(std::optional<Tensor>));
  charge_work(1);
  parts_.push_back(std::nullopt);
}

Tensor Stack::like() const {
  if (first_) return Tensor(first_->type(), first_->shape());
  if (!declared_.type || declared_.type->kind != ValueType::Kind::tensor) {
    throw Error(ErrorKind::invalid_model, "the graph does not say which tensor its output '" +
                                              declared_.name +
                                              "' is, and without an iteration nothing else does");
  }
  Shape shape;
  if (declared_.shape) {
    for (const Dim& d : *declared_.shape) shape.push_back(d.size.value_or(0));
  }
  return Tensor(declared_.type->element, shape);
}

Tensor Stack::whole(Index axis, bool backward) const {
  const Tensor one = like();
  const Index rank = one.shape().size() + 1, at = wrap(axis, rank);
  if (at < 0 || at >= rank) {
    throw Error(ErrorKind::invalid_model, "'" + declared_.name + "' is stacked along axis " +
                                              std::to_string(axis) + ", but has only " +
                                              std::to_string(rank) + " of them");
  }
  if (parts_.empty())
    return Tensor(one.type(), join(head(one.shape(), at), Index{0}, tail(one.shape(), at)));
  std::vector<Tensor> parts;
  for (const std::optional<Tensor>& part : parts_) parts.push_back(part.value_or(one));
  if (backward) std::reverse(parts.begin(), parts.end());
  return stacked(parts, at);
}

}  // namespace touchstone
