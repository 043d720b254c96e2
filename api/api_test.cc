// Tests the C interface through its table and through the C++ header over it.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "api/testing.h"

namespace touchstone::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Api, VersionsOfTheTable) {
  ASSERT_NE(ts_get_api(1), nullptr);
  EXPECT_EQ(ts_get_api(1)->struct_size, sizeof(ts_api));
  EXPECT_EQ(ts_get_api(0), nullptr);
  EXPECT_EQ(ts_get_api(TS_API_VERSION + 1), nullptr);
}

TEST(Api, RunsAModelOnBothRuntimes) {
  for (const char* runtime : {"fast", "reference"}) {
    const ts::Session session = session_of(addition(), {{"runtime", runtime}, {"threads", "1"}});
    for (const std::int64_t n : {1, 2, 0}) {
      std::vector<float> x(static_cast<std::size_t>(n) * 3, 2), y(x.size(), 0.5F);
      const ts::Values out = session.run(
          {{"x", ts::Value::copy<float>({n, 3}, x)}, {"y", ts::Value::copy<float>({n, 3}, y)}});
      EXPECT_EQ(out.at("sum").dims(), (ts::Dims{n, 3}));
      const std::span<const float> sum = out.at("sum").span<float>();
      EXPECT_EQ(std::vector<float>(sum.begin(), sum.end()), std::vector<float>(x.size(), 2.5F));
    }
  }
}

TEST(Api, DescribesTheModel) {
  const ts::Session session = session_of(addition());
  const std::vector<ts::Port> inputs = session.inputs();
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].type, "tensor(float)");
  EXPECT_EQ(inputs[0].dims, (ts::Dims{-1, 3}));
  EXPECT_THAT(inputs[0].symbols, ElementsAre("n", ""));
  EXPECT_FALSE(inputs[0].has_default);
  EXPECT_FALSE(session.outputs().at(0).dims.has_value());
  EXPECT_EQ(session.metadata(), (std::map<std::string, std::string>{{"labels", "a,b"}}));
  ts_model_info info{};
  info.struct_size = sizeof info;
  ts::check(ts::api().session_info(session.handle(), &info));
  EXPECT_STREQ(info.description, "adds");
  EXPECT_EQ(info.version, -1);
}

TEST(Api, ErrorsHaveKindMessageAndJson) {
  const ts::Session session = session_of(addition());
  try {
    session.run({{"x", ts::Value::copy<float>({1, 3}, {1, 2, 3})}});
    FAIL() << "a missing input is taken";
  } catch (const ts::Error& error) {
    EXPECT_EQ(error.kind, TS_ERROR_USAGE);
    EXPECT_THAT(error.what(), HasSubstr("'y'"));
    EXPECT_THAT(error.json, HasSubstr("\"kind\":\"usage\""));
    EXPECT_THAT(error.json, HasSubstr("\"help\":"));
  }
  EXPECT_THROW(ts::Session("/nowhere/at/all.onnx"), ts::Error);
  const std::string broken = "this is no model";
  const std::span<const std::byte> bytes = std::as_bytes(std::span(broken));
  EXPECT_THROW(ts::Session{bytes}, ts::Error);
}

TEST(Api, OptionsAreParsedAndRefusedByName) {
  ts_options* options = nullptr;
  ts::check(ts::api().options_create(&options));
  const auto kind = [&](const char* name, const char* value) {
    return kind_of(ts::api().options_set(options, name, value));
  };
  for (const auto& [name, value] : std::map<const char*, const char*>{{"runtime", "quick"},
                                                                      {"threads", "-1"},
                                                                      {"level", "most"},
                                                                      {"winograd", "yes"},
                                                                      {"limits", "none"},
                                                                      {"deadline", "nan"},
                                                                      {"memory_limit", "0"},
                                                                      {"dim:", "3"},
                                                                      {"speed", "fast"}})
    EXPECT_EQ(kind(name, value), TS_ERROR_USAGE) << name;
  for (const auto& [name, value] : std::map<const char*, const char*>{{"runtime", "reference"},
                                                                      {"threads", "2"},
                                                                      {"level", "basic"},
                                                                      {"winograd", "0"},
                                                                      {"with_passes", ""},
                                                                      {"without_passes", ""},
                                                                      {"devices", "cpu"},
                                                                      {"deadline", "1.5"},
                                                                      {"memory_limit", "1000000"},
                                                                      {"limits", "untrusted"},
                                                                      {"dim:n", "2"}})
    EXPECT_EQ(kind(name, value), TS_ERROR_NONE) << name;
  ts::api().options_release(options);
  EXPECT_EQ(kind("threads", "1"), TS_ERROR_USAGE);  // released
}

TEST(Api, APresetOfLimitsKeepsLimitsSetByName) {
  const Model model = long_loop(100'000'000);
  try {
    const ts::Session session =
        session_of(model, {{"deadline", "0.05"}, {"limits", "trusted"}, {"level", "none"}});
    session.run({{"x", ts::Value::copy<float>({1}, {1})}});
    FAIL() << "the deadline is ignored";
  } catch (const ts::Error& error) {
    EXPECT_EQ(error.kind, TS_ERROR_LIMIT) << error.what();
  }
}

TEST(Api, StringsSequencesOptionalsAndMaps) {
  const ts::Value strings = ts::Value::strings({2}, {std::string("a\0b", 3), "\xc3\xa9"});
  EXPECT_THAT(strings.strings(), ElementsAre(std::string("a\0b", 3), "\xc3\xa9"));
  std::vector<ts::Value> items;
  items.push_back(ts::Value::copy<float>({1}, {1}));
  items.push_back(ts::Value::copy<float>({2}, {2, 3}));
  const ts::Value sequence = ts::Value::sequence("seq(tensor(float))", items);
  EXPECT_EQ(sequence.kind(), TS_KIND_SEQUENCE);
  EXPECT_EQ(sequence.type(), "seq(tensor(float))");
  ASSERT_EQ(sequence.size(), 2U);
  EXPECT_EQ(sequence[1].dims(), ts::Dims{2});
  EXPECT_THROW(sequence[2], ts::Error);
  EXPECT_THROW(ts::Value::sequence("seq(tensor(int64))", items), ts::Error);
  EXPECT_THROW(ts::Value::sequence("tensor(float)", items), ts::Error);
  EXPECT_THROW(ts::Value::sequence("seq(seq(", items), ts::Error);
  EXPECT_EQ(ts::Value::optional("optional(tensor(float))", nullptr).size(), 0U);
  EXPECT_EQ(ts::Value::optional("optional(tensor(float))", &items[1])[0].dims(), ts::Dims{2});
  const ts::Value keys = ts::Value::copy<std::int64_t>({2}, {7, -3});
  const ts::Value map = ts::Value::map("map(int64,tensor(float))", keys, items);
  EXPECT_EQ(map.kind(), TS_KIND_MAP);
  EXPECT_THAT(map.keys().span<std::int64_t>(), ElementsAre(-3, 7));
  EXPECT_EQ(map[0].dims(), ts::Dims{2});
  const ts::Value twice = ts::Value::copy<std::int64_t>({2}, {7, 7});
  EXPECT_THROW(ts::Value::map("map(int64,tensor(float))", twice, items), ts::Error);
  EXPECT_THROW(map.view(), ts::Error);
  EXPECT_THROW(keys.keys(), ts::Error);
}

TEST(Api, ACancelEndsRunsUntilItIsReset) {
  const ts::Session session = session_of(long_loop(100'000'000));
  const ts::Values x = [] {
    ts::Values made;
    made.emplace("x", ts::Value::copy<float>({1}, {1}));
    return made;
  }();
  ts::Cancel cancel;
  std::future<ts::Values> running = session.run_async(x, {}, {&cancel});
  cancel.request();
  try {
    running.get();
    FAIL() << "the cancel is ignored";
  } catch (const ts::Error& error) {
    EXPECT_EQ(error.kind, TS_ERROR_CANCELLED) << error.what();
  }
  const ts::Session brief = session_of(long_loop(3));
  EXPECT_THROW(brief.run(x, {}, {&cancel}), ts::Error);
  cancel.reset();
  EXPECT_THAT(brief.run(x, {}, {&cancel}).at("y").span<float>(), ElementsAre(0.125F));
}

TEST(Api, AsynchronousRunsOutliveTheirSession) {
  std::vector<std::future<ts::Values>> running;
  {
    const ts::Session session = session_of(long_loop(3));
    for (int k = 0; k < 4; ++k) {
      ts::Values x;
      x.emplace("x", ts::Value::copy<float>({1}, {8.0F * static_cast<float>(k)}));
      running.push_back(session.run_async(x));
    }
    EXPECT_THROW(session.run_async({}).get(), ts::Error);
  }
  for (int k = 0; k < 4; ++k)
    EXPECT_THAT(running[static_cast<std::size_t>(k)].get().at("y").span<float>(),
                ElementsAre(static_cast<float>(k)));
}

TEST(Api, ABindingReadsAndWritesInPlace) {
  const ts::Session session = session_of(addition(), {{"threads", "1"}});
  std::vector<float> x(6, 1), y(6, 2), sum(6);
  ts::Values in, out;
  in.emplace("x", ts::Value::wrap<float>({2, 3}, x));
  in.emplace("y", ts::Value::wrap<float>({2, 3}, y));
  out.emplace("sum", ts::Value::wrap<float>({2, 3}, sum));
  ts::Binding binding(session, in, out);
  for (const float from : {1.0F, 5.0F}) {
    std::fill(x.begin(), x.end(), from);
    binding.run();
    EXPECT_EQ(sum, std::vector<float>(6, from + 2));
  }
  const ts::Session reference = session_of(addition(), {{"runtime", "reference"}});
  EXPECT_THROW(ts::Binding(reference, in, out), ts::Error);
}

TEST(Api, ManyThreadsUseOneSessionWhileItIsReleased) {
  auto session = std::make_unique<ts::Session>(session_of(addition()));
  ts_session* const handle = session->handle();
  std::atomic<int> right{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const ts::Value x = ts::Value::copy<float>({1, 3}, {1, 2, static_cast<float>(t)});
      const char* const names[] = {"x", "y"};
      const ts_value* const values[] = {x.handle(), x.handle()};
      ts_run run{sizeof(ts_run), names, values, 2, nullptr, 1, nullptr, 0};
      for (int k = 0; k < 50; ++k) {
        ts_value* out = nullptr;
        if (ts_status* status = ts::api().session_run(handle, &run, &out)) {
          refused += kind_of(status) == TS_ERROR_USAGE;
        } else {
          right += ts::Value(out).span<float>()[2] == 2 * static_cast<float>(t);
        }
      }
    });
  }
  while (right < 20) std::this_thread::yield();
  session.reset();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right + refused, 200);
  EXPECT_GT(right, 0);
}

TEST(Api, AChildOfAForkOpensSessionsOfItsOwn) {
  const std::string bytes = bytes_of_model(addition());
  const ts::Session session(std::as_bytes(std::span(bytes)));
  const ts::Value x = ts::Value::copy<float>({1, 3}, {1, 2, 3});
  const char* const names[] = {"x", "y"};
  const ts_value* const values[] = {x.handle(), x.handle()};
  ts_run run{sizeof(ts_run), names, values, 2, nullptr, 1, nullptr, 0};
  const pid_t child = fork();
  if (child == 0) {
    ts_value* out = nullptr;
    const bool refuses =
        kind_of(ts::api().session_run(session.handle(), &run, &out)) == TS_ERROR_USAGE;
    ts_session* own = nullptr;
    const bool opens = kind_of(ts::api().session_open_bytes(bytes.data(), bytes.size(), nullptr,
                                                            &own)) == TS_ERROR_NONE &&
                       kind_of(ts::api().session_run(own, &run, &out)) == TS_ERROR_NONE;
    _exit(refuses ? opens ? 0 : 2 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace touchstone::api
