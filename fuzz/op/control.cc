// Bodies copy, add and compare, so that the reference's answer is the only right one.
#include "fuzz/op/control.h"

#include <algorithm>
#include <array>

#include "conformance/suites/line.h"
#include "conformance/suites/line_data.h"
#include "core/error.h"
#include "core/numbers/convert.h"
#include "fuzz/op/draft.h"
#include "fuzz/op/program.h"

namespace touchstone::fuzz {
namespace {

constexpr std::array<Type, 6> types{Type::float32, Type::int64,   Type::float64,
                                    Type::int32,   Type::boolean, Type::string};

bool can_be_added(Type type) { return type != Type::boolean && type != Type::string; }

std::string_view operator_of(std::string_view role) {
  for (const BodyOperator& each : body_operators())
    if (each.role == role) return each.op;
  BUG("a body uses no such operator");
}

// The template of an operator that runs a body; "" for any other.
std::string_view role_of(const Signature& signature) {
  const auto holds_graph = [](const AttributeSpec& attribute) {
    return attribute.required && attribute.kind == "graph";
  };
  if (std::none_of(signature.attributes.begin(), signature.attributes.end(), holds_graph))
    return "";
  for (const BodyOperator& each : body_operators())
    if (each.op == signature.op) return each.role;
  return "";
}

// One case while it is built.
class Body {
 public:
  Body(const Signature& signature, Random& random) : signature_(signature), random_(random) {
    made_.text = name_of(signature) + " with a body:";
    made_.model.ir_version = suites::ir_version_of_lines;
    made_.model.opsets[""] = suites::opset_of(signature);
    made_.model.graph.name = "case";
    made_.covered.push_back("version/" + name_of(signature));
    node_.op = signature.op;
    made_.feeds.resize(1);
  }

  Case draw() {
    const std::string_view role = role_of(signature_);
    if (role == "branches") choose();
    if (role == "loop") loop();
    if (role == "scan") scan();
    if (role == "map") map_sequence();
    made_.model.graph.nodes.push_back(node_);
    return std::move(made_);
  }

 private:
  Shape shape(Index rank) {
    static constexpr std::array<Index, 8> sizes{0, 1, 2, 3, 5, 8, 17, 33};
    Shape dims;
    for (Index k = 0; k < rank; ++k) dims.push_back(random_.pick(sizes));
    return dims;
  }
  Tensor tensor(Type type, const Shape& dims) {
    Tensor made(type, dims);
    suites::fill(made, random_.one_in(4) ? "special" : "whole", random_.bits());
    return made;
  }
  static Tensor number(Type type, Index value, const Shape& dims) {
    Tensor made(type, dims);
    for (Index k = 0; k < made.size(); ++k) set_number(made, k, static_cast<long double>(value));
    return made;
  }
  void note(const std::string& choice) { made_.text += " " + choice; }

  // Adds a value that the model holds, or that is fed with its sizes known, named or unknown.
  void give(const std::string& name, const Tensor& value) {
    const std::string type(touchstone::name(value.type()));
    std::string sizes;
    std::vector<Dim> dims;
    const Index how = random_.below(4);  // of a fed value's declaration; 3: held
    for (const Index n : value.shape()) {
      Dim dim;
      if (how == 1) dim.symbol = "n" + std::to_string(n);
      if (how != 1 && how != 2) dim.size = n;
      sizes += (sizes.empty() ? "" : ",") + std::string(how == 2 ? "?=" : "") +
               (how == 1 ? dim.symbol + "=" : "") + std::to_string(n);
      dims.push_back(dim);
    }
    note(name + "=" + (how == 3 ? "*" : "") + type + "[" + sizes + "]");
    if (how == 3) {
      made_.model.graph.initializers[name] = value;
      return;
    }
    made_.model.graph.inputs.push_back({name, tensor_type(value.type()), dims});
    made_.feeds[0][name] = value;
  }
  void input(const std::string& name, const Tensor& value) {
    give(name, value);
    node_.inputs.push_back(name);
  }
  void output(const std::string& name, const ValueType& type) {
    node_.outputs.push_back(name);
    made_.model.graph.outputs.push_back({name, type, {}});
  }
  static void add(Graph& graph, std::string_view role, const std::vector<std::string>& inputs,
                  const std::string& made) {
    Node node;
    node.op = operator_of(role);
    node.inputs = inputs;
    node.outputs = {made};
    graph.nodes.push_back(std::move(node));
  }
  static Graph graph(const std::string& name) {
    Graph made;
    made.name = name;
    return made;
  }
  void hold(const std::string& attribute, Graph body) {
    node_.attributes[attribute].is = std::make_shared<const Graph>(std::move(body));
  }
  void set(const std::string& attribute, Attribute::Payload value) {
    node_.attributes[attribute].is = std::move(value);
  }
  // Copies a value, or adds it to itself.
  void compute(Graph& body, Type type, const std::string& from, const std::string& to) {
    const bool added = can_be_added(type) && random_.one_in(2);
    note(to + (added ? "=twice" : "=copy"));
    if (added)
      add(body, "add", {from, from}, to);
    else
      add(body, "copy", {from}, to);
  }

  void choose();
  void loop();
  void scan();
  void map_sequence();

  const Signature& signature_;
  Random& random_;
  Case made_;
  Node node_;
};

void Body::choose() {
  input("cond", number(Type::boolean, random_.below(2), random_.one_in(2) ? Shape{} : Shape{1}));
  Graph chosen = graph("then"), other = graph("else");
  const Index outputs = 1 + random_.below(3);
  for (Index k = 0; k < outputs; ++k) {
    const Type type = random_.pick(types);
    const std::string at = std::to_string(k);
    give("a" + at, tensor(type, shape(random_.below(4))));
    give("b" + at, tensor(type, shape(random_.below(4))));
    compute(chosen, type, "a" + at, "t" + at);
    compute(other, type, random_.one_in(3) ? "a" + at : "b" + at, "e" + at);
    chosen.outputs.push_back({"t" + at, tensor_type(type), {}});
    other.outputs.push_back({"e" + at, tensor_type(type), {}});
    output("y" + at, tensor_type(type));
  }
  hold("then_branch", std::move(chosen));
  hold("else_branch", std::move(other));
}

void Body::loop() {
  const Index trips = random_.below(6), last = random_.below(6);
  const bool counted = !random_.one_in(4);
  const bool ends = !counted || random_.one_in(2);  // the body ends the loop after `last` turns
  if (counted)
    input("trips", number(Type::int64, trips, random_.one_in(2) ? Shape{} : Shape{1}));
  else
    node_.inputs.emplace_back();
  if (random_.one_in(2))
    input("go", number(Type::boolean, random_.one_in(5) ? 0 : 1, {}));
  else
    node_.inputs.emplace_back();
  note("trips=" + (counted ? std::to_string(trips) : "_") +
       " last=" + (ends ? std::to_string(last) : "_"));
  Graph body = graph("body");
  body.inputs = {{"turn", tensor_type(Type::int64), std::vector<Dim>{}},
                 {"still", tensor_type(Type::boolean), std::vector<Dim>{}}};
  if (ends) {
    body.initializers["last"] = number(Type::int64, last, {});
    add(body, "less", {"turn", "last"}, "more");
  } else {
    add(body, "copy", {"still"}, "more");
  }
  body.outputs.push_back({"more", tensor_type(Type::boolean), {}});
  const Index states = random_.below(3);
  std::vector<std::pair<std::string, Type>> carried;
  for (Index k = 0; k < states; ++k) {
    const Type type = random_.pick(types);
    const std::string at = std::to_string(k);
    input("s" + at, tensor(type, shape(random_.below(3))));
    body.inputs.push_back({"in" + at, tensor_type(type), {}});
    compute(body, type, "in" + at, "out" + at);
    body.outputs.push_back({"out" + at, tensor_type(type), {}});
    output("y" + at, tensor_type(type));
    carried.emplace_back("out" + at, type);
  }
  carried.emplace_back("turn", Type::int64);
  const Index scans = states == 0 ? 1 : random_.below(3);
  for (Index k = 0; k < scans; ++k) {
    const auto [from, type] = random_.pick(carried);
    const std::string at = std::to_string(k);
    add(body, "copy", {from}, "scan" + at);
    body.outputs.push_back({"scan" + at, tensor_type(type), {}});
    output("z" + at, tensor_type(type));
    note("z" + at + "=" + from);
  }
  hold("body", std::move(body));
}

void Body::scan() {
  const bool batched = signature_.since == 8;
  const Index batch = 1 + random_.below(3), steps = 1 + random_.below(5);
  const Index states = random_.below(3), scans = 1 + random_.below(2);
  const Type type = random_.one_in(2) ? Type::float32 : Type::float64;
  std::vector<Index> axes, directions;
  if (batched) {
    node_.inputs.emplace_back();
    if (random_.one_in(2)) {
      node_.inputs.clear();
      input("lengths", number(Type::int64, random_.below(steps + 1), {batch}));
    }
  }
  Graph body = graph("body");
  for (Index k = 0; k < states; ++k) {
    const std::string at = std::to_string(k);
    Shape dims = shape(1 + random_.below(2));
    if (batched) dims[0] = batch;
    input("s" + at, tensor(type, dims));
    body.inputs.push_back({"in" + at, tensor_type(type), {}});
    compute(body, type, "in" + at, "out" + at);
    body.outputs.push_back({"out" + at, tensor_type(type), {}});
    output("y" + at, tensor_type(type));
  }
  for (Index k = 0; k < scans; ++k) {
    const std::string at = std::to_string(k);
    Shape dims = shape(batched ? 3 : 1 + random_.below(3));
    const Index axis = batched ? 1 : random_.below(dims.size());
    if (batched) dims[0] = batch;
    dims[axis] = steps;
    input("x" + at, tensor(type, dims));
    axes.push_back(random_.one_in(4) && !batched ? axis - dims.size() : axis);
    directions.push_back(random_.below(2));
    body.inputs.push_back({"slice" + at, tensor_type(type), {}});
    compute(body, type, "slice" + at, "piece" + at);
    body.outputs.push_back({"piece" + at, tensor_type(type), {}});
    output("z" + at, tensor_type(type));
  }
  set("num_scan_inputs", scans);
  const bool directed = random_.one_in(2);
  if (directed) set(batched ? "directions" : "scan_input_directions", directions);
  if (!batched) set("scan_input_axes", axes);
  note("directions=" + (directed ? join_list(directions) : "_") + " axes=" + join_list(axes));
  hold("body", std::move(body));
}

void Body::map_sequence() {
  const Type type = random_.pick(types);
  Sequence items{tensor_type(type), {}};
  const Index count = random_.below(4);
  const Index rank = random_.below(3);
  for (Index k = 0; k < count; ++k) items.items.emplace_back(tensor(type, shape(rank)));
  note("items=" + std::to_string(count) + " of " + std::string(name(type)) + " rank " +
       std::to_string(rank));
  made_.model.graph.inputs.push_back({"items", sequence_type(tensor_type(type)), {}});
  made_.feeds[0]["items"] = std::move(items);
  node_.inputs.emplace_back("items");
  Graph body = graph("body");
  body.inputs.push_back({"item", tensor_type(type), {}});
  const bool more = random_.one_in(2);
  if (more) {
    input("other", tensor(type, shape(random_.below(3))));
    body.inputs.push_back({"same", tensor_type(type), {}});
  }
  compute(body, type, more && random_.one_in(2) ? "same" : "item", "mapped");
  body.outputs.push_back({"mapped", tensor_type(type), {}});
  output("y", sequence_type(tensor_type(type)));
  hold("body", std::move(body));
}

}  // namespace

bool has_body_template(const Signature& signature) { return !role_of(signature).empty(); }

std::optional<Case> draw_with_body(const Signature& signature, const Bounds& bounds,
                                   Random& random) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    Case one = Body(signature, random).draw();
    suites::LineModel made{one.model, {}};
    for (const ValueInfo& input : one.model.graph.inputs)
      made.feeds.push_back(one.feeds[0].at(input.name));
    if (try_case(made, bounds).valid) return one;
  }
  return std::nullopt;
}

}  // namespace touchstone::fuzz
