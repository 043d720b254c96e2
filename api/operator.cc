// Operators whose functions are the program's: registered with options, called for nodes.
#include "api/operator.h"

#include <algorithm>
#include <cctype>

#include "api/node.h"
#include "api/status.h"
#include "api/value.h"
#include "model/custom.h"
#include "optimized/plan/plan_memory.h"
#include "reference/call.h"

namespace touchstone::api {
namespace {

// Splits "tensor(float), map(int64,tensor(float))" at the commas outside of parentheses.
std::vector<std::string> types_of(const char* list) {
  std::vector<std::string> types;
  if (list == nullptr) return types;
  int depth = 0;
  types.emplace_back();
  for (const char* at = list; *at != 0; ++at) {
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (*at == ',' && depth == 0)
      types.emplace_back();
    else if (std::isspace(static_cast<unsigned char>(*at)) == 0)
      types.back() += *at;
  }
  return types;
}

// Structures of an older header are shorter: the first says how far apart they are.
std::vector<CustomParameter> parameters_of(const ts_parameter* given, std::size_t count,
                                           const char* what) {
  std::vector<CustomParameter> made;
  if (count > 0) require(given, what);
  for (std::size_t k = 0; k < count; ++k) {
    const auto* at = reinterpret_cast<const ts_parameter*>(reinterpret_cast<const char*>(given) +
                                                           k * given->struct_size);
    if (at->struct_size != given->struct_size)
      throw Error(ErrorKind::usage, std::string(what) + " have struct_sizes that differ");
    const ts_parameter one = read_sized(at);
    require(one.name, "name");
    made.push_back({one.name, types_of(one.types), one.same ? one.same : "", one.is_optional != 0,
                    one.is_variadic != 0});
  }
  return made;
}

// Handles of values for one call of a function.
class Values {
 public:
  explicit Values(const std::vector<Value>& values) {
    handles_.reserve(values.size());
    try {
      for (const Value& value : values)
        handles_.push_back(value.absent() ? nullptr : handle_of(value));
    } catch (...) {
      release_values(handles_.data(), handles_.size());
      throw;
    }
  }
  explicit Values(std::size_t count) : handles_(count) {}
  ~Values() { release_values(handles_.data(), handles_.size()); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  ts_value** data() { return handles_.data(); }

 private:
  std::vector<ts_value*> handles_;
};

bool overlap(const Value& made, const std::vector<Value>& inputs) {
  if (!made.is_tensor()) return true;  // what it holds may
  if (made.type().element == Type::string) return false;
  const std::span<const std::byte> own = made.tensor().bytes();
  return std::any_of(inputs.begin(), inputs.end(), [&](const Value& input) {
    if (!input.is_tensor() || input.type().element == Type::string) return !input.is_tensor();
    const std::span<const std::byte> other = input.tensor().bytes();
    return own.data() < other.data() + other.size() && other.data() < own.data() + own.size();
  });
}

class Operator : public CustomOperator {
 public:
  explicit Operator(const ts_operator& given)
      : CustomOperator(given.domain, given.name, given.since_version,
                       parameters_of(given.inputs, given.input_count, "inputs"),
                       parameters_of(given.outputs, given.output_count, "outputs")),
        given_(given) {}
  ~Operator() override {
    if (owns_ && given_.release != nullptr) given_.release(given_.user);
  }
  // From here on, the program's `release` is called at the end.
  void own() { owns_ = true; }

  void compute(Call& call) const override {
    Values inputs(call.inputs), outputs(call.outputs.size());
    ts_status* status = nullptr;
    {
      const NodeHandle node(*call.node);
      status = given_.compute(given_.user, node.get(), inputs.data(), call.inputs.size(),
                              outputs.data(), call.outputs.size());
    }
    if (status != nullptr) throw taken(status);
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (!call.wanted[k]) continue;
      if (outputs.data()[k] == nullptr)
        throw Error(ErrorKind::usage,
                    "the operator's function left out output " + std::to_string(k));
      const Value& made = value_of(outputs.data()[k])->value;
      // Memory of an input may be another value's after this node.
      call.outputs[k] = overlap(made, call.inputs) ? optimized::detached(made, nullptr) : made;
    }
  }

  std::vector<CustomFact> infer(const Node& node,
                                const std::vector<CustomFact>& inputs) const override {
    std::vector<CustomFact> made(node.outputs.size());
    if (given_.infer == nullptr) return {};
    std::vector<std::string> types;
    std::vector<ts_port> ports;
    types.reserve(inputs.size());
    const std::vector<const char*> symbols(most_dims(inputs), "");
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      types.push_back(inputs[k].type ? text(*inputs[k].type) : "");
      ts_port port{};
      port.struct_size = sizeof port;
      port.name = node.inputs[k].c_str();
      port.type = types.back().c_str();
      port.rank = inputs[k].shape ? static_cast<std::int32_t>(inputs[k].shape->size()) : -1;
      port.dims = inputs[k].shape ? inputs[k].shape->begin() : nullptr;
      port.symbols = symbols.data();
      ports.push_back(port);
    }
    ts_status* status = nullptr;
    {
      const NodeHandle handle(node, &made);
      status = given_.infer(given_.user, handle.get(), ports.data(), ports.size(), made.size());
    }
    if (status != nullptr) throw taken(status);
    return made;
  }

 private:
  static std::size_t most_dims(const std::vector<CustomFact>& facts) {
    Index most = 0;
    for (const CustomFact& fact : facts) most = std::max(most, fact.shape ? fact.shape->size() : 0);
    return static_cast<std::size_t>(most);
  }

  const ts_operator given_;  // its pointers to lists are not used any more
  bool owns_ = false;
};

}  // namespace

ts_status* options_add_operator(ts_options* options, const ts_operator* added) {
  return guarded([&] {
    require(added, "added");
    const std::shared_ptr<HeldOptions> held = options_of(options);
    const ts_operator given = read_sized(added);
    require(given.domain, "domain"), require(given.name, "name");
    if (given.compute == nullptr) throw Error(ErrorKind::usage, "the function 'compute' is null");
    const auto made = std::make_shared<Operator>(given);
    const std::lock_guard lock(held->mutex);
    add_operator(held->operators, made);
    made->own();
  });
}

}  // namespace touchstone::api
