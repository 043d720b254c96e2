// Converts messages between structs and JSON. The other ends are tools/bench/worker.py for peers
// and serve.cc for our runtimes.
#include "tools/bench/messages.h"

#include <cmath>

#include "core/error.h"
#include "core/json.h"

namespace touchstone::bench {
namespace {

using Json = nlohmann::ordered_json;

Json files_json(const std::vector<NamedFile>& files) {
  Json out = Json::array();
  for (const NamedFile& one : files) out.push_back({{"name", one.name}, {"file", one.file}});
  return out;
}

targets::Message text(const Json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Reads an answer by `take`, which may throw exceptions of nlohmann::json.
template <class Take>
void parse(const targets::Message& message, const Take& take) {
  try {
    const Json object = Json::parse(message);
    if (const auto failed = object.find("error"); failed != object.end()) {
      const bool refused = object.value("kind", "") == "unsupported";
      throw Error(refused ? ErrorKind::unsupported : ErrorKind::internal,
                  failed->get<std::string>());
    }
    take(object);
  } catch (const nlohmann::json::exception& wrong) {
    throw Error(ErrorKind::file, std::string("it answered what is no answer: ") + wrong.what());
  }
}

double seconds_in(const Json& number) {
  const double seconds = number.get<double>();
  if (!(seconds >= 0) || !std::isfinite(seconds)) {
    throw Error(ErrorKind::file, "it answered with a time that is none");
  }
  return seconds;
}

}  // namespace

targets::Message write(const OpenRequest& request) {
  Json sets = Json::array();
  for (const std::vector<NamedFile>& set : request.input_sets) sets.push_back(files_json(set));
  return text({{"request", "open"},
               {"model", request.model},
               {"threads", request.threads},
               {"dims", request.dims},
               {"input_sets", sets}});
}

targets::Message write(const RunRequest& request) {
  return text({{"request", "run"}, {"sets", request.sets}});
}

targets::Message write(const ShowRequest& request) {
  return text({{"request", "show"}, {"run", request.run}, {"folder", request.folder}});
}

targets::Message write(const WeighRequest&) { return text({{"request", "weigh"}}); }

void read(const targets::Message& message, OpenAnswer& answer) {
  parse(message, [&](const Json& object) {
    answer = {object.at("version").get<std::string>(), object.at("settings").get<std::string>(),
              seconds_in(object.at("seconds"))};
  });
}

void read(const targets::Message& message, Ran& answer) {
  parse(message, [&](const Json& object) {
    answer = {};
    for (const Json& one : object.at("seconds")) answer.seconds.push_back(seconds_in(one));
  });
}

void read(const targets::Message& message, Showed& answer) {
  parse(message, [&](const Json& object) {
    answer = {};
    for (const Json& one : object.at("outputs")) {
      answer.outputs.push_back(
          {one.at("name").get<std::string>(), one.at("file").get<std::string>()});
    }
  });
}

void read(const targets::Message& message, Weight& answer) {
  parse(message, [&](const Json& object) {
    answer = {object.at("peak").get<Index>(), object.at("before").get<Index>(),
              object.at("library").get<Index>()};
  });
}

}  // namespace touchstone::bench
