// Table of the format's rules. docs/model-rules.md lists the same rows; a test compares them.
#include "model/rules.h"

#include <algorithm>
#include <array>

namespace touchstone {
namespace {

constexpr ErrorKind invalid = ErrorKind::invalid_model;
constexpr ErrorKind unsupported = ErrorKind::unsupported;

constexpr FormatRule table[] = {
    {"model/parse", invalid, "the bytes are one ModelProto",
     "the file may be truncated, or not an ONNX model"},
    {"model/value-parse", invalid, "the bytes are one value of the type asked for",
     "the file may be truncated, or hold a value of another type"},
    {"model/ir-version", invalid, "ir_version is there and positive",
     "the file may be empty or not an ONNX model"},
    {"model/ir-unknown", unsupported, "ir_version is one that this build knows",
     "save the model with an older onnx"},
    {"model/opset-missing", invalid, "every domain that a node uses is imported with a version",
     "add the domain to opset_import"},
    {"model/opset-twice", invalid, "a domain is imported in one version",
     "keep one of the imports"},
    {"model/version-unknown", unsupported, "an imported version is one that this build knows",
     "convert the model to an older opset"},
    {"model/operator-unknown", unsupported,
     "every node is an operator of its opset, or a function of the model",
     "check the spelling, the domain and the imported version"},
    {"model/function-twice", invalid, "domain, name and overload of a function are its own",
     "rename one of them"},
    {"model/function-recursion", invalid, "no function calls itself, directly or through others",
     "inline one of the calls"},
    {"model/derivative", invalid,
     "a derivative is of a value that its graph makes of the values it is asked for and of "
     "constants",
     "name in xs and zs all that y depends on, once each and in the order of the inputs"},
    {"model/cycle", invalid, "no node depends on its own outputs",
     "break the cycle that the path shows"},
    {"model/order", invalid, "a node stands behind those that produce its inputs",
     "sort the nodes topologically"},
    {"model/undefined-name", invalid,
     "every value that is used is an input, an initializer or an output of a node",
     "check the spelling of the name"},
    {"model/ssa", invalid, "every value is defined once, outer graphs included",
     "rename one of the values"},
    {"model/name-empty", invalid, "inputs, outputs and initializers of a graph have names",
     "name the value"},
    {"model/output-undefined", invalid, "a graph produces each of its outputs itself",
     "add a node that produces it, or drop the output"},
    {"model/initializer-twice", invalid, "an initializer's name is its own", "keep one of them"},
    {"model/initializer-input", invalid, "before IR version 4 every initializer is an input too",
     "declare it as an input, or raise ir_version"},
    {"model/initializer-type", invalid,
     "an initializer has the type and shape of the input that it is the default of",
     "correct the declaration"},
    {"model/tensor-type", invalid, "a tensor has an element type", "set data_type"},
    {"model/type-unknown", unsupported, "a type is one of the 28 element types or their containers",
     "this type is newer than this build, or opaque"},
    {"model/tensor-shape", invalid, "dimensions are not negative", "correct dims"},
    {"model/tensor-data", invalid, "one field holds exactly the data that type and shape need",
     "write raw_data, or the field that belongs to the type"},
    {"model/tensor-segment", unsupported, "a tensor is stored in one piece", "join the segments"},
    {"model/sparse", invalid,
     "a sparse tensor has as many indices as values, ascending and inside its shape",
     "correct values, indices or dims"},
    {"model/external-data", invalid,
     "external data names a file, and a range inside it, each key once",
     "correct location, offset and length"},
    {"model/type", invalid, "types are those that the signature admits, equal where it says so",
     "convert the value before the node"},
    {"model/type-declared", invalid, "a declared type is the one that the nodes give",
     "correct the declaration"},
    {"model/input-type", invalid, "an input of the main graph declares its type", "add the type"},
    {"model/attribute-twice", invalid, "an attribute's name is its own at a node",
     "keep one of them"},
    {"model/attribute-value", invalid, "an attribute holds one value, of its own type",
     "set type and the field that belongs to it"},
    {"model/attribute-unknown", invalid, "attributes are those of the signature",
     "check the spelling and the imported version"},
    {"model/attribute-missing", invalid, "required attributes are there", "add the attribute"},
    {"model/attribute-kind", invalid, "an attribute is of the kind that the signature says",
     "correct its type"},
    {"model/attribute-reference", invalid,
     "a reference names an attribute of the function around it",
     "declare the attribute, or give the value itself"},
    {"model/input-count", invalid, "a node has as many inputs as the signature admits",
     "check the imported version"},
    {"model/input-missing", invalid, "required inputs are not left out", "give the input"},
    {"model/output-count", invalid, "a node has as many outputs as the signature admits",
     "check the imported version"},
    {"model/output-missing", invalid, "required outputs are not left out", "name the output"},
    {"model/deprecated", invalid, "the operator is not deprecated in the imported opset",
     "use what replaces it, or import an older opset"},
    {"shape/declared", invalid, "a declared shape does not contradict the one that the nodes give",
     "correct the declaration, or leave its dimensions open"},
    {"feed/name", ErrorKind::usage, "a feed has the name of an input of the main graph",
     "check the spelling"},
    {"feed/missing", ErrorKind::usage, "every input without a default is fed", "feed it"},
    {"feed/type", ErrorKind::usage, "a feed has the declared type of its input",
     "convert the value"},
    {"feed/shape", ErrorKind::usage, "a feed has the declared sizes, and one size for each symbol",
     "reshape the value, or correct the others"},
};

}  // namespace

std::span<const FormatRule> format_rules() { return table; }

Error breach(std::string_view id, std::string message) {
  for (const FormatRule& rule : table) {
    if (rule.id != id) continue;
    return Error(rule.kind, std::move(message))
        .with_rule(std::string(id), std::string(rule.text), "docs/model-rules.md")
        .with_help(std::string(rule.help));
  }
  BUG("a rule that the table does not have");
}

Error over_limit(std::string_view limit, Index asked, Index allowed) {
  return passes_limit(std::to_string(asked), limit, allowed);
}

std::size_t severity(const Error& error) {
  if (error.kind == ErrorKind::limit) return 0;
  const auto at = std::find_if(std::begin(table), std::end(table),
                               [&](const FormatRule& rule) { return rule.id == error.rule; });
  return 1 + static_cast<std::size_t>(at - std::begin(table));
}

}  // namespace touchstone
