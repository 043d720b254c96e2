// Sessions of the C interface.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "api/handle.h"
#include "api/worker.h"
#include "include/touchstone/touchstone.h"
#include "model/custom.h"
#include "optimized/session.h"

namespace touchstone::api {

struct HeldOptions {
  struct Settled {
    bool fast;
    optimized::SessionOptions options;
    CustomOperators operators;
  };
  // Returns the settings of a session. The preset of limits does not replace limits set by name.
  Settled settled() const;

  mutable std::mutex mutex;
  bool fast = true;
  optimized::SessionOptions options;
  std::optional<Index> milliseconds, memory;
  CustomOperators operators;
};

struct HeldCancel {
  std::atomic<bool> flag{false};
};

// Strings and arrays behind a ts_port.
struct HeldPort {
  std::string name, type;
  bool has_default = false, has_rank = false;
  std::vector<std::int64_t> dims;
  std::vector<std::string> symbols;
  std::vector<const char*> symbol_pointers;
};

// Names, values and limits of one run, copied from a ts_run.
struct Request {
  std::map<std::string, Value> feeds;
  std::vector<std::string> outputs;
  std::shared_ptr<HeldCancel> cancel;  // null: none
  double deadline = 0;                 // seconds; 0: the session's
};

class HeldSession {
 public:
  // The caller has a budget open, under which the model was loaded.
  HeldSession(Model model, const HeldOptions::Settled& settings);
  ~HeldSession();

  // Returns the values in the order of the names. Throws Error.
  std::vector<Value> run(const Request& request);
  // Calls `work` on the session's own thread, after the work that was added before.
  void later(std::function<void()> work);

  optimized::Session& fast();    // throws Error (unsupported) if the session is of the reference
  void require_process() const;  // throws Error (usage) after fork
  const char* placement();       // as JSON, valid until the next call
  Limits limits_for(double deadline) const;
  const std::shared_ptr<MemoryAccount>& account() const { return account_; }

  const std::vector<HeldPort> inputs, outputs;
  std::string producer, graph_name, domain, description;
  std::optional<Index> version;
  std::vector<std::pair<std::string, std::string>> properties;

 private:
  const Limits limits_;
  const CustomOperators operators_;  // of the model's nodes
  const std::shared_ptr<MemoryAccount> account_;
  const std::uint32_t process_;
  std::variant<std::monostate, optimized::Session, Model> held_;

  std::mutex mutex_;  // of `placement_`
  std::string placement_;
  Worker worker_;  // last: its work uses the other members
};

struct HeldBinding {
  std::shared_ptr<HeldSession> session;
  std::optional<optimized::Session::Bound> bound;
};

// Table entries.
ts_status* options_create(ts_options** options);
ts_status* options_set(ts_options* options, const char* name, const char* value);
void options_release(ts_options* options);
ts_status* options_set_executor(ts_options* options, ts_parallel_for executor, void* user);
std::shared_ptr<HeldOptions> options_of(const ts_options* options);  // throws Error (usage)
HeldOptions::Settled settings_of(const ts_options* options);         // null: the defaults

ts_status* session_open(const char* path, const ts_options* options, ts_session** session);
ts_status* session_open_bytes(const void* data, std::size_t size, const ts_options* options,
                              ts_session** session);
ts_status* session_input_count(const ts_session* session, std::size_t* count);
ts_status* session_input(const ts_session* session, std::size_t index, ts_port* port);
ts_status* session_output_count(const ts_session* session, std::size_t* count);
ts_status* session_output(const ts_session* session, std::size_t index, ts_port* port);
ts_status* session_info(const ts_session* session, ts_model_info* info);
ts_status* session_property(const ts_session* session, std::size_t index, const char** key,
                            const char** value);
ts_status* session_placement(ts_session* session, const char** json);
void session_release(ts_session* session);

std::shared_ptr<HeldSession> session_of(const ts_session* session);

ts_status* cancel_create(ts_cancel** cancel);
ts_status* cancel_request(ts_cancel* cancel);
ts_status* cancel_reset(ts_cancel* cancel);
void cancel_release(ts_cancel* cancel);
std::shared_ptr<HeldCancel> cancel_of(const ts_cancel* cancel);  // null: none

ts_status* session_run(ts_session* session, const ts_run* run, ts_value** outputs);
ts_status* session_run_async(ts_session* session, const ts_run* run, ts_done done, void* user);
ts_status* binding_create(ts_session* session, const char* const* input_names,
                          const ts_value* const* inputs, std::size_t input_count,
                          const char* const* output_names, ts_value* const* outputs,
                          std::size_t output_count, ts_binding** binding);
ts_status* binding_run(ts_binding* binding, const ts_cancel* cancel, double deadline);
void binding_release(ts_binding* binding);

}  // namespace touchstone::api
