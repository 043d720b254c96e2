// Tests the C interface with wrong calls: each ends in a status, and none changes its outputs.
#include <array>
#include <functional>

#include "api/dlpack.h"
#include "api/testing.h"

namespace touchstone::api {
namespace {

// All functions of the table that return a status, called with null for every pointer.
TEST(BadCalls, Null) {
  const ts_api& api = ts::api();
  const std::vector<std::function<ts_status*()>> calls{
      [&] { return api.options_create(nullptr); },
      [&] { return api.options_set(nullptr, nullptr, nullptr); },
      [&] { return api.session_open(nullptr, nullptr, nullptr); },
      [&] { return api.session_open_bytes(nullptr, 1, nullptr, nullptr); },
      [&] { return api.session_input_count(nullptr, nullptr); },
      [&] { return api.session_input(nullptr, 0, nullptr); },
      [&] { return api.session_output_count(nullptr, nullptr); },
      [&] { return api.session_output(nullptr, 0, nullptr); },
      [&] { return api.session_info(nullptr, nullptr); },
      [&] { return api.session_property(nullptr, 0, nullptr, nullptr); },
      [&] { return api.session_placement(nullptr, nullptr); },
      [&] { return api.tensor_create(TS_TYPE_FLOAT, nullptr, 1, nullptr); },
      [&] { return api.tensor_wrap(TS_TYPE_FLOAT, nullptr, 1, nullptr, 4, nullptr); },
      [&] { return api.tensor_create_strings(nullptr, 1, nullptr, nullptr, nullptr); },
      [&] { return api.tensor_view(nullptr, nullptr); },
      [&] { return api.tensor_string(nullptr, 0, nullptr, nullptr); },
      [&] { return api.value_kind(nullptr, nullptr); },
      [&] { return api.value_type(nullptr, nullptr); },
      [&] { return api.sequence_create(nullptr, nullptr, 1, nullptr); },
      [&] { return api.optional_create(nullptr, nullptr, nullptr); },
      [&] { return api.map_create(nullptr, nullptr, nullptr, 1, nullptr); },
      [&] { return api.value_count(nullptr, nullptr); },
      [&] { return api.value_item(nullptr, 0, nullptr); },
      [&] { return api.map_keys(nullptr, nullptr); },
      [&] { return api.value_from_dlpack(nullptr, nullptr); },
      [&] { return api.value_to_dlpack(nullptr, nullptr); },
      [&] { return api.cancel_create(nullptr); },
      [&] { return api.cancel_request(nullptr); },
      [&] { return api.cancel_reset(nullptr); },
      [&] { return api.session_run(nullptr, nullptr, nullptr); },
      [&] { return api.session_run_async(nullptr, nullptr, nullptr, nullptr); },
      [&] {
        return api.binding_create(nullptr, nullptr, nullptr, 1, nullptr, nullptr, 1, nullptr);
      },
      [&] { return api.binding_run(nullptr, nullptr, 0); },
      [&] { return api.log_to(nullptr, nullptr, static_cast<ts_severity>(7)); },
      [&] { return api.status_create(TS_ERROR_USAGE, nullptr, nullptr); },
      [&] { return api.options_set_executor(nullptr, nullptr, nullptr); },
      [&] { return api.options_add_operator(nullptr, nullptr); },
      [&] { return api.node_name(nullptr, nullptr); },
      [&] { return api.node_attribute(nullptr, nullptr, nullptr); },
      [&] { return api.node_set_output(nullptr, 0, nullptr, 1, nullptr); }};
  for (std::size_t k = 0; k < calls.size(); ++k)
    EXPECT_EQ(kind_of(calls[k]()), TS_ERROR_USAGE) << k;
  // The other entries: size and version, library_version, three of a status, six releases.
  constexpr std::size_t others = 1 + 1 + 3 + 6, head = 2;
  EXPECT_EQ(sizeof(ts_api) / sizeof(void*), head + calls.size() + others - 1)
      << "an entry of the table is not called with null";
  api.options_release(nullptr), api.session_release(nullptr), api.value_release(nullptr);
  api.cancel_release(nullptr), api.binding_release(nullptr), api.status_release(nullptr);
  EXPECT_EQ(api.status_kind(nullptr), TS_ERROR_NONE);
  EXPECT_STREQ(api.status_message(nullptr), "");
  EXPECT_STREQ(api.status_json(nullptr), "");
}

TEST(BadCalls, HandlesThatWereReleasedOrAreOfAnotherKind) {
  const ts_api& api = ts::api();
  ts_value* value = nullptr;
  const std::int64_t dims[] = {2};
  ts::check(api.tensor_create(TS_TYPE_FLOAT, dims, 1, &value));
  ts_tensor view{};
  view.struct_size = sizeof view;
  EXPECT_EQ(kind_of(api.tensor_view(value, &view)), TS_ERROR_NONE);
  api.value_release(value);
  api.value_release(value);
  EXPECT_EQ(kind_of(api.tensor_view(value, &view)), TS_ERROR_USAGE);
  ts_value* other = nullptr;
  ts::check(api.tensor_create(TS_TYPE_FLOAT, dims, 1, &other));
  EXPECT_NE(other, value) << "a handle is used twice";
  int on_stack = 0;
  std::size_t count = 77;
  for (const void* wrong : {static_cast<const void*>(&on_stack), static_cast<const void*>(value),
                            reinterpret_cast<const void*>(std::uintptr_t{3})}) {
    EXPECT_EQ(kind_of(api.session_input_count(static_cast<const ts_session*>(wrong), &count)),
              TS_ERROR_USAGE);
    api.session_release(static_cast<ts_session*>(const_cast<void*>(wrong)));
  }
  EXPECT_EQ(count, 77U);
  EXPECT_EQ(kind_of(api.tensor_view(other, &view)), TS_ERROR_NONE);
  api.value_release(other);
  ts_status* made = reinterpret_cast<ts_status*>(std::uintptr_t{5});
  EXPECT_EQ(kind_of(api.status_create(static_cast<ts_error>(12), "m", &made)), TS_ERROR_USAGE);
  EXPECT_EQ(kind_of(api.status_create(TS_ERROR_NONE, "m", &made)), TS_ERROR_USAGE);
  EXPECT_EQ(made, reinterpret_cast<ts_status*>(std::uintptr_t{5}));
  const char* name = nullptr;
  const auto* const node = reinterpret_cast<const ts_node*>(value);
  EXPECT_EQ(kind_of(api.node_name(node, &name)), TS_ERROR_USAGE);
  EXPECT_EQ(
      kind_of(api.options_set_executor(reinterpret_cast<ts_options*>(value), nullptr, nullptr)),
      TS_ERROR_USAGE);
  ts_status* error = api.value_kind(value, nullptr);
  api.status_release(error);
  EXPECT_EQ(api.status_kind(error), TS_ERROR_USAGE);
  EXPECT_STREQ(api.status_message(error), "");
}

TEST(BadCalls, ShapesAndMemoryThatDoNotFit) {
  const ts_api& api = ts::api();
  alignas(8) std::array<float, 8> memory{};
  ts_value* const before = reinterpret_cast<ts_value*>(std::uintptr_t{5});
  ts_value* value = before;
  const std::int64_t dims[] = {2, 3}, negative[] = {2, -1},
                     huge[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  const std::vector<std::int64_t> many(1000, 1);
  const auto wrap = [&](ts_type type, const std::int64_t* shape, std::size_t rank, void* data,
                        std::size_t bytes) {
    return kind_of(api.tensor_wrap(type, shape, rank, data, bytes, &value));
  };
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, dims, 2, memory.data(), 20), TS_ERROR_USAGE);
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, dims, 2, memory.data(), 28), TS_ERROR_USAGE);
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, dims, 2, nullptr, 24), TS_ERROR_USAGE);
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, dims, 2, reinterpret_cast<char*>(memory.data()) + 1, 24),
            TS_ERROR_USAGE);
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, negative, 2, memory.data(), 24), TS_ERROR_USAGE);
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, huge, 2, memory.data(), 24), TS_ERROR_LIMIT);
  EXPECT_EQ(wrap(TS_TYPE_FLOAT, many.data(), many.size(), memory.data(), 4), TS_ERROR_LIMIT);
  EXPECT_EQ(wrap(TS_TYPE_STRING, dims, 2, memory.data(), 24), TS_ERROR_USAGE);
  EXPECT_EQ(wrap(TS_TYPE_UNDEFINED, dims, 2, memory.data(), 24), TS_ERROR_USAGE);
  EXPECT_EQ(wrap(static_cast<ts_type>(29), dims, 2, memory.data(), 24), TS_ERROR_USAGE);
  EXPECT_EQ(kind_of(api.tensor_create(TS_TYPE_FLOAT, huge, 2, &value)), TS_ERROR_LIMIT);
  EXPECT_EQ(value, before) << "an output changed on failure";
  ts_tensor view{};
  const ts::Value tensor = ts::Value::copy<float>({2}, {1, 2});
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), sizeof view + 1}) {
    view.struct_size = size;
    EXPECT_EQ(kind_of(api.tensor_view(tensor.handle(), &view)), TS_ERROR_USAGE);
  }
  view = {};
  view.struct_size = offsetof(ts_tensor, dims);  // a shorter structure of an older header
  EXPECT_EQ(kind_of(api.tensor_view(tensor.handle(), &view)), TS_ERROR_NONE);
  EXPECT_EQ(view.rank, 1);
  EXPECT_EQ(view.dims, nullptr);
}

TEST(BadCalls, Runs) {
  const ts_api& api = ts::api();
  const ts::Session session = session_of(addition());
  const ts::Value x = ts::Value::copy<float>({1, 3}, {1, 2, 3});
  const ts::Value ints = ts::Value::copy<std::int32_t>({1, 3}, {1, 2, 3});
  const ts::Value wide = ts::Value::copy<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  ts_value* const before = reinterpret_cast<ts_value*>(std::uintptr_t{5});
  const auto kind = [&](std::vector<const char*> names, std::vector<const ts_value*> values,
                        std::vector<const char*> wanted, double deadline = 0) {
    ts_run run{sizeof(ts_run), names.data(),  values.data(), names.size(),
               wanted.data(),  wanted.size(), nullptr,       deadline};
    std::vector<ts_value*> out(wanted.size(), before);
    const ts_error found = kind_of(api.session_run(session.handle(), &run, out.data()));
    for (ts_value*& value : out) {
      EXPECT_EQ(value == before, found != TS_ERROR_NONE);
      api.value_release(value);
    }
    return found;
  };
  const ts_value *const a = x.handle(), *const b = ints.handle(), *const c = wide.handle();
  EXPECT_EQ(kind({"x", "y"}, {a, a}, {"sum"}), TS_ERROR_NONE);
  EXPECT_EQ(kind({"x", "y"}, {a, a}, {"total"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "y"}, {a, a}, {"sum", "sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "x"}, {a, a}, {"sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "z"}, {a, a}, {"sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", nullptr}, {a, a}, {"sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "y"}, {a, nullptr}, {"sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "y"}, {a, b}, {"sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "y"}, {a, c}, {"sum"}), TS_ERROR_USAGE);
  EXPECT_EQ(kind({"x", "y"}, {a, a}, {"sum"}, -1), TS_ERROR_USAGE);
  ts_run run{};
  ts_value* out = before;
  EXPECT_EQ(kind_of(api.session_run(session.handle(), &run, &out)), TS_ERROR_USAGE);
  run.struct_size = sizeof run;
  EXPECT_EQ(kind_of(api.session_run(session.handle(), &run, &out)), TS_ERROR_USAGE);
  EXPECT_EQ(out, before);
}

TEST(BadCalls, DlpackTensors) {
  const ts_api& api = ts::api();
  std::array<std::int16_t, 6> memory{1, 2, 3, 4, 5, 6};
  std::array<std::int64_t, 2> shape{3, 2}, strides{1, 3};
  static int deleted;
  deleted = 0;
  DlManaged managed{{memory.data(), {1, 0}, 2, {dl_int, 16, 1}, shape.data(), strides.data(), 0},
                    nullptr,
                    [](DlManaged*) { ++deleted; }};
  ts_value* value = nullptr;
  ts::check(api.value_from_dlpack(&managed, &value));
  EXPECT_EQ(deleted, 1);
  const ts::Value transposed(value);
  EXPECT_THAT(transposed.span<std::int16_t>(), ::testing::ElementsAre(1, 4, 2, 5, 3, 6));
  const auto kind = [&] { return kind_of(api.value_from_dlpack(&managed, &value)); };
  managed.tensor.device.type = 2;
  EXPECT_EQ(kind(), TS_ERROR_UNSUPPORTED);
  managed.tensor.device.type = 1;
  managed.tensor.type.lanes = 4;
  EXPECT_EQ(kind(), TS_ERROR_UNSUPPORTED);
  managed.tensor.type = {dl_int, 16, 1};
  managed.tensor.rank = 65;
  EXPECT_EQ(kind(), TS_ERROR_LIMIT);
  managed.tensor.rank = 2;
  shape[0] = -1;
  EXPECT_EQ(kind(), TS_ERROR_USAGE);
  EXPECT_EQ(deleted, 1) << "a tensor that was refused is taken over";
  void* exported = nullptr;
  ts::check(api.value_to_dlpack(transposed.handle(), &exported));
  auto* out = static_cast<DlManaged*>(exported);
  EXPECT_EQ(out->tensor.shape[1], 2);
  EXPECT_EQ(static_cast<std::int16_t*>(out->tensor.data)[1], 4);
  out->deleter(out);
  const ts::Value strings = ts::Value::strings({1}, {"a"});
  EXPECT_EQ(kind_of(api.value_to_dlpack(strings.handle(), &exported)), TS_ERROR_UNSUPPORTED);
}

}  // namespace
}  // namespace touchstone::api
