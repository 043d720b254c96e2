// Bytes of a model: every field in the order of `fields`, which writes and reads. Numbers take 8
// bytes, texts and lists open with their size, and a tensor's elements stand as in memory.
#include "model/compact.h"

#include <cstring>
#include <type_traits>

#include "core/error.h"

namespace touchstone {
namespace {

constexpr std::string_view mark = "touchstone model 1\n";

class Writer {
 public:
  std::string made{mark};

  static constexpr bool reads = false;
  void bytes(void* from, std::size_t size) { made.append(static_cast<const char*>(from), size); }
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  static constexpr bool reads = true;
  void bytes(void* to, std::size_t size) {
    const std::span<const std::byte> from = take(size);
    if (size > 0) std::memcpy(to, from.data(), size);
  }
  std::span<const std::byte> take(std::size_t size) {
    if (size > left_.size()) refuse();
    const std::span<const std::byte> first = left_.first(size);
    left_ = left_.subspan(size);
    return first;
  }
  // Nothing is allocated for what cannot be there: an item of a list takes a byte at least.
  void require(std::uint64_t size) const {
    if (size > left_.size()) refuse();
  }
  bool ended() const { return left_.empty(); }
  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::invalid_model, "the bytes of the compact model are cut off or malformed")
        .with_help("they must be those that touchstone bundle wrote");
  }

 private:
  std::span<const std::byte> left_;
};

template <class A>
void field(A& a, ValueType& type);
template <class A>
void field(A& a, Tensor& tensor);
template <class A>
void field(A& a, SparseTensor& tensor);
template <class A>
void field(A& a, Metadata& metadata);
template <class A>
void field(A& a, Dim& dim);
template <class A>
void field(A& a, ValueInfo& value);
template <class A>
void field(A& a, Attribute& attribute);
template <class A>
void field(A& a, Node& node);
template <class A>
void field(A& a, Graph& graph);
template <class A>
void field(A& a, Function& function);

template <class A, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void field(A& a, T& number) { a.bytes(&number, sizeof number); }

template <class A>
std::size_t size_field(A& a, std::size_t size) {
  auto written = static_cast<std::uint64_t>(size);
  field(a, written);
  if constexpr (A::reads) a.require(written);
  return written;
}

template <class A>
void field(A& a, std::string& text) {
  text.resize(size_field(a, text.size()));
  a.bytes(text.data(), text.size());
}

template <class A, class T>
void field(A& a, std::vector<T>& list) {
  list.resize(size_field(a, list.size()));
  for (T& item : list) field(a, item);
}

template <class A>
void field(A& a, Shape& shape) {
  const auto rank = static_cast<Index>(size_field(a, static_cast<std::size_t>(shape.size())));
  if constexpr (A::reads) shape = Shape(rank, 0);
  for (Index& extent : shape) field(a, extent);
}

template <class A, class T, class U>
void field(A& a, std::pair<T, U>& pair) {
  field(a, pair.first), field(a, pair.second);
}

template <class A, class T>
void field(A& a, std::map<std::string, T>& map) {
  const std::size_t size = size_field(a, map.size());
  if constexpr (A::reads) {
    for (std::size_t k = 0; k < size; ++k) {
      std::pair<std::string, T> entry;
      field(a, entry);
      map.insert(std::move(entry));
    }
  } else {
    for (auto& [key, item] : map) {
      std::string name = key;
      field(a, name), field(a, item);
    }
  }
}

template <class A, class T>
void field(A& a, std::optional<T>& item) {
  bool present = item.has_value();
  field(a, present);
  if (!present) return;
  if (!item) item.emplace();
  field(a, *item);
}

template <class A, class T>
void field(A& a, std::shared_ptr<T>& item) {
  using Held = std::remove_const_t<T>;
  bool present = item != nullptr;
  field(a, present);
  if (!present) return;
  auto held = item ? std::const_pointer_cast<Held>(item) : std::make_shared<Held>();
  field(a, *held);
  item = std::move(held);
}

// Calls use(alternative) for alternative `index` of the variant, made anew if it is read.
template <class A, std::size_t k = 0, class... T>
void alternative(A& a, std::variant<T...>& is, std::size_t index) {
  if constexpr (k == sizeof...(T)) {
    Reader::refuse();
  } else {
    if (index != k) return alternative<A, k + 1>(a, is, index);
    if constexpr (A::reads) is.template emplace<k>();
    field(a, std::get<k>(is));
  }
}

template <class A, class... T>
void field(A& a, std::variant<T...>& is) {
  auto index = static_cast<std::uint64_t>(is.index());
  field(a, index);
  alternative(a, is, index);
}

template <class A>
void field(A& a, ValueType& type) {
  field(a, type.kind), field(a, type.element), field(a, type.inner);
}

template <class A>
void field(A& a, Tensor& tensor) {
  Type type = tensor.type();
  Shape shape = tensor.shape();
  field(a, type), field(a, shape);
  if (type == Type::undefined) return;
  if constexpr (A::reads) {
    (void)facts(type);  // refuses a number that is no type
    if (type != Type::string) a.require(packed_bytes(type, touchstone::count(shape)));
    tensor = Tensor(type, shape, type == Type::string ? Storage::values : Storage::weights);
  }
  if (type != Type::string) return a.bytes(tensor.bytes().data(), tensor.bytes().size());
  for (Index k = 0; k < tensor.size(); ++k) field(a, tensor.data<std::string>()[k]);
}

template <class A>
void field(A& a, SparseTensor& tensor) {
  field(a, tensor.values), field(a, tensor.indices), field(a, tensor.shape);
}

template <class A>
void field(A& a, Metadata& metadata) {
  field(a, metadata.doc_string), field(a, metadata.properties);
}

template <class A>
void field(A& a, Dim& dim) {
  field(a, dim.size), field(a, dim.symbol), field(a, dim.denotation);
}

template <class A>
void field(A& a, ValueInfo& value) {
  field(a, value.name), field(a, value.type), field(a, value.shape);
  field(a, value.denotation), field(a, value.metadata);
}

template <class A>
void field(A& a, Attribute& attribute) {
  field(a, attribute.is), field(a, attribute.reference), field(a, attribute.metadata);
}

template <class A>
void field(A& a, Node& node) {
  field(a, node.name), field(a, node.domain), field(a, node.op), field(a, node.overload);
  field(a, node.inputs), field(a, node.outputs), field(a, node.attributes);
  field(a, node.index), field(a, node.metadata);
}

template <class A>
void field(A& a, Graph& graph) {
  field(a, graph.name), field(a, graph.nodes);
  field(a, graph.inputs), field(a, graph.outputs), field(a, graph.values);
  field(a, graph.initializers), field(a, graph.sparse_initializers);
  field(a, graph.metadata), field(a, graph.initializer_metadata);
}

template <class A>
void field(A& a, Function& function) {
  field(a, function.name), field(a, function.domain), field(a, function.overload);
  field(a, function.inputs), field(a, function.outputs), field(a, function.attributes);
  field(a, function.default_attributes), field(a, function.nodes), field(a, function.values);
  field(a, function.opsets), field(a, function.metadata);
}

template <class A>
void fields(A& a, Model& model) {
  field(a, model.ir_version), field(a, model.opsets);
  field(a, model.producer), field(a, model.producer_version), field(a, model.domain);
  field(a, model.model_version), field(a, model.metadata);
  field(a, model.graph), field(a, model.functions);
}

}  // namespace

std::string compact(const Model& model) {
  Writer writer;
  Model copy = model;
  fields(writer, copy);
  return std::move(writer.made);
}

Model from_compact(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  const std::span<const std::byte> start = reader.take(std::min(mark.size(), bytes.size()));
  if (start.size() != mark.size() || std::memcmp(start.data(), mark.data(), mark.size()) != 0)
    throw Error(ErrorKind::invalid_model, "the compact model is of another version");
  Model model;
  fields(reader, model);
  if (!reader.ended()) Reader::refuse();
  return model;
}

}  // namespace touchstone
