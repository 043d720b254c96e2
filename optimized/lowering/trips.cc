// Loops without an own cost for each trip beyond that of their bodies. Numbers of trips and
// conditions are in lent memory; slices of the first dimension are views.
#include "optimized/lowering/trips.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/budget.h"
#include "core/limits.h"
#include "core/placement.h"
#include "reference/bind.h"
#include "reference/calls.h"
#include "reference/slices.h"

namespace touchstone::optimized {
namespace {

bool is_given(const Call& call, std::size_t k) {
  return k < call.inputs.size() && !call.inputs[k].absent();
}

bool has_whole_bytes(Type type) { return type != Type::string && !is_packed(type); }

// Outputs of one name, stacked along a new dimension.
class StackedRows {
 public:
  // `expected`: the number of rows, or more.
  StackedRows(const ValueInfo& declared, Index expected) : others_(declared), expected_(expected) {}

  void add(Value value) {
    const auto* const row = std::get_if<Tensor>(&value.is);
    if (row == nullptr) throw BodyFailed{};
    if (count_ == 0) {
      start(*row);
    } else if (row->type() != type_ || row->shape() != shape_) {
      throw BodyFailed{};
    }
    if (!has_whole_bytes(type_)) {
      others_.add(std::move(value));
    } else {
      if (count_ == capacity_) grow(2 * capacity_);
      charge_work(1 + row_ / 16);
      if (row_ > 0)
        std::memcpy(rows_.bytes().data() + count_ * row_, row->bytes().data(),
                    static_cast<std::size_t>(row_));
    }
    ++count_;
  }

  Tensor whole(Index axis = 0, bool backward = false) const {
    if (count_ == 0 || !has_whole_bytes(type_)) return others_.whole(axis, backward);
    const Index rank = shape_.size() + 1, at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) throw BodyFailed{};
    if (at == 0 && !backward && count_ == capacity_) return rows_;
    Shape shape(shape_.begin(), shape_.begin() + at);
    shape.push_back(count_);
    shape.append(shape_.begin() + at, shape_.end());
    Tensor made(type_, std::move(shape));
    if (made.size() == 0) return made;
    const Index outer = count(Shape(shape_.begin(), shape_.begin() + at)), part = row_ / outer;
    std::byte* to = made.bytes().data();
    for (Index o = 0; o < outer; ++o) {
      charge_work(1 + count_ * part / 16);
      for (Index k = 0; k < count_; ++k, to += part) {
        const Index from = (backward ? count_ - 1 - k : k) * row_ + o * part;
        std::memcpy(to, rows_.bytes().data() + from, static_cast<std::size_t>(part));
      }
    }
    return made;
  }

 private:
  static constexpr Index first_bytes = Index{1} << 20;

  void start(const Tensor& row) {
    type_ = row.type();
    shape_ = row.shape();
    if (!has_whole_bytes(type_)) return;
    row_ = static_cast<Index>(row.bytes().size());
    grow(std::min(expected_, std::max<Index>(first_bytes / std::max<Index>(row_, 1), 1)));
  }
  void grow(Index capacity) {
    const Index elements = std::max<Index>(count(shape_), 1), bytes = std::max<Index>(row_, 1);
    const Limits& limits = current_limits();  // the reserve must not exceed them either
    const Index most = std::min(limits.elements / elements, limits.bytes / bytes);
    capacity_ = std::max(std::min({capacity, expected_, most}), count_ + 1);
    Shape shape{capacity_};
    shape.append(shape_.begin(), shape_.end());
    Tensor more(type_, std::move(shape));
    if (count_ * row_ > 0)
      std::memcpy(more.bytes().data(), rows_.bytes().data(),
                  static_cast<std::size_t>(count_ * row_));
    rows_ = std::move(more);
  }

  Stack others_;  // rows without whole bytes; without a row, it makes the empty result
  const Index expected_;
  Type type_ = Type::undefined;
  Shape shape_;
  Index row_ = 0, count_ = 0,
        capacity_ = 0;  // bytes of a row, rows, rows that memory is reserved for
  Tensor rows_;
};

// Slices of a tensor along an axis.
class Slices {
 public:
  Slices(const Tensor& whole, Index axis, bool backward)
      : whole_(whole), axis_(axis), backward_(backward) {
    for (Index d = 0; d < whole.shape().size(); ++d) {
      if (d != axis) shape_.push_back(whole.shape()[d]);
    }
    views_ = axis == 0 && has_whole_bytes(whole.type()) && whole.size() > 0;
    if (views_) bytes_ = packed_bytes(whole.type(), count(shape_));
  }
  Index extent() const { return whole_.shape()[axis_]; }
  Tensor at(Index trip) const {
    const Index k = backward_ ? extent() - 1 - trip : trip;
    if (!views_) return slice(whole_, axis_, k);
    std::byte* const from = const_cast<std::byte*>(whole_.bytes().data()) + k * bytes_;
    return tensor_at(from, whole_.type(), shape_);
  }

 private:
  const Tensor whole_;
  const Index axis_;
  const bool backward_;
  Shape shape_;
  bool views_;
  Index bytes_ = 0;
};

// An attribute list with n items; zeros if it is omitted.
IndexVector listed(const Facts& facts, const char* attribute, std::size_t n) {
  const auto items = static_cast<Index>(n);
  if (!facts.given(attribute)) return IndexVector(items, 0);
  IndexVector list = facts.integers(attribute);
  if (list.size() != items) throw BodyFailed{};
  return list;
}
IndexVector directions(const Facts& facts, const char* attribute, std::size_t n) {
  IndexVector list = listed(facts, attribute, n);
  if (!std::all_of(list.begin(), list.end(), [](Index way) { return way == 0 || way == 1; }))
    throw BodyFailed{};
  return list;
}

// Moves the first outputs into the feeds from `first` on, and appends the others that are wanted.
void pass_on(const Call& call, std::vector<Value>& outputs, std::size_t skipped,
             std::vector<Value>& feeds, std::size_t first, std::size_t carried,
             std::vector<StackedRows>& rows) {
  for (std::size_t k = 0; k < carried; ++k) feeds[first + k] = std::move(outputs[skipped + k]);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (call.wanted[carried + k]) rows[k].add(std::move(outputs[skipped + carried + k]));
  }
}

}  // namespace

bool run_loop(Call& call, BodyPlans& body, const RunBody& run) {
  const Index most = is_given(call, 0) ? one_element<Index>(call.inputs[0], Type::int64)
                                       : std::numeric_limits<Index>::max();
  const bool asks = is_given(call, 1);
  bool goes_on = !asks || one_element<bool>(call.inputs[1], Type::boolean);
  const std::size_t carried = call.inputs.size() < 2 ? 0 : call.inputs.size() - 2;
  const std::vector<ValueInfo>& declared = body.body().outputs;
  if (body.body().inputs.size() != carried + 2 || declared.size() < carried + 1 ||
      declared.size() < call.outputs.size() + 1)
    throw BodyFailed{};
  std::vector<Value>& feeds = body.feeds();
  std::byte* const lent = body.lent().data();
  Tensor number = tensor_at(lent, Type::int64, {}),
         condition = tensor_at(lent + 64, Type::boolean, {});
  feeds[0] = number;
  feeds[1] = condition;
  for (std::size_t k = 0; k < carried; ++k) feeds[k + 2] = std::move(call.inputs[k + 2]);
  std::vector<StackedRows> rows;
  for (std::size_t k = carried; k < call.outputs.size(); ++k)
    rows.emplace_back(declared[k + 1], most);
  std::vector<Value> outputs;
  for (Index trip = 0; trip < most && (goes_on || !asks); ++trip) {
    *number.data<Index>() = trip;
    *condition.data<bool>() = goes_on;
    run(outputs);
    goes_on = one_element<bool>(outputs[0], Type::boolean);
    pass_on(call, outputs, 1, feeds, 2, carried, rows);
  }
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    if (!call.wanted[k]) continue;
    call.outputs[k] = k < carried ? std::move(feeds[k + 2]) : Value(rows[k - carried].whole());
  }
  return true;
}

bool run_scan(Call& call, BodyPlans& body, const RunBody& run) {
  if (call.signature->since < 9) return false;
  const Facts facts = facts_of(call);
  const auto inputs = static_cast<Index>(call.inputs.size());
  const Index scanned = facts.integer("num_scan_inputs");
  if (scanned < 1 || scanned > inputs) throw BodyFailed{};
  const auto states = static_cast<std::size_t>(inputs - scanned);
  const std::vector<ValueInfo>& declared = body.body().outputs;
  if (body.body().inputs.size() != call.inputs.size() || declared.size() < states ||
      declared.size() < call.outputs.size() || call.outputs.size() < states)
    throw BodyFailed{};
  for (const Value& input : call.inputs) {
    if (!input.is_tensor()) throw BodyFailed{};
  }
  const std::size_t stacked = declared.size() - states;
  const IndexVector axes = listed(facts, "scan_input_axes", call.inputs.size() - states);
  const IndexVector ways = directions(facts, "scan_input_directions", call.inputs.size() - states);
  const IndexVector out_axes = listed(facts, "scan_output_axes", stacked);
  const IndexVector out_ways = directions(facts, "scan_output_directions", stacked);
  std::vector<Slices> slices;
  for (Index k = 0; k < scanned; ++k) {
    const Tensor& whole = call.inputs[states + static_cast<std::size_t>(k)].tensor();
    const Index rank = whole.shape().size(), axis = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (axis < 0 || axis >= rank) throw BodyFailed{};
    slices.emplace_back(whole, axis, ways[k] != 0);
    if (slices.back().extent() != slices.front().extent()) throw BodyFailed{};
  }
  std::vector<Value>& feeds = body.feeds();
  for (std::size_t k = 0; k < states; ++k) feeds[k] = std::move(call.inputs[k]);
  std::vector<StackedRows> rows;
  const Index steps = slices.front().extent();
  for (std::size_t k = states; k < call.outputs.size(); ++k) rows.emplace_back(declared[k], steps);
  std::vector<Value> outputs;
  for (Index trip = 0; trip < steps; ++trip) {
    for (std::size_t k = 0; k < slices.size(); ++k) feeds[states + k] = slices[k].at(trip);
    run(outputs);
    pass_on(call, outputs, 0, feeds, 0, states, rows);
  }
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    if (!call.wanted[k]) continue;
    if (k < states) {
      call.outputs[k] = std::move(feeds[k]);
    } else {
      const auto at = static_cast<Index>(k - states);
      call.outputs[k] = rows[k - states].whole(out_axes[at], out_ways[at] != 0);
    }
  }
  return true;
}

}  // namespace touchstone::optimized
