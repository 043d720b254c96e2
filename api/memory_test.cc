// Tests the C interface when memory runs out: every allocation of opening, running and describing
// fails once.
#include "api/testing.h"
#include "core/allocation_testing.h"

namespace touchstone::api {
namespace {

using touchstone::testing::allocations, touchstone::testing::counted, touchstone::testing::failing;

// Fails allocation after allocation of `work`, until it succeeds. `work` calls `begin` and returns
// a status, which must be null or of kind out_of_memory. Returns the number of failures.
template <class F>
Index failures_of(F work) {
  for (Index k = 1;; ++k) {
    Index at = 0;
    const auto begin = [&] { failing = at = allocations + k; };
    ts_status* const status = work(begin);
    failing = -1;
    const ts_error kind = kind_of(status);
    if (allocations < at) {
      EXPECT_EQ(kind, TS_ERROR_NONE);
      return k - 1;
    }
    // A failed allocation may be one that the library can do without.
    EXPECT_TRUE(kind == TS_ERROR_OUT_OF_MEMORY || kind == TS_ERROR_NONE) << k << ": kind " << kind;
  }
}

TEST(ApiMemory, OpeningASession) {
  const std::string bytes = bytes_of_model(addition());
  for (const char* runtime : {"fast", "reference"}) {
    const Index failures = failures_of([&](auto begin) {
      ts_options* options = nullptr;
      ts::check(ts::api().options_create(&options));
      ts::check(ts::api().options_set(options, "runtime", runtime));
      ts::check(ts::api().options_set(options, "threads", "1"));
      ts_session* session = nullptr;
      begin();
      ts_status* const status =
          ts::api().session_open_bytes(bytes.data(), bytes.size(), options, &session);
      failing = -1;
      EXPECT_EQ(session == nullptr, status != nullptr);
      ts::api().session_release(session);
      ts::api().options_release(options);
      return status;
    });
    EXPECT_GT(failures, 50) << runtime;
  }
}

TEST(ApiMemory, RunningASession) {
  for (const char* runtime : {"fast", "reference"}) {
    const ts::Session session = session_of(addition(), {{"runtime", runtime}, {"threads", "1"}});
    const ts::Value x = ts::Value::copy<float>({1, 3}, {1, 2, 3});
    const char* const names[] = {"x", "y"};
    const ts_value* const values[] = {x.handle(), x.handle()};
    const ts_run run{sizeof(ts_run), names, values, 2, nullptr, 1, nullptr, 0};
    const Index failures = failures_of([&](auto begin) {
      ts_value* out = nullptr;
      begin();
      ts_status* const status = ts::api().session_run(session.handle(), &run, &out);
      failing = -1;
      EXPECT_EQ(out == nullptr, status != nullptr);
      if (out) {
        EXPECT_THAT(ts::Value(out).span<float>(), ::testing::ElementsAre(2, 4, 6));
      }
      return status;
    });
    EXPECT_GT(failures, 5) << runtime;
  }
}

TEST(ApiMemory, Values) {
  const std::int64_t dims[] = {2};
  const char* const strings[] = {"a string that is too long to be stored inside of its object",
                                 "b"};
  const ts::Value item = ts::Value::copy<float>({1}, {1});
  const std::vector<std::function<ts_status*(ts_value**)>> makers{
      [&](ts_value** to) { return ts::api().tensor_create(TS_TYPE_FLOAT, dims, 1, to); },
      [&](ts_value** to) { return ts::api().tensor_create_strings(dims, 1, strings, nullptr, to); },
      [&](ts_value** to) {
        const ts_value* const items[] = {item.handle()};
        return ts::api().sequence_create("seq(tensor(float))", items, 1, to);
      }};
  for (const auto& maker : makers) {
    const Index failures = failures_of([&](auto begin) {
      ts_value* made = nullptr;
      begin();
      ts_status* const status = maker(&made);
      failing = -1;
      EXPECT_EQ(made == nullptr, status != nullptr);
      ts::api().value_release(made);
      return status;
    });
    EXPECT_GT(failures, 1);
  }
}

TEST(ApiMemory, ABindingAllocatesNothing) {
  const ts::Session session = session_of(addition(), {{"threads", "1"}});
  std::vector<float> x(6, 1), sum(6);
  const ts::Value in = ts::Value::wrap<float>({2, 3}, x), out = ts::Value::wrap<float>({2, 3}, sum);
  const char *const inputs[] = {"x", "y"}, *const outputs[] = {"sum"};
  const ts_value* const from[] = {in.handle(), in.handle()};
  ts_value* const to[] = {out.handle()};
  ts_binding* binding = nullptr;
  ts::check(ts::api().binding_create(session.handle(), inputs, from, 2, outputs, to, 1, &binding));
  ts::check(ts::api().binding_run(binding, nullptr, 0));
  for (int k = 0; k < 3; ++k) {
    ts_status* status = nullptr;
    EXPECT_EQ(counted([&] { status = ts::api().binding_run(binding, nullptr, 0); }), 0);
    EXPECT_EQ(status, nullptr);
  }
  EXPECT_EQ(sum, std::vector<float>(6, 2));
  ts::api().binding_release(binding);
}

}  // namespace
}  // namespace touchstone::api
