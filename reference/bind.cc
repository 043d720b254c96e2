// See reference/bind.h.
#include "reference/bind.h"

namespace touchstone {

View<const std::int64_t> Bind::indices(Index k) {
  if (k >= static_cast<Index>(call_.inputs.size()) || !call_.inputs[static_cast<std::size_t>(k)].is_tensor()) return {};
  const Tensor& tensor = call_.inputs[static_cast<std::size_t>(k)].tensor();
  if (tensor.type() == Type::int64) return {tensor.data<std::int64_t>(), tensor.shape(), Type::int64};
  std::int64_t* held = scratch<std::int64_t>(tensor.size());
  for (Index i = 0; i < tensor.size(); ++i) held[i] = static_cast<std::int64_t>(number_at(tensor, i));
  return {held, tensor.shape(), Type::int64};
}

std::uint8_t* Bind::unpacked(const Tensor& tensor) {
  const std::vector<std::uint8_t> codes = unpack(tensor);
  std::uint8_t* held = scratch<std::uint8_t>(tensor.size());
  std::copy(codes.begin(), codes.end(), held);
  return held;
}

Tensor& Bind::made(Index k, Type type, const Shape& shape) {
  outputs_.emplace_back(k, std::make_unique<Tensor>(type, shape));
  return *outputs_.back().second;
}

void Bind::finish() {
  for (const auto& finisher : finishers_) finisher();
  for (auto& [k, tensor] : outputs_) {
    if (k < static_cast<Index>(call_.outputs.size())) call_.outputs[static_cast<std::size_t>(k)] = std::move(*tensor);
  }
}

Tensor cast_tensor(const Tensor& from, Type to, bool saturate, std::string_view rounding) {
  Rounding way = Rounding::nearest_even;
  if (to == Type::float8e8m0) {
    if (rounding == "up") way = Rounding::up;
    else if (rounding == "down") way = Rounding::down;
    else if (rounding == "nearest") way = Rounding::nearest_up;
    else throw Error(ErrorKind::invalid_model, "round_mode '" + std::string(rounding) + "' is none of up, down, nearest");
  }
  Tensor result(to, from.shape());
  convert(from, result, cast_saturation(to, saturate), way);
  return result;
}

}  // namespace touchstone
