// Feeds of a run. Random ones are computed from integers alone, so that a seed gives the same
// values on every machine.
#include "tools/touchstone/feeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "core/nearest.h"
#include "core/npy.h"
#include "core/numbers/convert.h"
#include "model/model.h"

namespace touchstone::command {
namespace {

[[noreturn]] void misuse(const std::string& message, const std::string& help) {
  throw Error(ErrorKind::usage, message).with_help(help);
}

std::pair<std::string, std::string> split_at_equals(const std::string& text, const char* option) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    misuse(fmt::format("{} '{}' has no value", option, text), fmt::format("{} NAME=VALUE", option));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

Dims dims_of(const FeedArgs& args) {
  Dims out;
  for (const std::string& text : args.dims) {
    const auto [symbol, number] = split_at_equals(text, "--dim");
    Index size = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), size);
    if (problem != std::errc() || end != number.data() + number.size() || size < 0) {
      misuse(fmt::format("--dim {} is not a size", text), "--dim batch=4");
    }
    out[symbol] = size;
  }
  return out;
}

namespace {

const ValueInfo& input_named(const Graph& graph, const std::string& name) {
  std::string names;
  for (const ValueInfo& input : graph.inputs) {
    if (input.name == name) return input;
    names += (names.empty() ? "'" : ", '") + input.name + "'";
  }
  std::vector<std::string_view> known;
  for (const ValueInfo& input : graph.inputs) known.push_back(input.name);
  misuse(fmt::format("the model has no input '{}'", name),
         did_you_mean(name, known) + "its inputs are " + names);
}

// Closed interval of drawn values.
struct ValueRange {
  double low = 0, high = 0;
};
using ValueRanges = std::map<std::string, ValueRange, std::less<>>;  // "" for the other inputs

double number_in(std::string_view text, const std::string& whole) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc() && end == text.data() + text.size() && std::isfinite(number))
    return number;
  misuse(fmt::format("--val-range {} is no range of values", whole),
         "--val-range LOW,HIGH or --val-range NAME=LOW,HIGH");
}

ValueRanges ranges_of(const FeedArgs& args, const Graph& graph) {
  ValueRanges out;
  for (const std::string& text : args.ranges) {
    const std::size_t equals = text.rfind('=');
    const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    if (!name.empty()) input_named(graph, name);
    const std::string ends = equals == std::string::npos ? text : text.substr(equals + 1);
    const std::size_t comma = ends.find(',');
    const std::size_t second = comma == std::string::npos ? ends.size() : comma + 1;
    const ValueRange range{number_in(std::string_view(ends).substr(0, comma), text),
                           number_in(std::string_view(ends).substr(second), text)};
    if (range.low > range.high)
      misuse(fmt::format("--val-range {} ends below its beginning", text), "LOW,HIGH");
    if (!out.emplace(name, range).second)
      misuse(fmt::format("--val-range {} is the second for its input", text), "one for an input");
  }
  return out;
}

class Seeded {  // splitmix64
 public:
  explicit Seeded(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // Returns a nearly normal number, equal on all machines: the sum of twelve uniform numbers has
  // variance 1.
  long double normal() {
    std::int64_t sum = 0;
    for (int k = 0; k < 12; ++k) sum += static_cast<std::int64_t>(bits() >> 32);
    return static_cast<long double>(sum - (std::int64_t{6} << 32)) / 4294967296.0L;
  }
  long double between(const ValueRange& range) {
    const long double low = range.low, high = range.high;
    return low + (high - low) * (static_cast<long double>(bits() >> 11) / 0x1.fffffffffffffp52L);
  }
  long double integer_between(const ValueRange& range) {
    const long double low = std::ceil(static_cast<long double>(range.low));
    const long double count = std::floor(static_cast<long double>(range.high)) - low + 1;
    return low + std::floor(static_cast<long double>(bits() >> 11) / 0x1p53L * count);
  }

 private:
  std::uint64_t state_;
};

Shape shape_for(const ValueInfo& input, const Dims& dims) {
  Shape out;
  if (!input.shape) {
    misuse(fmt::format("input '{}' has no declared rank, so --random cannot make it", input.name),
           "feed it by --input " + input.name + "=FILE.npy");
  }
  for (const Dim& dim : *input.shape) {
    if (dim.size) {
      out.push_back(*dim.size);
      continue;
    }
    const auto given = dims.find(dim.symbol);
    out.push_back(given == dims.end() ? 1 : given->second);
  }
  return out;
}

// Draws numbers of the range, as far as the type can represent them.
Tensor drawn_between(const ValueRange& range, Type type, const Shape& shape, Seeded& seeded) {
  const TypeFacts& of = facts(type);
  const bool whole = of.is_integer || type == Type::boolean;
  if (type == Type::string || of.is_complex)
    misuse(fmt::format("--val-range draws real numbers, and the input is {}", name(type)),
           "name the inputs that it is for: --val-range NAME=LOW,HIGH");
  const double least = of.is_signed ? -std::ldexp(1, of.bits - 1) : 0;
  const double most = type == Type::boolean ? 1 : std::ldexp(1, of.bits - of.is_signed) - 1;
  if (whole && std::ceil(range.low) > std::floor(range.high))
    misuse(fmt::format("no integer is between {} and {}", range.low, range.high), "LOW,HIGH");
  if (whole && (range.low < least || range.high > most))
    misuse(fmt::format("{} does not hold all of {} to {}", name(type), range.low, range.high),
           fmt::format("it holds {} to {}", least, most));
  Tensor out(type, shape);
  for (Index k = 0; k < out.size(); ++k)
    set_number(out, k, whole ? seeded.integer_between(range) : seeded.between(range));
  return out;
}

Tensor random_tensor(Type type, const Shape& shape, Seeded& seeded) {
  Tensor out(type, shape);
  for (Index k = 0; k < out.size(); ++k) {
    if (type == Type::string) {
      out.data<std::string>()[k] = fmt::format("s{}", seeded.bits() % 10);
    } else if (type == Type::boolean) {
      set_number(out, k, static_cast<long double>(seeded.bits() >> 63));
    } else if (facts(type).is_integer) {
      set_number(out, k,
                 static_cast<long double>(seeded.bits() >> 63));  // valid as an index, too
    } else if (type == Type::complex64) {
      out.data<float>()[2 * k] = static_cast<float>(seeded.normal());
      out.data<float>()[2 * k + 1] = static_cast<float>(seeded.normal());
    } else if (type == Type::complex128) {
      out.data<double>()[2 * k] = static_cast<double>(seeded.normal());
      out.data<double>()[2 * k + 1] = static_cast<double>(seeded.normal());
    } else {
      set_number(out, k, seeded.normal());
    }
  }
  return out;
}

Value random_value(const ValueInfo& input, const Dims& dims, const ValueRanges& ranges,
                   Seeded& seeded) {
  if (!input.type || input.type->kind != ValueType::Kind::tensor) {
    throw Error(ErrorKind::unsupported,
                fmt::format("--random makes tensors only, and input '{}' is {}", input.name,
                            input.type ? text(*input.type) : "of no declared type"))
        .with_help("feed it by --input " + input.name + "=FILE.pb");
  }
  const Type type = input.type->element;
  auto range = ranges.find(input.name);
  if (range == ranges.end()) range = ranges.find("");
  return range == ranges.end() ? random_tensor(type, shape_for(input, dims), seeded)
                               : drawn_between(range->second, type, shape_for(input, dims), seeded);
}

ValueType declared_type(const ValueInfo& value) {
  if (value.type) return *value.type;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("value '{}' has no declared type, so a file cannot be read as it", value.name));
}

// Reads a feed; adds the input and the file to an error without a place.
Value feed_from(const ValueInfo& input, const std::filesystem::path& file, const Limits& limits) {
  try {
    return read_value(file, declared_type(input), limits);
  } catch (Error& error) {
    error.place = fmt::format("input '{}', file '{}'", input.name, file.string());
    throw;
  }
}

}  // namespace

void add_feeds(CLI::App& command, FeedArgs& args) {
  command.add_option("--input", args.inputs, "A feed from a file; may be repeated")
      ->type_name("NAME=FILE.npy|.pb")
      ->expected(1)
      ->take_all();
  command.add_option("--test-data", args.test_data, "A folder with input_0.pb, output_0.pb ...")
      ->type_name("DIR");
  command.add_flag("--random", args.random, "Make the inputs that nothing else feeds");
  command.add_option("--seed", args.seed, "Of --random");
  command
      .add_option("--val-range", args.ranges,
                  "What --random draws from, for all inputs or for one (floats: a normal "
                  "distribution; integers: 0 and 1)")
      ->type_name("[NAME=]LOW,HIGH")
      ->expected(1)
      ->take_all();
  command
      .add_option("--dim", args.dims, "Size of a symbolic dimension for --random (1 if not given)")
      ->type_name("SYMBOL=N")
      ->expected(1)
      ->take_all();
}

std::vector<const ValueInfo*> wanted_inputs(const Graph& graph) {
  std::vector<const ValueInfo*> out;
  for (const ValueInfo& input : graph.inputs) {
    if (!graph.initializers.contains(input.name) && !graph.sparse_initializers.contains(input.name))
      out.push_back(&input);
  }
  return out;
}

Value read_value(const std::filesystem::path& file, const ValueType& type, const Limits& limits) {
  if (file.extension() == ".pb") return load_value(file, type, limits);
  if (file.extension() != ".npy") {
    misuse(fmt::format("'{}' is neither a .npy nor a .pb file", file.string()),
           "NAME=FILE.npy or NAME=FILE.pb");
  }
  if (type.kind != ValueType::Kind::tensor)
    misuse("a .npy file holds a tensor, but " + text(type) + " is wanted", "use a .pb file");
  const std::string bytes = open_trusted(file).read_all(limits);
  return parse_npy(std::as_bytes(std::span(bytes)), type.element, limits);
}

std::map<std::string, Value> feeds_for(const Model& model, const FeedArgs& args,
                                       const Limits& limits) {
  std::map<std::string, Value> out;
  if (!args.test_data.empty()) {
    if (!std::filesystem::is_directory(args.test_data)) {
      throw Error(ErrorKind::file, fmt::format("there is no folder '{}'", args.test_data));
    }
    const std::vector<std::filesystem::path> files = numbered_files(args.test_data, "input");
    if (files.size() > model.graph.inputs.size()) {
      misuse(fmt::format("'{}' holds {} inputs, but the model has {}", args.test_data, files.size(),
                         model.graph.inputs.size()),
             "input_K.pb is the graph's input K");
    }
    for (std::size_t k = 0; k < files.size(); ++k) {
      const ValueInfo& input = model.graph.inputs[k];
      out[input.name] = feed_from(input, files[k], limits);
    }
  }
  for (const std::string& text : args.inputs) {
    const auto [name, file] = split_at_equals(text, "--input");
    out[name] = feed_from(input_named(model.graph, name), file, limits);
  }
  if (args.random) {
    Seeded seeded(args.seed);
    const Dims dims = dims_of(args);
    const ValueRanges ranges = ranges_of(args, model.graph);
    for (const ValueInfo* input : wanted_inputs(model.graph)) {
      // Drawn even if fed, so that a feed does not change the values of other inputs.
      Value made = random_value(*input, dims, ranges, seeded);
      out.try_emplace(input->name, std::move(made));
    }
  }
  return out;
}

std::map<std::string, Shape> known_shapes(const Model& model, const FeedArgs& args,
                                          const Limits& limits) {
  std::map<std::string, Shape> out;
  for (const auto& [name, value] : feeds_for(model, args, limits)) {
    if (value.is_tensor()) out.emplace(name, value.tensor().shape());
  }
  const Dims dims = dims_of(args);
  for (const ValueInfo* input : wanted_inputs(model.graph)) {
    if (!input->shape || out.contains(input->name)) continue;
    const bool known = std::all_of(input->shape->begin(), input->shape->end(), [&](const Dim& dim) {
      return dim.size || dims.contains(dim.symbol);
    });
    if (known) out.emplace(input->name, shape_for(*input, dims));
  }
  return out;
}

std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& folder,
                                                  std::string_view side) {
  std::vector<std::filesystem::path> out;
  while (true) {
    const std::filesystem::path file = folder / fmt::format("{}_{}.pb", side, out.size());
    if (!std::filesystem::exists(file)) return out;
    out.push_back(file);
  }
}

}  // namespace touchstone::command
