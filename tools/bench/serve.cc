// Our side of the bench's messages. Only the run itself is timed. Outputs of the last runs are kept
// until the next ones begin, since the bench chooses later which of them it compares.
#include <link.h>

#include <charconv>
#include <chrono>
#include <new>

#include "conformance/targets/serve.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/npy.h"
#include "core/proc.h"
#include "tools/bench/messages.h"
#include "tools/bench/ours.h"

namespace touchstone::bench {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::map<std::string, Value>;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// Returns a line such as "VmHWM:   123 kB" of this process's status, in bytes.
Index memory(std::string_view line) {
  const std::string status = read_proc("/proc/self/status");
  const std::size_t at = status.find(std::string(line) + ":");
  if (at == std::string::npos) return 0;
  const std::size_t digit = status.find_first_of("0123456789", at);
  Index kilobytes = 0;
  std::from_chars(status.data() + digit, status.data() + status.size(), kilobytes);
  return kilobytes * 1024;
}

// Returns the loaded bytes of the executable, without debug sections.
Index bytes_of_executable() {
  Index total = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* sum) {
        for (int k = 0; k < object->dlpi_phnum; ++k) {
          if (object->dlpi_phdr[k].p_type == PT_LOAD) {
            *static_cast<Index*>(sum) += static_cast<Index>(object->dlpi_phdr[k].p_filesz);
          }
        }
        return 1;  // the first object is the executable itself
      },
      &total);
  return total;
}

class Server {
 public:
  explicit Server(const OurRuntime& runtime) : runtime_(runtime), before_(memory("VmRSS")) {}

  Json answer(const Json& request) {
    const std::string what = request.at("request").get<std::string>();
    if (what == "open") return open(request);
    if (what == "run") return run(request);
    if (what == "show") return show(request);
    if (what == "weigh") {
      return {{"peak", memory("VmHWM")}, {"before", before_}, {"library", bytes_of_executable()}};
    }
    BUG("the bench asked what is no question");
  }

 private:
  Json open(const Json& request) {
    const auto began = Clock::now();
    const auto dims = request.at("dims").get<std::map<std::string, Index>>();
    const std::unique_ptr<targets::Target> target =
        runtime_.make(request.at("threads").get<Index>(), dims);
    model_ = target->load(request.at("model").get<std::string>());
    const double seconds = since(began);
    sets_.clear();
    for (const Json& set : request.at("input_sets")) {
      Values& values = sets_.emplace_back();
      for (const Json& one : set) {
        values[one.at("name").get<std::string>()] = read_input(one.at("file").get<std::string>());
      }
    }
    return {{"version", "touchstone " TOUCHSTONE_VERSION},
            {"settings", runtime_.settings()},
            {"seconds", seconds}};
  }

  // Reads an input. Only types of numpy are sent, so the file alone determines the type.
  static Value read_input(const std::string& file) {
    const std::string bytes = open_trusted(file).read_all(Limits::trusted());
    return parse_npy(std::as_bytes(std::span(bytes)), Type::undefined, Limits::trusted());
  }

  Json run(const Json& request) {
    outputs_.clear();
    Json seconds = Json::array();
    for (const Json& set : request.at("sets")) {
      const Values& feeds = sets_.at(set.get<std::size_t>());
      const auto began = Clock::now();
      Values outputs = model_->run(feeds);
      seconds.push_back(since(began));
      outputs_.push_back(std::move(outputs));
    }
    return {{"seconds", seconds}};
  }

  Json show(const Json& request) {
    const std::filesystem::path folder = request.at("folder").get<std::string>();
    Json files = Json::array();
    for (const auto& [name, value] : outputs_.at(request.at("run").get<std::size_t>())) {
      if (!value.is_tensor()) {
        throw Error(ErrorKind::unsupported, "output '" + name + "' is no tensor");
      }
      const auto file = folder / ("output_" + std::to_string(files.size()) + ".npy");
      write_atomically(file, serialize_npy(value.tensor()));
      files.push_back({{"name", name}, {"file", file.string()}});
    }
    return {{"outputs", files}};
  }

  const OurRuntime& runtime_;
  Index before_;
  std::unique_ptr<targets::LoadedModel> model_;
  std::vector<Values> sets_, outputs_;
};

}  // namespace

void serve_bench(const std::string& runtime) {
  for (const OurRuntime& one : our_runtimes()) {
    if (one.name != runtime) continue;
    Server server(one);
    targets::serve([&](const targets::Message& question, const targets::Say& say) {
      Json answer;
      try {
        answer = server.answer(Json::parse(question));
      } catch (const Error& error) {
        const bool refused = error.kind == ErrorKind::unsupported;
        const std::string place = error.place.empty() ? "" : " at " + error.place;
        answer = {{"error", error.message + place}, {"kind", refused ? "unsupported" : "error"}};
      } catch (const std::bad_alloc&) {
        answer = {{"error", "memory ran out"}, {"kind", "error"}};
      } catch (const std::exception& error) {
        answer = {{"error", error.what()}, {"kind", "error"}};
      }
      say(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    });
    return;
  }
  throw Error(ErrorKind::usage, "there is no runtime '" + runtime + "' in this process");
}

}  // namespace touchstone::bench
