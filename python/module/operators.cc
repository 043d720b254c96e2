// Binding of operators whose functions are Python's, and of messages for Python's logging.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/log.h"
#include "model/custom.h"
#include "optimized/plan/plan_memory.h"
#include "python/module/module.h"
#include "python/module/settings.h"
#include "python/module/text.h"
#include "reference/call.h"

namespace touchstone::python {
namespace {

namespace nb = nanobind;

nb::object value_of(const Attribute& attribute, const std::string& name) {
  const Attribute::Payload& is = attribute.is;
  if (const auto* real = std::get_if<float>(&is)) return nb::float_(static_cast<double>(*real));
  if (const auto* number = std::get_if<Index>(&is)) return nb::int_(*number);
  if (const auto* string = std::get_if<std::string>(&is)) return to_str(*string);
  if (const auto* tensor = std::get_if<Tensor>(&is)) return nb::cast(Value(*tensor));
  nb::list list;
  if (const auto* reals = std::get_if<std::vector<float>>(&is)) {
    for (const float each : *reals) list.append(static_cast<double>(each));
  } else if (const auto* numbers = std::get_if<std::vector<Index>>(&is)) {
    for (const Index each : *numbers) list.append(each);
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&is)) {
    for (const std::string& each : *strings) list.append(to_str(each));
  } else {
    throw Error(ErrorKind::unsupported,
                "the attribute '" + name + "' is of a kind that is not given to Python");
  }
  return list;
}

nb::dict attributes_of(const Node& node) {
  nb::dict made;
  for (const auto& [name, attribute] : node.attributes)
    made[to_str(name)] = value_of(attribute, name);
  return made;
}

// Error of a Python exception: the same one if it is touchstone.Error.
Error error_of(nb::python_error& raised) {
  const nb::object value = nb::borrow(raised.value());
  const auto field = [&](const char* name) { return nb::cast<std::string>(value.attr(name)); };
  const nb::object own = nb::module_::import_("touchstone.errors").attr("Error");
  if (nb::isinstance(value, own)) {
    for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind) {
      if (name(static_cast<ErrorKind>(kind)) == field("kind"))
        return {static_cast<ErrorKind>(kind), field("message")};
    }
  }
  const std::string type = nb::cast<std::string>(raised.type().attr("__name__"));
  return {ErrorKind::invalid_input, type + ": " + nb::cast<std::string>(nb::str(value))};
}

// Calls Python, whose exceptions become Error. The thread runs without the interpreter's lock.
template <class Work>
auto in_python(const Work& work) {
  const nb::gil_scoped_acquire acquire;
  try {
    return work();
  } catch (nb::python_error& raised) {
    throw error_of(raised);
  } catch (const nb::cast_error&) {
    throw Error(ErrorKind::usage, "the operator's function returned what is no list of values");
  }
}

// Reads CustomFact as (type or None, shape or None).
CustomFact fact_of(nb::handle given) {
  CustomFact made;
  const nb::object type = given[0], shape = given[1];
  if (!type.is_none()) made.type = parse_value_type(nb::cast<std::string>(type));
  if (shape.is_none()) return made;
  made.shape.emplace();
  for (nb::handle size : shape) made.shape->push_back(size.is_none() ? -1 : nb::cast<Index>(size));
  return made;
}

nb::object written(const CustomFact& fact) {
  nb::object shape = nb::none();
  if (fact.shape) {
    nb::list sizes;
    for (const Index size : *fact.shape) sizes.append(size);
    shape = nb::tuple(sizes);
  }
  return nb::make_tuple(fact.type ? nb::object(to_str(text(*fact.type))) : nb::none(), shape);
}

class PythonOperator : public CustomOperator {
 public:
  PythonOperator(std::string domain, std::string op, int since, std::vector<CustomParameter> inputs,
                 std::vector<CustomParameter> outputs, nb::object compute, nb::object infer)
      : CustomOperator(std::move(domain), std::move(op), since, std::move(inputs),
                       std::move(outputs)),
        compute_(std::move(compute)),
        infer_(std::move(infer)) {}
  ~PythonOperator() override {
    if (Py_IsInitialized() == 0) {  // too late to release anything
      compute_.release(), infer_.release();
      return;
    }
    const nb::gil_scoped_acquire acquire;
    compute_.reset(), infer_.reset();
  }

  // The function takes values of its own: memory of a run is another value's after this node.
  void compute(Call& call) const override {
    std::vector<Value> inputs;
    for (const Value& input : call.inputs)
      inputs.push_back(input.absent() ? Value() : optimized::detached(input, nullptr));
    in_python([&] {
      nb::list given;
      for (Value& input : inputs)
        given.append(input.absent() ? nb::none() : nb::cast(std::move(input)));
      const nb::object made = compute_(given, attributes_of(*call.node), call.outputs.size());
      std::size_t k = 0;
      for (nb::handle value : made) {
        if (k < call.outputs.size() && call.wanted[k] && !value.is_none())
          call.outputs[k] = nb::cast<const Value&>(value);
        ++k;
      }
    });
    for (std::size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.wanted[k] && call.outputs[k].absent())
        throw Error(ErrorKind::usage,
                    "the operator's function left out output " + std::to_string(k));
    }
  }

  std::vector<CustomFact> infer(const Node& node,
                                const std::vector<CustomFact>& inputs) const override {
    if (infer_.is_none()) return {};
    return in_python([&] {
      nb::list given;
      for (const CustomFact& input : inputs) given.append(written(input));
      std::vector<CustomFact> made;
      for (nb::handle row : infer_(given, attributes_of(node))) made.push_back(fact_of(row));
      return made;
    });
  }

 private:
  nb::object compute_, infer_;
};

// Exception of this thread that the interpreter has yet to handle; put back at the end.
struct Pending {
  Pending() { PyErr_Fetch(&type, &value, &trace); }
  ~Pending() { PyErr_Restore(type, value, trace); }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
};

void write_to_python(void*, Severity severity, const char* category, const char* message) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire acquire;
  const Pending pending;
  try {
    nb::module_::import_("touchstone.logs")
        .attr("write")(static_cast<int>(severity), to_str(category), to_str(message));
  } catch (nb::python_error& raised) {
    raised.discard_as_unraisable("touchstone.logs.write");
  }
}

}  // namespace

void bind_operators(nb::module_& module) {
  nb::class_<CustomParameter>(module, "Parameter")
      .def(
          "__init__",
          [](CustomParameter* made, const std::string& name, const std::vector<std::string>& types,
             const std::string& same, bool optional, bool variadic) {
            new (made) CustomParameter{name, types, same, optional, variadic};
          },
          nb::arg("name"), nb::arg("types"), nb::arg("same"), nb::arg("optional"),
          nb::arg("variadic"));
  nb::class_<Operators>(module, "Operators")
      .def(nb::init<>())
      .def("copy", [](const Operators& from) { return Operators{from.all}; })
      .def(
          "add",
          [](Operators& to, const std::string& domain, const std::string& op, int since,
             const std::vector<CustomParameter>& inputs,
             const std::vector<CustomParameter>& outputs, nb::object compute, nb::object infer) {
            add_operator(to.all,
                         std::make_shared<PythonOperator>(domain, op, since, inputs, outputs,
                                                          std::move(compute), std::move(infer)));
          },
          nb::arg("domain"), nb::arg("name"), nb::arg("version"), nb::arg("inputs"),
          nb::arg("outputs"), nb::arg("compute"), nb::arg("infer").none());
  module.def(
      "log_from",
      [](int severity) {
        set_log({write_to_python, nullptr, Severity(severity)});
      },
      nb::arg("severity"));
}

}  // namespace touchstone::python
