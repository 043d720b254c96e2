// Edits models in memory.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/numbers/convert.h"
#include "model/model.h"
#include "tests/mutation/subject.h"

namespace touchstone::mutation {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 300'000;
constexpr Index max_changes = 20;          // attempts
constexpr Index largest_weight = 1 << 16;  // elements

// A tensor with the shape's number of elements, repeated from the front if there are too few.
Tensor resized(const Tensor& from, const Shape& shape) {
  Tensor made(from.type(), shape);
  const std::span<std::byte> to = made.bytes();
  for (std::size_t k = 0; k < to.size() && !from.bytes().empty(); ++k)
    to[k] = from.bytes()[k % from.bytes().size()];
  return made;
}

bool is_mutable(const Attribute& attribute) {
  if (!attribute.reference.empty()) return false;
  if (const auto* tensor = std::get_if<Tensor>(&attribute.is))
    return tensor->type() == Type::int64 && tensor->size() > 0;
  return std::holds_alternative<Index>(attribute.is) ||
         std::holds_alternative<float>(attribute.is) ||
         std::holds_alternative<std::vector<Index>>(attribute.is);
}

void change_attribute(Model& model, Random& random, std::string& what) {
  std::vector<std::pair<std::string, Attribute*>> all;
  for (Node& node : model.graph.nodes) {
    for (auto& [name, attribute] : node.attributes) {
      if (is_mutable(attribute)) all.emplace_back(node.op + "." + name, &attribute);
    }
  }
  if (all.empty()) return;
  auto& [name, attribute] = random.pick(all);
  what += " attribute " + name;
  if (auto* number = std::get_if<Index>(&attribute->is)) {
    *number = odd_number(random);
  } else if (auto* tensor = std::get_if<Tensor>(&attribute->is)) {
    *tensor = resized(*tensor, tensor->shape());
    tensor->data<std::int64_t>()[random.below(tensor->size())] = odd_number(random);
  } else if (auto* real = std::get_if<float>(&attribute->is)) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::array values{0.0F,    -1.0F,    0.5F,      1e30F,
                            -1e-30F, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    *real = random.pick(values);
  } else {
    auto& list = std::get<std::vector<Index>>(attribute->is);
    const Index size = static_cast<Index>(list.size());
    if (size == 0 || random.one_in(6)) {
      list.insert(list.begin() + random.below(size + 1), odd_number(random));
    } else if (random.one_in(6)) {
      list.erase(list.begin() + random.below(size));
    } else {
      random.pick(list) = odd_number(random);
    }
  }
}

void change_weight(Model& model, Random& random, std::string& what) {
  if (model.graph.initializers.empty()) return;
  auto at = model.graph.initializers.begin();
  std::advance(at, random.below(static_cast<Index>(model.graph.initializers.size())));
  auto& [name, tensor] = *at;
  if (tensor.type() == Type::int64 && tensor.size() > 0 && !random.one_in(3)) {
    Tensor made = resized(tensor, tensor.shape());
    made.data<std::int64_t>()[random.below(made.size())] = odd_number(random);
    tensor = made;
    what += " value of " + name;
    return;
  }
  if (tensor.type() == Type::string) return;
  Shape shape = tensor.shape();
  if (shape.size() > 1 && random.one_in(5)) {
    std::rotate(shape.begin(), shape.begin() + 1, shape.end());
  } else if (random.one_in(8)) {
    shape.push_back(1);
  } else if (shape.empty()) {
    shape = {1 + random.below(9)};
  } else if (random.one_in(12)) {
    shape.pop_back();
  } else {
    Index& size = random.pick(shape);
    const std::array sizes{Index{0}, Index{1},     Index{2},  std::max<Index>(size - 1, 0),
                           size + 1, 2 * size + 1, 16 * size, size / 2};
    size = random.pick(sizes);
  }
  for (Index elements = 1; const Index size : shape) {
    elements *= size;
    if (elements > largest_weight) return;
  }
  tensor = resized(tensor, shape);
  what += " shape of " + name + " is " + text(shape);
  for (ValueInfo& input : model.graph.inputs) {  // an input of the same name
    if (input.name != name) continue;
    input.shape.emplace();
    for (const Index size : shape) input.shape->push_back({size, ""});
  }
}

void change_input(Model& model, Random& random, std::string& what) {
  std::vector<ValueInfo*> all;
  for (ValueInfo& input : model.graph.inputs) {
    if (!model.graph.initializers.contains(input.name) && input.shape && !input.shape->empty())
      all.push_back(&input);
  }
  if (all.empty()) return;
  ValueInfo& input = *random.pick(all);
  Dim& dim = random.pick(*input.shape);
  const Index size = dim.size.value_or(2);
  const std::array sizes{Index{0},  Index{1}, Index{2},     Index{3},
                         Index{16}, size + 1, 2 * size + 1, std::max<Index>(size - 1, 0)};
  dim = {random.pick(sizes), ""};
  what += " size of input " + input.name;
  if (random.one_in(4)) {
    dim = {std::nullopt, "n"};
    what += " is a symbol";
  }
}

void change_wire(Model& model, Random& random, std::string& what) {
  std::vector<Node>& nodes = model.graph.nodes;
  if (nodes.empty()) return;
  const Index which = random.below(static_cast<Index>(nodes.size()));
  Node& node = nodes[static_cast<std::size_t>(which)];
  if (node.inputs.empty()) return;
  std::vector<std::string> names;
  for (const ValueInfo& input : model.graph.inputs) names.push_back(input.name);
  for (const auto& [name, tensor] : model.graph.initializers) names.push_back(name);
  for (Index k = 0; k < which; ++k) {
    for (const std::string& name : nodes[static_cast<std::size_t>(k)].outputs) {
      if (!name.empty()) names.push_back(name);
    }
  }
  if (names.empty()) return;
  std::string& input = random.pick(node.inputs);
  what += " " + node.op + " reads another value than " + input;
  input = random.one_in(8) ? "" : random.pick(names);
}

void change_opset(Model& model, Random& random, std::string& what) {
  Index& opset = model.opsets[""];
  opset = std::clamp<Index>(opset + random.below(9) - 4, 1, 24);
  what += " opset " + std::to_string(opset);
}

Tensor drawn(Type type, const Shape& shape, Random& random) {
  Tensor made(type, shape);
  if (type == Type::string) {
    for (Index k = 0; k < made.size(); ++k)
      made.data<std::string>()[k] = "s" + std::to_string(random.below(4));
    return made;
  }
  const TypeFacts& is = facts(type);
  if (type == Type::complex64 || type == Type::complex128) return made;
  for (Index k = 0; k < made.size(); ++k) {
    const Index number = random.below(is.is_integer || type == Type::boolean ? 2 : 33);
    set_number(made, k,
               is.is_integer || type == Type::boolean ? static_cast<long double>(number)
                                                      : static_cast<long double>(number - 16) / 4);
  }
  return made;
}

}  // namespace

// Work has the same limit on every machine, so that the machine's speed changes no outcome.
Limits limits() {
  Limits limits = Limits::fuzz();
  limits.work = 2'000'000;  // a unit of work takes a sanitized kernel up to a microsecond
  limits.milliseconds = Limits().milliseconds;
  return limits;
}

ModelSource::ModelSource(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().filename() == "model.onnx" &&
          entry.file_size() < largest_file)
        files_.push_back(entry.path());
    }
  }
  std::sort(files_.begin(), files_.end());
  if (files_.empty()) throw Error(ErrorKind::file, "there is no model to mutate");
}

Subject ModelSource::make(Index number) const {
  Random random(static_cast<std::uint64_t>(number) * 2 + 1);
  const fs::path& file = random.pick(files_);
  Subject made{
      load_model(file, Limits::untrusted()), {}, file.parent_path().filename().string() + ":"};
  constexpr std::array changes{change_attribute, change_attribute, change_weight, change_weight,
                               change_weight,    change_input,     change_wire,   change_opset};
  const std::size_t unchanged = made.what.size();
  const Index count = 1 + random.below(2);
  for (Index k = 0; k < count || made.what.size() == unchanged; ++k) {
    if (k == max_changes) throw Error(ErrorKind::unsupported, "nothing of it can be changed");
    random.pick(changes)(made.model, random, made.what);
  }
  for (const ValueInfo& input : made.model.graph.inputs) {
    if (made.model.graph.initializers.contains(input.name)) continue;
    if (!input.type || input.type->kind != ValueType::Kind::tensor)
      throw Error(ErrorKind::unsupported, "an input is no tensor");
    Shape shape;
    for (const Dim& dim : input.shape.value_or(std::vector<Dim>{}))
      shape.push_back(dim.size.value_or(1 + random.below(3)));
    made.feeds.emplace(input.name, drawn(input.type->element, shape, random));
  }
  return made;
}

}  // namespace touchstone::mutation
