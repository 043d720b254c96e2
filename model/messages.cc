// Traverses the fields of a message by their numbers and counts messages and bytes, without
// building anything.
#include "model/messages.h"

#include <algorithm>
#include <array>

#include "model/rules.h"

namespace touchstone {
namespace {

enum class MessageKind : std::uint8_t {
  text,     // 0: also bytes; the default for fields not listed below
  numbers,  // packed, of variable length
  model,
  graph,
  node,
  attribute,
  function,
  tensor,
  sparse,
  value,
  type,
  of_type,
  shape,
  sequence,
  map,
  optional,
  annotation,
  training,
  sharding,
  small,
};

using enum MessageKind;

struct MessagePart {
  MessageKind in;
  int field;
  MessageKind holds;
};
constexpr std::array message_parts{
    MessagePart{model, 7, graph},         MessagePart{model, 8, small},
    MessagePart{model, 14, small},        MessagePart{model, 20, training},
    MessagePart{model, 25, function},     MessagePart{model, 26, small},
    MessagePart{graph, 1, node},          MessagePart{graph, 5, tensor},
    MessagePart{graph, 15, sparse},       MessagePart{graph, 11, value},
    MessagePart{graph, 12, value},        MessagePart{graph, 13, value},
    MessagePart{graph, 14, annotation},   MessagePart{graph, 16, small},
    MessagePart{node, 5, attribute},      MessagePart{node, 9, small},
    MessagePart{node, 10, sharding},      MessagePart{attribute, 5, tensor},
    MessagePart{attribute, 6, graph},     MessagePart{attribute, 22, sparse},
    MessagePart{attribute, 14, type},     MessagePart{attribute, 8, numbers},
    MessagePart{attribute, 10, tensor},   MessagePart{attribute, 11, graph},
    MessagePart{attribute, 23, sparse},   MessagePart{attribute, 15, type},
    MessagePart{function, 7, node},       MessagePart{function, 9, small},
    MessagePart{function, 11, attribute}, MessagePart{function, 12, value},
    MessagePart{function, 14, small},     MessagePart{tensor, 1, numbers},
    MessagePart{tensor, 3, small},        MessagePart{tensor, 5, numbers},
    MessagePart{tensor, 7, numbers},      MessagePart{tensor, 11, numbers},
    MessagePart{tensor, 13, small},       MessagePart{tensor, 16, small},
    MessagePart{sparse, 1, tensor},       MessagePart{sparse, 2, tensor},
    MessagePart{sparse, 3, numbers},      MessagePart{value, 2, type},
    MessagePart{value, 4, small},         MessagePart{type, 1, of_type},
    MessagePart{type, 4, of_type},        MessagePart{type, 5, of_type},
    MessagePart{type, 7, small},          MessagePart{type, 8, of_type},
    MessagePart{type, 9, of_type},        MessagePart{shape, 1, small},
    MessagePart{sequence, 3, tensor},     MessagePart{sequence, 4, sparse},
    MessagePart{sequence, 5, sequence},   MessagePart{sequence, 6, map},
    MessagePart{sequence, 7, optional},   MessagePart{map, 3, numbers},
    MessagePart{map, 5, sequence},        MessagePart{optional, 3, tensor},
    MessagePart{optional, 4, sparse},     MessagePart{optional, 5, sequence},
    MessagePart{optional, 6, map},        MessagePart{optional, 7, optional},
    MessagePart{annotation, 2, small},    MessagePart{training, 1, graph},
    MessagePart{training, 2, graph},      MessagePart{training, 3, small},
    MessagePart{training, 4, small},      MessagePart{sharding, 2, sharding},
    MessagePart{sharding, 3, sharding},   MessagePart{sharding, 4, sharding},
};

constexpr int max_field = 31;
constexpr auto held_by_field = [] {
  std::array<std::array<MessageKind, max_field + 1>, static_cast<std::size_t>(small) + 1> table{};
  for (const MessagePart& part : message_parts)
    table[static_cast<std::size_t>(part.in)][static_cast<std::size_t>(part.field)] = part.holds;
  return table;
}();

// Kind of the field `field` of a message of kind `in`. `around` is the number of the field that
// holds this message: of TypeProto's alternatives, tensors hold a shape and the others types.
MessageKind held_by(MessageKind in, std::uint64_t field, std::uint64_t around) {
  if (in == of_type) {
    if (around == 1 || around == 8) return field == 2 ? shape : text;
    return field == (around == 5 ? 2 : 1) ? type : text;
  }
  return field > max_field
             ? text
             : held_by_field[static_cast<std::size_t>(in)][static_cast<std::size_t>(field)];
}

struct RootMessage {
  std::string_view name;
  MessageKind kind;
};
constexpr std::array root_messages{
    RootMessage{"ModelProto", model},
    RootMessage{"TensorProto", tensor},
    RootMessage{"SparseTensorProto", sparse},
    RootMessage{"SequenceProto", sequence},
    RootMessage{"MapProto", map},
    RootMessage{"OptionalProto", optional},
};

// Estimated bytes of a message and a string with the pointer to them, allocator overhead included.
constexpr Index bytes_of_message = 200, bytes_of_text = 56, bytes_of_number = 8;

class MessageWalk {
 public:
  MessageWalk(std::span<const std::byte> bytes, const Limits& limits)
      : bytes_(bytes), limits_(limits) {}

  // Counts the fields from `at` to `end`. Returns false if the bytes are malformed.
  bool message(std::size_t at, std::size_t end, MessageKind kind, int depth,
               std::uint64_t around = 0) {
    if (++count_ > limits_.messages) throw over_limit("messages", count_, limits_.messages);
    pay(bytes_of_message);
    if (kind == node && ++nodes_ > limits_.nodes) throw over_limit("nodes", nodes_, limits_.nodes);
    if (depth > limits_.protobuf_depth) return false;  // the parser refuses this
    while (at < end) {
      std::uint64_t tag = 0, value = 0;
      if (!number(at, end, tag)) return false;
      const std::uint64_t field = tag >> 3;
      switch (tag & 7) {
        case 0:
          if (!number(at, end, value)) return false;
          pay(bytes_of_number);
          break;
        case 1:
        case 5:
          value = (tag & 7) == 1 ? 8 : 4;
          if (value > end - at) return false;
          at += value;
          pay(bytes_of_number);
          break;
        case 2:
          if (!number(at, end, value) || value > end - at) return false;
          if (!part(at, at + value, held_by(kind, field, around), depth, field)) return false;
          at += value;
          break;
        default:  // a group begins or ends: its fields count as the enclosing message's
          break;
      }
    }
    return true;
  }

  Messages found() && {
    settle();
    return {count_, std::move(charge_)};
  }

 private:
  bool part(std::size_t at, std::size_t end, MessageKind kind, int depth, std::uint64_t field) {
    if (kind == numbers) {
      pay(static_cast<Index>(end - at) * bytes_of_number);
      return true;
    }
    if (kind != text) return message(at, end, kind, depth + 1, field);
    pay(bytes_of_text + static_cast<Index>(end - at));
    return true;
  }

  bool number(std::size_t& at, std::size_t end, std::uint64_t& value) const {
    value = 0;
    for (int shift = 0; shift < 64 && at < end; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at++]);
      value |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  void pay(Index bytes) {
    owed_ += bytes;
    if (owed_ >= max_owed) settle();
  }
  void settle() {
    charge_work(owed_ / bytes_of_number);
    charge_.resize(charge_.bytes() + std::exchange(owed_, 0));
  }

  static constexpr Index max_owed = Index{1} << 20;
  const std::span<const std::byte> bytes_;
  const Limits& limits_;
  Index count_ = 0, nodes_ = 0, owed_ = 0;
  Charge charge_;
};

}  // namespace

Messages charge_messages(std::span<const std::byte> bytes, std::string_view name,
                         const Limits& limits) {
  name.remove_prefix(name.rfind('.') + 1);
  const auto root = std::ranges::find(root_messages, name, &RootMessage::name);
  if (root == root_messages.end()) BUG("a message that nobody counts");
  MessageWalk walker(bytes, limits);
  walker.message(0, bytes.size(), root->kind, 0);
  return std::move(walker).found();
}

}  // namespace touchstone
