// Strips weights from a file before parsing. They are most of a file, and a parser would copy them
// into messages and from there into tensors. This pass reads only the fields on the path to them.
// Anything unexpected is left to the parser.
#include "model/skeleton.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace touchstone {
namespace {

constexpr Index min_file = Index{1} << 18, max_file = (Index{1} << 31) - 1;
constexpr Index min_data = Index{1} << 12;  // per tensor

enum Wire { varint = 0, eight_bytes = 1, counted = 2, four_bytes = 5 };

// Field numbers.
constexpr std::uint64_t graph_of_model = 7, node_of_graph = 1, initializer_of_graph = 5,
                        attribute_of_node = 5, tensor_of_attribute = 5, raw_data_of_tensor = 9;

struct Field {
  std::uint64_t number = 0;
  int wire = varint;
  // Offsets of tag, length (if counted), contents and end.
  Index begin = 0, count = 0, body = 0, end = 0;
  bool is(std::uint64_t wanted) const { return number == wanted && wire == counted; }
  bool is_large() const { return end - body >= min_data; }
};

class Walker {
 public:
  explicit Walker(const OpenFile& file) : file_(file) {}

  bool model(Skeleton& made) {
    bool any = false;
    return each(0, file_.size(), made.bytes, [&](const Field& field, std::string& into) {
      if (!field.is(graph_of_model)) return copy(field.begin, field.end, into);
      std::string graph;
      if (any || !this->graph(field, graph, made.data)) return false;
      any = true;
      return wrapped(field, graph, into);
    });
  }

 private:
  using Data = std::vector<Skeleton::Data>;

  bool graph(const Field& all, std::string& made, Data& data) {
    int initializers = 0, nodes = 0;
    return each(all.body, all.end, made, [&](const Field& field, std::string& into) {
      const bool is_initializer = field.is(initializer_of_graph), is_node = field.is(node_of_graph);
      Skeleton::Data own;
      if (is_initializer) own.initializer = initializers++;
      if (is_node) own.node = nodes++;
      std::string part;
      Data left{own};
      if (is_initializer && field.is_large() && tensor(field, part, left[0].bytes)) {
        data.push_back(left[0]);
        return wrapped(field, part, into);
      }
      part.clear();
      left.clear();
      if (!is_node || !field.is_large() || !node(field, own.node, part, left) || left.empty())
        return copy(field.begin, field.end, into);
      data.insert(data.end(), left.begin(), left.end());
      return wrapped(field, part, into);
    });
  }

  bool node(const Field& all, int number, std::string& made, Data& data) {
    int attributes = 0;
    return each(all.body, all.end, made, [&](const Field& field, std::string& into) {
      if (!field.is(attribute_of_node)) return copy(field.begin, field.end, into);
      Skeleton::Data own{-1, number, attributes++, {}};
      std::string part;
      if (!field.is_large() || !attribute(field, part, own.bytes))
        return copy(field.begin, field.end, into);
      data.push_back(own);
      return wrapped(field, part, into);
    });
  }

  // Returns false if nothing of it can be stripped.
  bool attribute(const Field& all, std::string& made, LeftInFile& left) {
    bool any = false;
    const bool whole = each(all.body, all.end, made, [&](const Field& field, std::string& into) {
      if (!field.is(tensor_of_attribute)) return copy(field.begin, field.end, into);
      std::string part;
      if (any || !tensor(field, part, left)) return false;  // the parser merges two tensors
      any = true;
      return wrapped(field, part, into);
    });
    return whole && any;
  }

  // Returns false if nothing of it can be stripped.
  bool tensor(const Field& all, std::string& made, LeftInFile& left) {
    bool any = false;
    const bool whole = each(all.body, all.end, made, [&](const Field& field, std::string& into) {
      if (!field.is(raw_data_of_tensor)) {
        // Large data in other fields needs the parser.
        return !field.is_large() && copy(field.begin, field.end, into);
      }
      if (any) return false;  // the parser takes the last
      any = true;
      left = {field.body, field.end - field.body};
      return field.is_large();
    });
    return whole && any;
  }

  template <class Visit>
  bool each(Index at, Index end, std::string& into, const Visit& visit) {
    while (at < end) {
      Field field;
      if (!read(at, end, field) || !visit(field, into)) return false;
      at = field.end;
    }
    return true;
  }

  bool read(Index at, Index end, Field& field) {
    field.begin = at;
    std::uint64_t tag = 0, value = 0;
    if (!number(at, end, tag) || tag >> 3 == 0 || tag >> 32 != 0) return false;
    field.number = tag >> 3;
    field.wire = static_cast<int>(tag & 7);
    field.count = at;
    switch (field.wire) {
      case varint:
        if (!number(at, end, value)) return false;
        value = 0;
        break;
      case eight_bytes:
        value = 8;
        break;
      case four_bytes:
        value = 4;
        break;
      case counted:
        if (!number(at, end, value)) return false;
        break;
      default:
        return false;
    }
    if (value > static_cast<std::uint64_t>(end - at)) return false;
    field.body = at;
    field.end = at + static_cast<Index>(value);
    return true;
  }

  bool number(Index& at, Index end, std::uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at < end; shift += 7) {
      const std::uint64_t byte = this->byte(at++);
      value |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  std::uint8_t byte(Index at) {
    if (at < first_ || at >= first_ + filled_) {
      first_ = at;
      filled_ = std::min(static_cast<Index>(window_.size()), file_.size() - at);
      file_.read_into(
          at, std::as_writable_bytes(std::span(window_).first(static_cast<std::size_t>(filled_))));
    }
    return window_[static_cast<std::size_t>(at - first_)];
  }

  bool copy(Index begin, Index end, std::string& into) {
    const std::size_t old = into.size(), more = static_cast<std::size_t>(end - begin);
    into.resize(old + more);
    if (begin >= first_ && end <= first_ + filled_) {
      std::copy_n(window_.begin() + (begin - first_), more,
                  into.begin() + static_cast<std::ptrdiff_t>(old));
    } else {
      file_.read_into(begin, std::as_writable_bytes(std::span(into).subspan(old)));
    }
    return true;
  }

  // Writes the field with other contents.
  bool wrapped(const Field& field, const std::string& contents, std::string& into) {
    copy(field.begin, field.count, into);
    std::uint64_t size = contents.size();
    for (; size >= 128; size >>= 7) into += static_cast<char>(size | 128);
    into += static_cast<char>(size);
    into += contents;
    return true;
  }

  const OpenFile& file_;
  std::array<std::uint8_t, 4096> window_{};
  Index first_ = 0, filled_ = 0;
};

}  // namespace

std::optional<Skeleton> skeleton_of(const OpenFile& file) {
  if (file.size() < min_file || file.size() > max_file) return std::nullopt;
  Skeleton made;
  if (!Walker(file).model(made)) return std::nullopt;
  return made;
}

}  // namespace touchstone
