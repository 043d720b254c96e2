// Tests elementwise nodes, reductions and positions of extremes on elements of every type: they
// have the reference's bits, and run on no reference kernel.
#include <gmock/gmock.h>

#include <limits>

#include "core/numbers/convert.h"
#include "optimized/lowering/flow_testing.h"

namespace touchstone::optimized::flow {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<Type> wide{Type::int32, Type::uint32, Type::int64, Type::uint64, Type::float64};

const std::vector<Index> mixture{3, -7, 0, 127, -128, 5, 5, -1, 2, 64, -2, 9, 1, -3};

Attribute real(float value) { return {value, {}, {}}; }
Attribute text(const std::string& value) { return {value, {}, {}}; }

Tensor doubles(const std::vector<double>& items) {
  Tensor made(Type::float64, {static_cast<Index>(items.size())});
  std::copy(items.begin(), items.end(), made.data<double>());
  return made;
}
Tensor all_kinds() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return doubles({0.0,     -0.0,  0.25,     -0.25,     0.75,
                  -0.9999, 1,     -1,       1.5,       -2.5,
                  3.5,     20,    -20,      700,       -745,
                  1e-300,  1e300, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()});
}

std::string one(const std::string& op, const std::vector<Tensor>& feeds,
                std::map<std::string, Attribute> attributes = {}, Index opset = 21) {
  Feeds named;
  std::vector<std::string> inputs;
  for (const Tensor& feed : feeds) {
    inputs.push_back("i" + std::to_string(inputs.size()));
    named.emplace(inputs.back(), feed);
  }
  SCOPED_TRACE(op + " of " + std::string(name(feeds[0].type())) + " in opset " +
               std::to_string(opset));
  std::string kernels =
      same(Build().node(op, inputs, {"y"}, std::move(attributes)).out("y"), named, opset);
  EXPECT_THAT(kernels, Not(HasSubstr("reference")));
  return kernels;
}

TEST(ElementTypes, FunctionsOfFloat64) {
  for (const char* const op :
       {"Abs",   "Acos",      "Acosh",     "Asin",     "Asinh",  "Atan",       "Atanh",
        "Ceil",  "Cos",       "Cosh",      "Erf",      "Floor",  "Gelu",       "HardSigmoid",
        "Log",   "LeakyRelu", "HardSwish", "Relu",     "Round",  "Reciprocal", "Sign",
        "Sin",   "Sinh",      "Softsign",  "Softplus", "Shrink", "Tan",        "ThresholdedRelu",
        "IsNaN", "IsInf",     "Neg"})
    one(op, {all_kinds()});
  for (const char* const op : {"LeakyRelu", "ThresholdedRelu", "HardSigmoid"})
    one(op, {all_kinds()}, {{"alpha", real(0.7F)}});
  one("Mish", {doubles({0.5, -0.0, -3, 40, -800, 1e300})});
  one("Shrink", {all_kinds()}, {{"bias", real(0.5F)}, {"lambd", real(1)}});
  one("IsInf", {all_kinds()}, {{"detect_negative", integer(0)}});
  one("Clip", {all_kinds()}, {{"min", real(-1)}}, 6);
  one("Clip", {all_kinds()}, {}, 6);
  const Tensor some = doubles({0.5, -0.0, -3, 40, -800});
  one("SwiGLU", {some, some}, {{"alpha", real(0.5F)}}, 28);
}

TEST(ElementTypes, FunctionsOfIntegers) {
  for (const Type type : integer_types) {
    const Tensor x = numbers(type, {14}, mixture), y = numbers(type, {2, 1}, {3, 9});
    for (const char* const op : {"Sign", "BitwiseNot", "Abs"}) one(op, {x});
    if (type != Type::uint64) one("Shrink", {x}, {{"bias", real(1.5F)}, {"lambd", real(1)}});
    for (const char* const op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) one(op, {x, y});
    for (const Index fmod : {0, 1}) one("Mod", {x, y}, {{"fmod", integer(fmod)}});
    for (const char* const way : {"LEFT", "RIGHT"}) {
      for (const Tensor& by : {y, numbers(type, {14}, {0, 1, 7, 8, 15, 31, 63, 64, 100, -1})})
        one("BitShift", {x, by}, {{"direction", text(way)}}, 28);
    }
    one("Clip", {x, numbers(type, {}, {2}), numbers(type, {}, {60})});
    one("Clip", {x, numbers(type, {}, {9}), numbers(type, {}, {3})});
    one("Erf", {x}, {}, 9);
    if (facts(type).is_signed) one("Relu", {x});
  }
}

TEST(ElementTypes, VariadicOperatorsFoldTheirOperands) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor a = doubles({-0.0, 1, nan, -infinity, 3}), b = doubles({-0.0, 2, 1, infinity, nan});
  for (const char* const op : {"Max", "Min", "Sum", "Mean"}) {
    for (const std::vector<Tensor>& feeds :
         {std::vector<Tensor>{a}, {a, b}, {a, b, doubles({2})}, {doubles({2}), a, b, a}})
      one(op, feeds);
    one(op, {numbers(Type::float64, {3, 700}, mixture), numbers(Type::float64, {700}, {4, 1}),
             numbers(Type::float64, {3, 1}, {7, 2, -5})});
  }
  one("Sum", {numbers(Type::float32, {3, 700}, mixture), numbers(Type::float32, {700}, {4, 1}),
              numbers(Type::float32, {3, 1}, {7, 2, -5}), numbers(Type::float32, {}, {3})});
  for (const Type type : integer_types) {
    for (const char* const op : {"Max", "Min"}) {
      one(op, {numbers(type, {14}, mixture), numbers(type, {3, 1}, {0, 5, -5}),
               numbers(type, {1}, {4})});
      one(op, {numbers(type, {14}, mixture)});
    }
  }
}

TEST(ElementTypes, PowersOfMixedTypes) {
  for (const Type base : {Type::int32, Type::int64, Type::float64}) {
    for (const Type power : integer_types) {
      one("Pow", {numbers(base, {4, 1}, {2, -3, 1, 10}), numbers(power, {5}, {0, 1, 2, 7, 63})});
    }
    for (const Type power : {Type::float32, Type::float64})
      one("Pow", {numbers(base, {4, 1}, {2, 3, 1, 10}), numbers(power, {3}, {0, 1, 5})});
  }
  one("Pow", {numbers(Type::float32, {300}, mixture), numbers(Type::int64, {300}, {2, 3, 1})});
  // Zero to a negative power is an error, which the reference raises.
  same(Build().node("Pow", {"x", "p"}, {"y"}).out("y"),
       {{"x", list({2, 0})}, {"p", list({-1, -1})}});
}

TEST(ElementTypes, OldVersionsBroadcastByAttributes) {
  for (const Type type : wide) {
    const Tensor a = numbers(type, {2, 3, 4}, mixture);
    const auto by = [](Index axis) -> std::map<std::string, Attribute> {
      return {{"broadcast", integer(1)}, {"axis", integer(axis)}};
    };
    for (const char* const op : {"Add", "Sub", "Mul"}) {
      one(op, {a, numbers(type, {3}, {5, 1, 2})}, by(1), 6);
      one(op, {a, numbers(type, {2, 3}, {5, 1, 2})}, by(0), 6);
      one(op, {a, numbers(type, {1}, {5})}, {{"broadcast", integer(1)}}, 6);
      one(op, {a, a}, {}, 6);
    }
  }
  const Tensor x = numbers(Type::float64, {2, 3, 2}, mixture);
  one("PRelu", {x, doubles({2, 3, 4})}, {}, 6);
  one("PRelu", {x, doubles({2})}, {}, 6);
  for (const Type type : wide) {
    const Tensor y = numbers(type, {2, 3, 2}, mixture);
    one("PRelu", {y, numbers(type, {3, 1}, {2, 3, 4})});
  }
}

TEST(ElementTypes, CastsOfTypesOfFewBits) {
  const std::vector<Type> all{Type::float32, Type::float64,      Type::int64,
                              Type::uint8,   Type::float16,      Type::bfloat16,
                              Type::boolean, Type::float8e4m3fn, Type::float8e5m2fnuz,
                              Type::int4,    Type::uint4,        Type::float4e2m1};
  for (const Type from : all) {
    Tensor x(from, {45});
    for (Index k = 0; k < x.size(); ++k)
      set_number(x, k, static_cast<long double>(k * 7 % 29) / 2 - 5, Saturate::yes);
    for (const Type to : all) {
      for (const Index saturate : {0, 1})
        one("Cast", {x}, {{"to", integer(static_cast<Index>(to))}, {"saturate", integer(saturate)}},
            23);
    }
  }
}

TEST(ElementTypes, CastsBetweenFloatsAndLikeAnotherTensor) {
  one("Cast", {all_kinds()}, {{"to", integer(1)}});
  one("Cast", {numbers(Type::float32, {14}, mixture)}, {{"to", integer(11)}});
  one("CastLike", {numbers(Type::int16, {14}, mixture), doubles({1})});
  one("CastLike", {numbers(Type::float64, {14}, mixture), list({1})});
}

// Calls take(axes, attributes) for axes of a tensor of rank 3.
template <class F>
void each_axes(F take) {
  for (const std::vector<Index>& axes :
       {std::vector<Index>{}, {0}, {1}, {-1}, {0, 2}, {1, 2}, {0, 1}, {2, 0, 1}}) {
    for (const Index keepdims : {0, 1}) take(axes, keepdims);
  }
}

TEST(Reductions, OfEveryTypeOverAnyAxes) {
  for (const Type type : wide) {
    const Tensor x = numbers(type, {3, 5, 19}, mixture);
    for (const char* const op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1",
                                 "ReduceSumSquare", "ReduceMean", "ReduceL2"}) {
      each_axes([&](const std::vector<Index>& axes, Index keepdims) {
        one(op, {x, list(axes)}, {{"keepdims", integer(keepdims)}});
        std::map<std::string, Attribute> given{{"keepdims", integer(keepdims)}};
        if (!axes.empty()) given["axes"] = integers(axes);
        one(op, {x}, given, 12);
      });
    }
    const Tensor positive = numbers(type, {4, 6}, {1, 3, 0, 20, 9, 7, 2});
    for (const char* const op : {"ReduceLogSum", "ReduceLogSumExp"}) {
      for (const Index axis : {0, 1}) one(op, {positive, list({axis})});
    }
    one("ReduceSum", {x, list({})}, {{"noop_with_empty_axes", integer(1)}});
    one("ReduceSum", {numbers(type, {2, 0}, {1}), list({1})});
    one("ReduceMax", {numbers(type, {2, 0}, {1}), list({1})});
  }
  for (const Type type : {Type::int8, Type::uint8, Type::boolean}) {
    const Tensor x = numbers(type, {3, 5, 19}, mixture);
    for (const char* const op : {"ReduceMax", "ReduceMin"}) {
      each_axes([&](const std::vector<Index>& axes, Index keepdims) {
        one(op, {x, list(axes)}, {{"keepdims", integer(keepdims)}});
      });
    }
  }
}

TEST(Reductions, SpecialNumbersAndManyElements) {
  for (const char* const op : {"ReduceMax", "ReduceMin", "ReduceLogSumExp"}) {
    Tensor x = all_kinds();
    one(op, {x, list({0})});
    one(op, {x.reshaped({4, 5}), list({0})});
    one(op, {x.reshaped({4, 5}), list({1})});
  }
  for (const char* const op : {"ReduceSum", "ReduceMax", "ReduceL1"})
    one(op, {numbers(Type::int32, {300, 401}, mixture), list({})});
  // An axis that is out of range, or named twice, is an error of the reference.
  for (const std::vector<Index>& axes : {std::vector<Index>{2}, {0, -2}})
    same(Build().node("ReduceSum", {"x", "a"}, {"y"}).out("y"),
         {{"x", numbers(Type::int64, {2, 3}, mixture)}, {"a", list(axes)}});
}

TEST(Extremes, PositionsInEveryType) {
  std::vector<Type> all = integer_types;
  all.insert(all.end(), {Type::float32, Type::float64});
  for (const Type type : all) {
    const Tensor x = numbers(type, {3, 41, 5}, mixture);
    for (const char* const op : {"ArgMax", "ArgMin"}) {
      for (const Index axis : {0, 1, -1}) {
        for (const Index last : {0, 1})
          one(op, {x}, {{"axis", integer(axis)}, {"select_last_index", integer(last)}});
      }
      one(op, {x}, {{"axis", integer(1)}, {"keepdims", integer(0)}}, 11);
    }
  }
}

TEST(Extremes, NanIsTheLargest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Tensor x(Type::float32, {4, 40});
  for (Index k = 0; k < x.size(); ++k)
    x.data<float>()[k] = k % 3 == 0 ? -infinity : static_cast<float>(k % 7);
  for (const Index k : {5, 21, 90, 133, 134}) x.data<float>()[k] = nan;
  for (Index k = 40; k < 80; ++k) x.data<float>()[k] = -infinity;
  for (const char* const op : {"ArgMax", "ArgMin"}) {
    for (const Index axis : {0, 1}) {
      for (const Index last : {0, 1})
        one(op, {x}, {{"axis", integer(axis)}, {"select_last_index", integer(last)}});
    }
  }
  for (const Index opset : {11, 21}) {
    for (const Index axis : {0, 1}) one("Hardmax", {x}, {{"axis", integer(axis)}}, opset);
  }
  one("Hardmax", {all_kinds().reshaped({2, 2, 5})}, {{"axis", integer(1)}});
}

// Movement that constants control, of types of 4 bits to 16 bytes, and movement by fed numbers.
TEST(Movement, OfEveryType) {
  for (const Type type : {Type::int4, Type::boolean, Type::int16, Type::float32, Type::int64,
                          Type::complex64, Type::complex128}) {
    Tensor x(type, {2, 4, 6, 3});
    for (std::size_t k = 0; k < x.bytes().size(); ++k)
      x.bytes()[k] = static_cast<std::byte>(type == Type::boolean ? k % 3 == 0 : k * 37 % 251);
    const auto moved = [&](const std::string& op, const Feeds& held,
                           std::map<std::string, Attribute> attributes, bool fed) {
      Build build;
      std::vector<std::string> inputs{"x"};
      Feeds feeds{{"x", x}};
      for (const auto& [name, value] : held) {
        inputs.push_back(name);
        if (fed)
          feeds.emplace(name, value);
        else
          build.hold(name, value.tensor());
      }
      SCOPED_TRACE(op + " of " + std::string(name(type)));
      build.node(op, inputs, {"y"}, std::move(attributes)).out("y");
      EXPECT_THAT(same(build, feeds, 23), Not(HasSubstr("reference")));
    };
    if (type != Type::int4) {
      moved("DepthToSpace", {}, {{"blocksize", integer(2)}}, false);
      moved("Trilu", {{"k", numbers(Type::int64, {}, {1})}}, {}, false);
    }
    moved("Transpose", {}, {{"perm", integers({3, 1, 0, 2})}}, false);
    const bool wide = type == Type::complex128, packed = type == Type::int4;
    for (const bool fed : {false, true}) {
      if (fed && (wide || packed)) continue;
      const Feeds pads{{"p", list({1, -1, 2, 0, 0, 2, -3, 1})}};
      for (const char* const mode : {"constant", "edge", "reflect", "wrap"})
        moved("Pad", pads, {{"mode", text(mode)}}, fed);
      if (packed) continue;
      moved("CenterCropPad", {{"s", list({3, 1, 9, 3})}}, {}, fed);
      moved("ReverseSequence", {{"s", list({2, 0, 1, 2})}}, {}, fed);
      moved("Trilu", {{"k", numbers(Type::int64, {}, {-2})}}, {{"upper", integer(0)}}, fed);
    }
  }
}

TEST(Movement, PlacesUpdatesRangesAndDiagonals) {
  for (const Type type : {Type::int8, Type::float32, Type::float64}) {
    const Tensor past = numbers(type, {2, 3, 5, 2}, mixture);
    const Tensor more = numbers(type, {2, 3, 2, 2}, {70, 71, 72});
    one("TensorScatter", {past, more, list({3, 0})}, {}, 24);
    one("TensorScatter", {past, more, list({4, 1})}, {{"mode", text("circular")}}, 24);
    one("TensorScatter", {past, more}, {}, 24);
    for (const Index k : {-4, -1, 0, 2, 9})
      one("EyeLike", {numbers(type, {3, 5}, mixture)}, {{"k", integer(k)}});
    one("EyeLike", {numbers(type, {3, 5}, mixture)}, {{"dtype", integer(9)}});
    if (facts(type).is_float) one("Dropout", {past});
  }
  for (const Type type : {Type::int16, Type::int32, Type::int64, Type::float64}) {
    const auto number = [&](Index n) { return numbers(type, {}, {n}); };
    one("Range", {number(3), number(50), number(7)});
    one("Range", {number(3), number(-50), number(-7)});
    one("Range", {number(3), number(1), number(7)});
  }
  for (const Type type : {Type::uint8, Type::int64, Type::float32, Type::float64})
    one("OneHot", {numbers(type, {4}, {0, 3, 1, 9}), numbers(type, {}, {4}), doubles({-1, 7})});
  one("BitCast", {numbers(Type::float32, {6}, mixture)}, {{"to", integer(6)}}, 26);
  // An index out of range is an error of the reference.
  same(Build().node("TensorScatter", {"p", "u", "w"}, {"y"}).out("y"),
       {{"p", numbers(Type::int8, {1, 1, 2, 1}, {1})},
        {"u", numbers(Type::int8, {1, 1, 1, 1}, {1})},
        {"w", list({2})}},
       24);
}

TEST(Products, OfFloat64AndIntegers) {
  for (const Type type : wide) {
    const Tensor a = numbers(type, {37, 19}, mixture), b = numbers(type, {19, 71}, mixture);
    one("MatMul", {a, b});
    one("MatMul", {a, numbers(type, {19}, mixture)});
    one("MatMul", {numbers(type, {19}, mixture), b});
    one("MatMul", {numbers(type, {2, 1, 3, 19}, mixture), numbers(type, {5, 19, 4}, mixture)});
    one("MatMul", {numbers(type, {3, 0}, {1}), numbers(type, {0, 2}, {1})});
    for (const Index turned : {0, 1}) {
      const Tensor x = numbers(type, turned ? Shape{19, 37} : Shape{37, 19}, mixture);
      const Tensor y = numbers(type, turned ? Shape{71, 19} : Shape{19, 71}, mixture);
      for (const Shape& shape : {Shape{71}, Shape{37, 1}, Shape{}, Shape{37, 71}})
        one("Gemm", {x, y, numbers(type, shape, mixture)},
            {{"transA", integer(turned)},
             {"transB", integer(turned)},
             {"alpha", real(2)},
             {"beta", real(-3)}});
    }
  }
  std::vector<Type> all = integer_types;
  all.push_back(Type::float64);
  for (const Type type : all) {
    const Tensor x = numbers(type, {3, 4, 5}, mixture), y = numbers(type, {3, 5, 6}, mixture);
    one("Einsum", {x, y}, {{"equation", text("bij,bjk->bik")}});
    one("Einsum", {x, y}, {{"equation", text("bij,bjk->kib")}});
    one("Einsum", {x, y}, {{"equation", text("bij,cjk->ikbc")}});
    one("Einsum", {x}, {{"equation", text("bij->jb")}});
  }
}

TEST(Products, RunningProducts) {
  for (const Type type : {Type::float32, Type::float64, Type::int32, Type::uint64}) {
    for (const Index way : {0, 1, 2, 3}) {
      for (const Index axis : {0, 1})
        one("CumProd", {numbers(type, {5, 7}, {1, 2, -1, 3}), numbers(Type::int64, {}, {axis})},
            {{"exclusive", integer(way & 1)}, {"reverse", integer(way >> 1)}}, 26);
    }
  }
}

// Folding gives the kernel a tensor without memory, which unpacking would read past.
TEST(Types, PackedElementsAreCountedByTheShapeAlone) {
  const Feeds feeds{{"x", Tensor(Type::int4, {64, 1024})}};
  same(Build().node("Size", {"x"}, {"y"}).out("y", Type::int64), feeds);
}

}  // namespace
}  // namespace touchstone::optimized::flow
