// The signatures of every version of every operator, as data. Written by codegen/emit_schema.py from spec/ops; edit there.
#include <cstddef>

#include "model/schema.h"

namespace touchstone {

extern const Signature signature_table[];
extern const std::size_t signature_count;

namespace {

using namespace std::string_view_literals;

// Lists of types, each written once.
constexpr std::string_view types_1[] = {
    "tensor(float)"sv, "tensor(float16)"sv, "tensor(double)"sv
};
constexpr std::string_view types_2[] = {
    "seq(tensor(int8))"sv, "map(int64,tensor(float))"sv
};
constexpr std::string_view types_3[] = {
    "tensor(float)"sv, "tensor(float16)"sv, "tensor(double)"sv, "tensor(bfloat16)"sv
};

// Toy-1, from spec/ops/ai.onnx/Toy.yaml:6.
constexpr ParameterSpec toy_1_inputs[] = {
    {.name = "x"sv, .type = "T"sv},
    {.name = "more"sv, .type = "tensor(int64)"sv, .variadic = true, .homogeneous = false, .least = 0},
};
constexpr ParameterSpec toy_1_outputs[] = {
    {.name = "y"sv, .type = "T"sv, .optional = true},
    {.name = "z"sv, .type = "seq(tensor(float))"sv},
};
constexpr AttributeSpec toy_1_attributes[] = {
    {.name = "gain"sv, .kind = "float"sv, .default_json = "0.001"sv},
    {.name = "names"sv, .kind = "strings"sv, .default_json = "[\"a\\\"b\", \"\"]"sv},
    {.name = "to"sv, .kind = "int"sv, .required = true},
};
constexpr ConstraintSpec toy_1_types[] = {
    {.name = "T"sv, .types = types_1},
    {.name = "M"sv, .types = types_2},
};

// Toy-3, from spec/ops/ai.onnx/Toy.yaml:5.
constexpr ConstraintSpec toy_3_types[] = {
    {.name = "T"sv, .types = types_3},
    {.name = "M"sv, .types = types_2},
};

}  // namespace

constinit const Signature signature_table[] = {
    {.domain = ""sv, .op = "Toy"sv, .since = 1, .deprecated = false,
     .form = "elementwise"sv, .kind = "semantics"sv,
     .doc = "Doubles every element of `x`, \"quoted\" or not."sv,
     .source = "spec/ops/ai.onnx/Toy.yaml:6"sv,
     .inputs = toy_1_inputs, .outputs = toy_1_outputs,
     .attributes = toy_1_attributes, .types = toy_1_types},
    {.domain = ""sv, .op = "Toy"sv, .since = 3, .deprecated = true,
     .form = "elementwise"sv, .kind = "semantics"sv,
     .doc = "Doubles every element of `x`, \"quoted\" or not."sv,
     .source = "spec/ops/ai.onnx/Toy.yaml:5"sv,
     .inputs = toy_1_inputs, .outputs = toy_1_outputs,
     .attributes = {}, .types = toy_3_types},
};
constinit const std::size_t signature_count = 2;

}  // namespace touchstone
