// Attributes, values and error texts for plans. See reference/facts.h.
#include "reference/facts.h"

#include "core/error.h"
#include "reference/number.h"

namespace touchstone {

IndexVector values(const Described& d) {
  if (!d.given) return {};
  if (!d.tensor) throw NotKnown{};
  IndexVector r;
  for (Index k = 0; k < d.tensor->size(); ++k) {
    const long double value = number_at(*d.tensor, k);
    r.push_back(value >= 0x1p63L ? std::numeric_limits<Index>::max() : static_cast<Index>(value));
  }
  return r;
}

template <class R>
std::vector<R> reals(const Described& d) {
  std::vector<R> r;
  if (!d.given) return r;
  if (!d.tensor) throw NotKnown{};
  for (Index k = 0; k < d.tensor->size(); ++k)
    r.push_back(constant<R>(static_cast<double>(number_at(*d.tensor, k))));
  return r;
}
template std::vector<float> reals<float>(const Described&);

namespace {

bool is_zero(const Tensor& tensor, Index k) {
  switch (tensor.type()) {
    case Type::string:
      return tensor.data<std::string>()[k].empty();
    case Type::complex64:
      return tensor.data<std::complex<float>>()[k] == 0.0F;
    case Type::complex128:
      return tensor.data<std::complex<double>>()[k] == 0.0;
    default:
      return number_at(tensor, k) == 0;
  }
}

long double the_number(const Described& d) {
  if (!d.tensor) throw NotKnown{};
  if (d.tensor->size() != 1) {
    throw Error(ErrorKind::invalid_input, std::string(d.name) + " has shape " +
                                              text(d.tensor->shape()) +
                                              ", but one number is wanted");
  }
  return number_at(*d.tensor, 0);
}

}  // namespace

IndexVector positions(const Described& d) {
  if (!d.given) return {};
  if (!d.tensor) throw NotKnown{};
  IndexVector r;
  for (Index k = 0; k < d.tensor->size(); ++k) {
    if (!is_zero(*d.tensor, k)) r.push_back(k);
  }
  return r;
}

Index steps(const Described& start, const Described& limit, const Described& delta) {
  const long double from = the_number(start), to = the_number(limit), by = the_number(delta);
  if (by == 0)
    throw Error(ErrorKind::invalid_input, "a range goes on in steps of 0, so it never ends");
  if (facts(start.type).is_integer) {
    __extension__ using Wide = __int128;  // the difference of two 64-bit integers has 65 bits
    const Wide gap = static_cast<Wide>(to) - static_cast<Wide>(from), step = static_cast<Wide>(by);
    if (gap == 0 || (gap < 0) != (step < 0)) return 0;
    const Wide size = step < 0 ? -gap : gap, each = step < 0 ? -step : step;
    const Wide many = (size + each - 1) / each;
    if (many > std::numeric_limits<Index>::max())
      throw Error(ErrorKind::limit, "a range has more than 2^63 - 1 elements");
    return static_cast<Index>(many);
  }
  const double turns =
      std::ceil((static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(by));
  return turns <= 0 ? 0
                    : floor_index(turns);  // throws if the number of elements is infinite or NaN
}

IndexVector broadcast(const std::vector<Described>& family) {
  std::vector<Shape> shapes;
  for (const Described& d : family) shapes.push_back(known_shape(d));
  return broadcast(std::span<const Shape>(shapes));
}

bool broadcastable(const std::vector<Described>& family) {
  std::vector<Shape> shapes;
  for (const Described& d : family) shapes.push_back(known_shape(d));
  return broadcastable(std::span<const Shape>(shapes));
}

IndexVector ends(const std::vector<Described>& family, Index axis) {
  IndexVector r;
  Index end = 0;
  for (const Described& d : family) {
    if (__builtin_add_overflow(end, dim(d, axis), &end))
      throw Error(ErrorKind::limit, "the extents along axis " + std::to_string(axis) +
                                        " add up to more than 2^63 - 1");
    r.push_back(end);
  }
  return r;
}

Facts::Facts(const Node& node, const Signature& signature, std::vector<Described> inputs,
             std::vector<bool> wanted)
    : node_(node), signature_(signature), inputs_(std::move(inputs)), wanted_(std::move(wanted)) {}

std::vector<Described> describe(const Signature& signature, const std::vector<Value>& inputs) {
  std::vector<Described> all(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Described& d = all[k];
    d.given = !inputs[k].absent();
    if (k < signature.inputs.size()) d.name = signature.inputs[k].name;
    if (!inputs[k].is_tensor()) continue;
    const Tensor& tensor = inputs[k].tensor();
    d.type = tensor.type(), d.shape = &tensor.shape(), d.tensor = &tensor;
  }
  return all;
}

const Attribute* Facts::find(std::string_view name) const {
  const auto found = node_.attributes.find(std::string(name));
  return found == node_.attributes.end() ? nullptr : &found->second;
}

template <class T>
const T& Facts::held(const Attribute& attribute, std::string_view name) const {
  if (const T* held = std::get_if<T>(&attribute.is)) return *held;
  throw Error(ErrorKind::invalid_model,
              "attribute '" + std::string(name) + "' is of another kind than " +
                  std::string(signature_.op) + "-" + std::to_string(signature_.since) + " says");
}

bool Facts::given(std::string_view attribute) const { return find(attribute) != nullptr; }

Index Facts::integer(std::string_view name, Index otherwise) const {
  const Attribute* a = find(name);
  return a ? held<Index>(*a, name) : otherwise;
}

float Facts::number(std::string_view name, float otherwise) const {
  const Attribute* a = find(name);
  return a ? held<float>(*a, name) : otherwise;
}

std::string Facts::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* a = find(name);
  return a ? held<std::string>(*a, name) : std::string(otherwise);
}

IndexVector Facts::integers(std::string_view name, IndexVector otherwise) const {
  const Attribute* a = find(name);
  if (!a) return otherwise;
  const auto& list = held<std::vector<Index>>(*a, name);
  return IndexVector(list.data(), list.data() + list.size());
}

std::vector<float> Facts::numbers(std::string_view name, std::vector<float> otherwise) const {
  const Attribute* a = find(name);
  return a ? held<std::vector<float>>(*a, name) : otherwise;
}

std::vector<std::string> Facts::texts(std::string_view name,
                                      std::vector<std::string> otherwise) const {
  const Attribute* a = find(name);
  return a ? held<std::vector<std::string>>(*a, name) : otherwise;
}

const Tensor* Facts::tensor(std::string_view name) const {
  const Attribute* a = find(name);
  return a ? &held<Tensor>(*a, name) : nullptr;
}

Described Facts::attribute(std::string_view name) const {
  const Tensor* held = tensor(name);
  if (!held) return {false, Type::undefined, nullptr, nullptr, name};
  return {true, held->type(), &held->shape(), held, name};
}

Described Facts::input(Index k) const {
  if (k < static_cast<Index>(inputs_.size())) return inputs_[static_cast<std::size_t>(k)];
  return {};
}

std::vector<Described> Facts::inputs(Index from) const {
  std::vector<Described> all;
  for (Index k = from; k < static_cast<Index>(inputs_.size()); ++k) all.push_back(input(k));
  return all;
}

Index Facts::outputs(Index from) const {
  return std::max<Index>(static_cast<Index>(wanted_.size()) - from, 0);
}

bool Facts::wanted(Index output) const {
  return output < static_cast<Index>(wanted_.size()) && wanted_[static_cast<std::size_t>(output)];
}

void Facts::broken(std::string_view rule, std::string_view text, std::string_view message,
                   std::string_view line, const std::string& values) const {
  const std::string version = std::string(signature_.op) + "-" + std::to_string(signature_.since);
  throw Error(ErrorKind::invalid_input,
              std::string(message) + (values.empty() ? "" : ", but " + values))
      .with_rule(version + "/" + std::string(rule), std::string(text), std::string(line))
      .with_help("'touchstone spec " + std::string(signature_.op) + " --opset " +
                 std::to_string(signature_.since) + "' shows the definition");
}

std::string value_text(std::string_view name, const Described& d) {
  if (!d.given) return std::string(name) + " is left out";
  return d.shape ? std::string(name) + " has shape " + touchstone::text(*d.shape) : std::string();
}
std::string value_text(std::string_view name, const std::vector<Described>& family) {
  std::string shapes;
  for (const Described& d : family) {
    if (d.shape) shapes += (shapes.empty() ? "" : ", ") + touchstone::text(*d.shape);
  }
  return std::string(name) + " have shapes " + shapes;
}
std::string value_text(std::string_view name, const IndexVector& list) {
  return std::string(name) + " = " + touchstone::text(list);
}
std::string value_text(std::string_view name, Index i) {
  return std::string(name) + " = " + std::to_string(i);
}
std::string value_text(std::string_view name, bool predicate) {
  return std::string(name) + " = " + (predicate ? "true" : "false");
}
std::string value_text(std::string_view name, std::string_view text) {
  return std::string(name) + " = '" + std::string(text) + "'";
}

Type bound_type(const Facts& facts, std::initializer_list<Index> inputs, Type otherwise) {
  for (Index k : inputs) {
    const Described d = facts.input(k);
    if (d.given) return d.type;
  }
  return otherwise;
}

Type type_called(Index code) {
  if (code < 1 || code > static_cast<Index>(Type::float6e3m2)) {
    throw Error(ErrorKind::invalid_model, "no element type has the code " + std::to_string(code));
  }
  return static_cast<Type>(code);
}

Type type_called(std::string_view name) {
  const Type type = type_by_name(lower(name));
  if (type == Type::undefined)
    throw Error(ErrorKind::invalid_model, "no element type is called '" + std::string(name) + "'");
  return type;
}

void no_kernel_for(const Facts& facts, std::string_view constraint, Type type) {
  const Signature& signature = facts.signature();
  throw Error(ErrorKind::unsupported, std::string(signature.op) + "-" +
                                          std::to_string(signature.since) + " has no kernel for " +
                                          std::string(constraint) + " = tensor(" +
                                          std::string(name(type)) + ")");
}

}  // namespace touchstone
