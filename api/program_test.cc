// Tests runs of one session at the same time, and what else a program gives to the library: a
// function for messages, its own threads.
#include <atomic>
#include <chrono>
#include <thread>

#include "api/program_testing.h"

namespace touchstone::api {
namespace {

using ::testing::HasSubstr, ::testing::IsEmpty;

// Runs that are inside of a node at the same time. Throws nothing: a test may not hang.
struct Gate {
  std::atomic<int> inside{0}, most{0};
  int wanted = 0;
  ts_status* pass(const ts_value* const* inputs, ts_value** outputs) {
    most = std::max<int>(most, ++inside);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (most < wanted && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    --inside;
    return tripled(nullptr, inputs, 1, outputs);
  }
};

TEST(Program, ManyRunsOfOneSessionOverlap) {
  for (const char* runtime : {"fast", "reference"}) {
    for (const char* threads : {"1", "2"}) {
      Gate gate;
      gate.wanted = 8;
      Functions functions;
      functions.compute = [&](const ts_node*, const ts_value* const* inputs, std::size_t,
                              ts_value** outputs) { return gate.pass(inputs, outputs); };
      const Given given(functions, "tensor(float)",
                        {{"runtime", runtime}, {"threads", threads}, {"concurrent_runs", "8"}});
      Opened session(scaled(), given);
      std::atomic<int> right{0};
      std::vector<std::thread> all;
      for (int t = 0; t < 8; ++t) {
        all.emplace_back([&, t] {
          const char* const in = "x";
          const auto first = static_cast<float>(t);
          const ts::Value x = ts::Value::copy<float>({1, 2}, {first, 1});
          const ts_value* const value = x.handle();
          const ts_run run{sizeof run, &in, &value, 1, nullptr, 1, nullptr, 0};
          for (int k = 0; k < 10; ++k) {
            ts_value* out = nullptr;
            ts::check(ts::api().session_run(session.handle, &run, &out));
            const ts::Value y(out);
            if (y.span<float>()[0] == 2 * first && y.span<float>()[1] == 2) ++right;
          }
        });
      }
      for (std::thread& thread : all) thread.join();
      EXPECT_EQ(gate.most, 8) << runtime << threads;
      EXPECT_EQ(right, 80);
    }
  }
}

TEST(Program, ARunThatWaitsEndsByItsDeadline) {
  Gate gate;
  gate.wanted = 2;  // that never come
  std::atomic<bool> in{false};
  Functions functions;
  functions.compute = [&](const ts_node*, const ts_value* const* inputs, std::size_t,
                          ts_value** outputs) {
    in = true;
    return gate.pass(inputs, outputs);
  };
  const Given given(functions, "tensor(float)", {{"concurrent_runs", "1"}});
  Opened session(scaled(), given);
  std::thread first([&] {
    const char* const name = "x";
    const ts::Value x = four();
    const ts_value* const value = x.handle();
    const ts_run run{sizeof run, &name, &value, 1, nullptr, 1, nullptr, 0};
    ts_value* out = nullptr;
    ts::check(ts::api().session_run(session.handle, &run, &out));
    ts::api().value_release(out);
  });
  while (!in) std::this_thread::yield();
  EXPECT_THAT(session.run(four(), 0.05), IsEmpty());
  EXPECT_EQ(session.kind(), TS_ERROR_LIMIT);
  EXPECT_EQ(gate.most, 1);
  gate.most = 2;
  first.join();
}

TEST(Program, MessagesGoToItsFunction) {
  struct Said {
    std::atomic<int> count{0};
    std::string last, category;
  } said;
  const ts_log log = [](void* user, ts_severity severity, const char* category,
                        const char* message) {
    auto& to = *static_cast<Said*>(user);
    EXPECT_EQ(severity, TS_SEVERITY_INFO);
    ++to.count;
    to.last = message, to.category = category;
  };
  Functions functions;
  functions.compute = tripled;
  const auto run = [&] {
    const Given given(functions);
    Opened(scaled(), given).run(four());
  };
  ts::check(ts::api().log_to(log, &said, TS_SEVERITY_WARNING));
  run();
  EXPECT_EQ(said.count, 0);
  ts::check(ts::api().log_to(log, &said, TS_SEVERITY_INFO));
  run();
  EXPECT_EQ(said.count, 1);
  EXPECT_EQ(said.category, "session");
  EXPECT_THAT(said.last, HasSubstr("slow: 'mine' (Scale) runs on the reference kernel"));
  ts::check(ts::api().log_to(nullptr, nullptr, TS_SEVERITY_INFO));
  run();
  EXPECT_EQ(said.count, 1);
}

TEST(Program, ItsThreadsDoTheWork) {
  struct Counted {
    std::atomic<int> calls{0}, tasks{0};
  } counted;
  const ts_parallel_for executor = [](void* user, std::size_t count,
                                      void (*task)(void*, std::size_t), void* context) {
    auto& to = *static_cast<Counted*>(user);
    ++to.calls;
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < count; ++k) threads.emplace_back(task, context, k);
    for (std::thread& thread : threads) thread.join();
    to.tasks += static_cast<int>(count);
  };
  ts_options* options = nullptr;
  ts::check(ts::api().options_create(&options));
  ts::check(ts::api().options_set(options, "threads", "4"));
  ts::check(ts::api().options_set_executor(options, executor, &counted));
  const std::string bytes = bytes_of_model(addition());
  ts_session* session = nullptr;
  ts::check(ts::api().session_open_bytes(bytes.data(), bytes.size(), options, &session));
  ts::api().options_release(options);
  const std::vector<float> many(300'000, 1.5F);
  const ts::Value x = ts::Value::copy<float>({100'000, 3}, many);
  const char* const names[] = {"x", "y"};
  const ts_value* const values[] = {x.handle(), x.handle()};
  const ts_run run{sizeof run, names, values, 2, nullptr, 1, nullptr, 0};
  ts_value* out = nullptr;
  ts::check(ts::api().session_run(session, &run, &out));
  const ts::Value sum(out);
  EXPECT_THAT(sum.span<float>(), ::testing::Each(3.0F));
  EXPECT_GT(counted.calls, 0);
  EXPECT_GT(counted.tasks, counted.calls.load()) << "one task at a time";
  ts::api().session_release(session);
}

}  // namespace
}  // namespace touchstone::api
