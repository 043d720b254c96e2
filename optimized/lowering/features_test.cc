// Tests the families of features and encoders against the reference: every element has its bits,
// and errors are its own.
#include <gmock/gmock.h>

#include "optimized/lowering/ml_testing.h"

namespace touchstone::optimized::ml {
namespace {

constexpr long double nan = std::numeric_limits<float>::quiet_NaN();
constexpr long double infinity = std::numeric_limits<float>::infinity();
constexpr Type feature_types[] = {Type::float32, Type::float64, Type::int32, Type::int64};

Tensor rows_of(Type type, const Shape& shape) {
  if (!facts(type).is_float)
    return numbers_of(type, shape, {3, -1, 0, 16777217, 7, -33554435, 2147483647, 1, 0, 5, -12});
  return numbers_of(
      type, shape,
      {1.5L, -2, 0, nan, 0.1L, 7, -0.0L, infinity, 3, 0, -infinity, 1e-3L, -5, 0.3L, 2, 11, -4});
}

std::string checked(const std::string& op, const Attributes& attributes, const Tensor& x,
                    Type made) {
  const Feeds feeds{{"x", x}};
  return check(one_node(op, attributes, feeds, {made}), feeds);
}

const std::vector<Shape> shapes_of_rows{{71, 5}, {1, 5}, {5}, {2000, 5}, {0, 5}, {4, 0}, {3, 1}};

TEST(Features, Normalizers) {
  for (const char* norm : {"MAX", "L1", "L2"}) {
    for (const Type type : feature_types) {
      for (const Shape& shape : shapes_of_rows) {
        EXPECT_EQ(checked("Normalizer", {{"norm", attribute(std::string(norm))}},
                          rows_of(type, shape), Type::float32),
                  "features; ");
      }
    }
  }
  const Feeds feeds{{"x", rows_of(Type::float32, {2, 2, 2})}};
  check_error(one_node("Normalizer", {}, feeds, {Type::float32}), feeds);
}

TEST(Features, NormalizersOfRowsOfZeros) {
  for (const char* norm : {"MAX", "L1", "L2"}) {
    const Tensor x = numbers_of(Type::float32, {9, 2}, {0, -0.0L, 0, -1, 1e-30L, 1e30L});
    checked("Normalizer", {{"norm", attribute(std::string(norm))}}, x, Type::float32);
  }
}

TEST(Features, Scalers) {
  const std::vector<float> many{0.5F, -1, 3, 0, 1e-3F}, one{0.25F};
  for (const Type type : feature_types) {
    for (const auto& numbers : {many, one}) {
      for (const int which : {0, 1, 2, 3}) {
        Attributes all;
        if ((which & 1) != 0) all["offset"] = attribute(numbers);
        if ((which & 2) != 0) all["scale"] = attribute(numbers);
        for (const Shape& shape : {Shape{71, 5}, Shape{5}, Shape{2000, 5}, Shape{0, 5}})
          checked("Scaler", all, rows_of(type, shape), Type::float32);
      }
    }
    const Shape cube{2, 3, 4};
    checked("Scaler", {{"offset", attribute(one)}}, rows_of(type, cube), Type::float32);
    checked("Scaler", {{"scale", attribute(one)}}, rows_of(type, {}), Type::float32);
  }
  EXPECT_EQ(
      checked("Scaler", {{"scale", attribute(many)}}, rows_of(Type::int64, {3, 5}), Type::float32),
      "features; ");
  const Feeds feeds{{"x", rows_of(Type::float64, {2, 3, 5})}};
  check_error(one_node("Scaler", {{"offset", attribute(many)}}, feeds, {Type::float32}), feeds);
}

TEST(Features, Binarizers) {
  for (const Type type : feature_types) {
    for (const float threshold : {0.0F, -1.5F, 0.1F, 16777216.0F, -33554436.0F, 1e30F, -1e30F,
                                  static_cast<float>(nan), static_cast<float>(infinity)}) {
      if (type == Type::int32 && !(std::abs(threshold) < 0x1p31F)) continue;
      for (const Shape& shape : {Shape{71, 5}, Shape{}, Shape{2000, 5}, Shape{0, 5}})
        checked("Binarizer", {{"threshold", attribute(threshold)}}, rows_of(type, shape), type);
    }
    EXPECT_THAT(checked("Binarizer", {}, rows_of(type, {7, 3}), type),
                ::testing::Not(::testing::HasSubstr("reference")));
  }
}

TEST(Features, Imputers) {
  for (const Type type : feature_types) {
    const bool real = facts(type).is_float;
    for (const bool one : {false, true}) {
      for (const Shape& shape : {Shape{71, 3}, Shape{3}, Shape{2000, 3}, Shape{2, 4, 3}}) {
        for (const float gap : {static_cast<float>(nan), 0.0F, 0.1F, 7.0F}) {
          Attributes all;
          if (real) {
            all["imputed_value_floats"] =
                attribute(one ? std::vector<float>{9} : std::vector<float>{1.5F, -0.0F, 0.7F});
            all["replaced_value_float"] = attribute(gap);
          } else {
            all["imputed_value_int64s"] =
                attribute(one ? std::vector<Index>{9} : std::vector<Index>{1, -2, 3});
            all["replaced_value_int64"] = attribute(std::isnan(gap) ? Index{1} << 40 : Index{0});
          }
          checked("Imputer", all, rows_of(type, shape), type);
        }
      }
    }
  }
  EXPECT_EQ(checked("Imputer", {{"imputed_value_int64s", attribute(std::vector<Index>{1})}},
                    rows_of(Type::int64, {3, 5}), Type::int64),
            "features; ");
  const Feeds feeds{{"x", rows_of(Type::float64, {2, 3})}};
  const Attributes four{{"imputed_value_floats", attribute(std::vector<float>{1, 2, 3, 4})}};
  check_error(one_node("Imputer", four, feeds, {Type::float64}), feeds);
}

TEST(Features, Vectorizers) {
  for (const Type type : feature_types) {
    for (const bool given : {false, true}) {
      Attributes all;
      if (given) all["inputdimensions"] = attribute(std::vector<Index>{2, 0, 5});
      for (const Index rows : {1, 70, 0}) {
        const Feeds feeds{{"a", rows_of(type, {rows, 3})},
                          {"b", rows_of(type, {rows, 1})},
                          {"c", rows == 1 ? rows_of(type, {4}) : rows_of(type, {rows, 4})}};
        EXPECT_EQ(check(one_node("FeatureVectorizer", all, feeds, {Type::float32}), feeds),
                  "features; ");
      }
    }
  }
  const Feeds feeds{{"a", rows_of(Type::float32, {2, 3})}, {"b", rows_of(Type::float32, {3, 3})}};
  check_error(one_node("FeatureVectorizer", {}, feeds, {Type::float32}), feeds);
}

TEST(Features, Extractors) {
  const Tensor texts = strings({"one", "", "three is a longer text than fits in place", "four"});
  const std::vector<Tensor> lists{numbers_of(Type::int64, {3}, {2, 0, 2}),
                                  numbers_of(Type::int64, {2, 600}, {1, 3, 0}),
                                  numbers_of(Type::int64, {}, {1}), Tensor(Type::int64, {0})};
  for (const Tensor& at : lists) {
    for (const Shape& shape : {Shape{4}, Shape{70, 4}, Shape{2, 3, 4}, Shape{0, 4}}) {
      for (const Type type : feature_types) {
        const Feeds feeds{{"x", rows_of(type, shape)}, {"z", at}};
        EXPECT_EQ(check(one_node("ArrayFeatureExtractor", {}, feeds, {type}), feeds), "features; ");
      }
    }
    const Feeds feeds{{"x", texts}, {"z", at}};
    EXPECT_EQ(check(one_node("ArrayFeatureExtractor", {}, feeds, {Type::string}), feeds),
              "features; ");
  }
  for (const Index at : {4, -1}) {
    const Feeds feeds{{"x", rows_of(Type::int64, {2, 4})},
                      {"z", numbers_of(Type::int64, {1}, {static_cast<long double>(at)})}};
    check_error(one_node("ArrayFeatureExtractor", {}, feeds, {Type::int64}), feeds);
  }
}

const std::vector<std::string> names{"a", "", "c", "a text that is longer than fits in place", "c"};

TEST(Encoders, LabelsOfLists) {
  const std::vector<float> reals{1.5F, static_cast<float>(nan), -0.0F, 7, 0.0F};
  const std::vector<Index> integers{5, -1, 7, Index{1} << 60, 7};
  for (const Index version : {2, 4}) {
    for (const char* from : {"float", "int64", "string"}) {
      for (const char* to : {"float", "int64", "string"}) {
        Attributes all;
        const auto set = [&](const std::string& side, const std::string& type) {
          if (type == "float") all[side + "_floats"] = attribute(reals);
          if (type == "int64") all[side + "_int64s"] = attribute(integers);
          if (type == "string") all[side + "_strings"] = attribute(names);
          return type == "float" ? Type::float32 : type == "int64" ? Type::int64 : Type::string;
        };
        const Type key = set("keys", from), value = set("values", to);
        const Tensor texts = strings({"c", "a", "b", "", names[3], "d"});
        const Tensor x = key == Type::string ? texts : rows_of(key, {40, 5});
        const Feeds feeds{{"x", x}};
        EXPECT_EQ(check(one_node("LabelEncoder", all, feeds, {value}, version), feeds),
                  "encoder; ");
      }
    }
  }
}

TEST(Encoders, LabelsOfTensors) {
  const std::vector<Type> types{Type::float32, Type::float64, Type::int16, Type::int32,
                                Type::int64};
  for (const Type key : types) {
    for (const Type value : types) {
      Attributes all{{"keys_tensor", attribute(numbers_of(key, {6}, {0, 7, -1, 3, 7, 100}))},
                     {"values_tensor", attribute(numbers_of(value, {6}, {1, 2, -3, 4, 5, 6}))}};
      const Feeds feeds{{"x", numbers_of(key, {3, 40}, {7, 0, 8, 100, -1, 3, 200, -2})}};
      EXPECT_EQ(check(one_node("LabelEncoder", all, feeds, {value}, 4), feeds), "encoder; ");
      all["default_tensor"] = attribute(numbers_of(value, {1}, {11}));
      EXPECT_EQ(check(one_node("LabelEncoder", all, feeds, {value}, 4), feeds), "encoder; ");
    }
  }
}

TEST(Encoders, ManyKeys) {
  std::vector<Index> keys, values;
  for (Index k = 0; k < 3000; ++k) keys.push_back(k * k * 7919 % 100003), values.push_back(-k);
  const Attributes all{{"keys_int64s", attribute(keys)}, {"values_int64s", attribute(values)}};
  Tensor x(Type::int64, {9000});
  for (Index k = 0; k < x.size(); ++k) x.data<std::int64_t>()[k] = k * 11 % 100003;
  EXPECT_EQ(checked("LabelEncoder", all, x, Type::int64), "encoder; ");
}

TEST(Encoders, EarlyLabelsAndCategories) {
  const Attributes classes{{"classes_strings", attribute(names)}};
  const Tensor texts = strings({"c", "a", "b", "", names[3]});
  const Tensor places = numbers_of(Type::int64, {2, 4}, {0, 2, -1, 3, 5});
  Attributes both{{"cats_strings", attribute(names)},
                  {"cats_int64s", attribute(std::vector<Index>{4, 2, 3, 5, 2})}};
  for (const bool text : {false, true}) {
    const Feeds feeds{{"x", text ? texts : places}};
    const Type made = text ? Type::int64 : Type::string;
    EXPECT_EQ(check(one_node("LabelEncoder", classes, feeds, {made}, 1), feeds), "encoder; ");
    EXPECT_EQ(check(one_node("CategoryMapper", both, feeds, {made}), feeds), "encoder; ");
  }
  both["cats_int64s"] = attribute(std::vector<Index>{4});
  const Feeds feeds{{"x", texts}};
  check_error(one_node("CategoryMapper", both, feeds, {Type::int64}), feeds);
}

TEST(Encoders, Columns) {
  const Attributes numbers{{"cats_int64s", attribute(std::vector<Index>{1, 3, 0, -12, 1, 7})}};
  const Attributes texts{{"cats_strings", attribute(names)}};
  for (const Type type : feature_types) {
    for (const Shape& shape : {Shape{40, 5}, Shape{}, Shape{0, 3}})
      EXPECT_EQ(checked("OneHotEncoder", numbers, rows_of(type, shape), Type::float32),
                "encoder; ");
  }
  const Tensor far = numbers_of(Type::float64, {4}, {-0x1p63L, 0x1p63L, 1.9L, -0.9L});
  checked("OneHotEncoder", numbers, far, Type::float32);
  EXPECT_EQ(checked("OneHotEncoder", texts, strings({"c", "z", ""}), Type::float32), "encoder; ");
  Attributes known = texts;
  known["zeros"] = attribute(Index{0});
  EXPECT_EQ(checked("OneHotEncoder", known, strings({"c", "a"}), Type::float32), "encoder; ");
  const Feeds feeds{{"x", strings({"c", "z"})}};
  check_error(one_node("OneHotEncoder", known, feeds, {Type::float32}), feeds);
}

TEST(Encoders, BrokenRules) {
  const Feeds feeds{{"x", numbers_of(Type::int64, {2}, {1, 2})}};
  Attributes all{{"keys_int64s", attribute(std::vector<Index>{1, 2})},
                 {"values_int64s", attribute(std::vector<Index>{1})}};
  check_error(one_node("LabelEncoder", all, feeds, {Type::int64}), feeds);
  all = {{"values_int64s", attribute(std::vector<Index>{1})}};
  check_error(one_node("LabelEncoder", all, feeds, {Type::int64}), feeds);
}

// Nothing says of which type a map's row is before the run, nor what depends on it.
TEST(Encoders, ATypeThatDependsOnAnUnknownOneIsUnknown) {
  Map map{Type::int64, tensor_type(Type::string), {}, {}};
  Tensor a(Type::string, Shape{});
  *a.data<std::string>() = "a";
  map.by_integer.emplace(8, Value(a));
  Value fed;
  fed.is = std::move(map);
  const Feeds feeds{{"x", fed}};
  Model made =
      one_node("DictVectorizer", {{"int64_vocabulary", attribute(std::vector<Index>{8, 7})}}, feeds,
               {Type::string});
  for (const auto& [from, to] : {std::pair("y0", "codes"), std::pair("codes", "texts")}) {
    Node& mapper = made.graph.nodes.emplace_back();
    mapper.domain = "ai.onnx.ml";
    mapper.op = "CategoryMapper";
    mapper.inputs = {from};
    mapper.outputs = {to};
    mapper.attributes = {{"cats_int64s", attribute(std::vector<Index>{4, 5})},
                         {"cats_strings", attribute(std::vector<std::string>{"a", "b"})}};
  }
  ValueInfo& output = made.graph.outputs[0];
  output.name = "texts";
  resolve(made);
  check(made, feeds);
}

}  // namespace
}  // namespace touchstone::optimized::ml
