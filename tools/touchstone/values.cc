// Formats values as text, as JSON and as files.
#include "tools/touchstone/values.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "core/error.h"
#include "core/files.h"
#include "core/npy.h"
#include "core/numbers/convert.h"
#include "model/model.h"
#include "tools/touchstone/command.h"

namespace touchstone::command {
namespace {

template <class T>
std::string complex_text(const std::complex<T>& z) {
  return fmt::format("{}{:+}i", z.real(), z.imag());
}

struct Describe {
  Index most;
  std::string operator()(std::monostate) const { return "absent"; }
  std::string operator()(const Tensor& tensor) const {
    std::string out;
    for (Index k = 0; k < std::min(most, tensor.size()); ++k)
      out += (k > 0 ? " " : "") + shown_element(tensor, k);
    return tensor.size() > most ? out + " ..." : out;
  }
  std::string operator()(const Sequence& sequence) const {
    return fmt::format("{} items", sequence.items.size());
  }
  std::string operator()(const Optional& optional) const {
    return optional.item ? first_values(*optional.item, most) : "empty";
  }
  std::string operator()(const Map& map) const {
    return fmt::format("{} keys", map.by_integer.size() + map.by_string.size());
  }
  std::string operator()(const SparseTensor& sparse) const { return (*this)(sparse.values); }
};

}  // namespace

std::string shown_element(const Tensor& tensor, Index at) {
  switch (tensor.type()) {
    case Type::string:
      return fmt::format("\"{}\"", printable(tensor.data<std::string>()[at]));
    case Type::boolean:
      return number_at(tensor, at) != 0 ? "true" : "false";
    case Type::float32:
      return fmt::format("{}", tensor.data<float>()[at]);
    case Type::complex64:
      return complex_text(tensor.data<std::complex<float>>()[at]);
    case Type::complex128:
      return complex_text(tensor.data<std::complex<double>>()[at]);
    case Type::int64:
      return fmt::format("{}", tensor.data<std::int64_t>()[at]);
    case Type::uint64:
      return fmt::format("{}", tensor.data<std::uint64_t>()[at]);
    default:
      return fmt::format("{}", static_cast<double>(number_at(tensor, at)));
  }
}

std::string first_values(const Value& value, Index most) {
  return std::visit(Describe{most}, value.is);
}

std::string type_text(const Value& value) {
  if (value.absent()) return "absent";
  const std::string type = text(value.type());
  return value.is_tensor() ? type + " " + text(value.tensor().shape()) : type;
}

std::string dims_text(const ValueInfo& value) {
  if (!value.shape) return "";
  std::string out;
  for (const Dim& dim : *value.shape) {
    out += out.empty() ? "" : ",";
    out += dim.size ? fmt::format("{}", *dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return "[" + out + "]";
}

nlohmann::ordered_json to_json(const Value& value, Index most) {
  nlohmann::ordered_json out;
  out["type"] = value.absent() ? "absent" : text(value.type());
  if (!value.is_tensor()) {
    out["says"] = first_values(value, most);
    return out;
  }
  const Tensor& tensor = value.tensor();
  out["shape"] = std::vector<Index>(tensor.shape().begin(), tensor.shape().end());
  out["first"] = nlohmann::ordered_json::array();
  for (Index k = 0; k < std::min(most, tensor.size()); ++k) {
    const bool number = tensor.type() != Type::string && tensor.type() != Type::boolean &&
                        !facts(tensor.type()).is_complex;
    if (tensor.type() == Type::string) {
      out["first"].push_back(tensor.data<std::string>()[k]);
    } else if (number && std::isfinite(number_at(tensor, k))) {
      out["first"].push_back(nlohmann::ordered_json::parse(shown_element(tensor, k)));
    } else {
      out["first"].push_back(shown_element(tensor, k));  // JSON has no infinity, no NaN
    }
  }
  return out;
}

void write_outputs(const Model& model, const std::map<std::string, Value>& outputs,
                   const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (std::size_t k = 0; k < model.graph.outputs.size(); ++k) {
    const Value& value = outputs.at(model.graph.outputs[k].name);
    write_atomically(folder / fmt::format("output_{}.pb", k), serialize_value(value));
    if (value.is_tensor())
      write_atomically(folder / fmt::format("output_{}.npy", k), serialize_npy(value.tensor()));
  }
}

TapWriter::TapWriter(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
}

std::string TapWriter::file_of(const Value& value) {
  if (value.absent()) return "";
  const auto write = [&] {
    const std::string file = fmt::format("v{:06}.pb", files_++);
    write_atomically(folder_ / file, serialize_value(value));
    return file;
  };
  if (!value.is_tensor() || value.tensor().size() == 0) return write();
  const Tensor& tensor = value.tensor();
  const auto key = std::pair<const void*, std::string>(tensor.data<std::byte>(), type_text(value));
  const auto known = written_.find(key);
  if (known != written_.end()) return known->second.second;
  const std::string file = write();
  written_.emplace(key, std::pair(tensor, file));
  return file;
}

void TapWriter::feed(const std::string& name, const Value& value) {
  values_[name] = file_of(value);
}

void TapWriter::operator()(const Call& call, const std::string& path) {
  nlohmann::ordered_json node;
  node["path"] = path;
  node["index"] = call.node->index;
  node["node"] = call.node->name;
  node["domain"] = call.node->domain.empty() ? "ai.onnx" : call.node->domain;
  node["op"] = call.node->op;
  node["version"] =
      call.signature != nullptr ? call.signature->since : 0;  // 0: a function of the model
  const auto list = [&](const char* side, const std::vector<std::string>& names,
                        const std::vector<Value>& values) {
    node[side] = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < std::min(names.size(), values.size()); ++k) {
      const std::string file = names[k].empty() ? "" : file_of(values[k]);
      node[side].push_back({{"name", names[k]}, {"file", file}});
      if (path.empty() && !file.empty()) values_[names[k]] = file;
    }
  };
  list("inputs", call.node->inputs, call.inputs);
  list("outputs", call.node->outputs, call.outputs);
  nodes_.push_back(std::move(node));
}

void TapWriter::finish() {
  const nlohmann::ordered_json taps{{"schema", "touchstone.taps/1"}, {"nodes", std::move(nodes_)}};
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  write_atomically(folder_ / "taps.json", taps.dump(1, ' ', false, replace) + "\n");
  write_atomically(folder_ / "values.json", values_.dump(1, ' ', false, replace) + "\n");
}

}  // namespace touchstone::command
