// Messages between the bench and a runtime's process, each a JSON object. The other side may be any
// program, so answers are untrusted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/targets/message.h"
#include "core/shape.h"

namespace touchstone::bench {

// A tensor stored in a .npy file.
struct NamedFile {
  std::string name, file;
};

struct OpenRequest {
  std::string model;
  Index threads = 1;
  std::map<std::string, Index> dims;               // sizes of the model's symbols
  std::vector<std::vector<NamedFile>> input_sets;  // read once; each run uses one of them
};
struct RunRequest {
  std::vector<Index> sets;  // one run each, in this order
};
struct ShowRequest {
  Index run = 0;  // index into the runs of the last RunRequest
  std::string folder;
};
struct WeighRequest {};

struct OpenAnswer {
  std::string version;
  std::string settings;  // description of the runtime's configuration
  double seconds = 0;    // time from a path to a session that can run
};
struct Ran {
  std::vector<double> seconds;
};
struct Showed {
  std::vector<NamedFile> outputs;
};
struct Weight {
  Index peak = 0;     // peak bytes of the process
  Index before = 0;   // bytes before the runtime was loaded
  Index library = 0;  // mapped bytes of the runtime's own files
};

targets::Message write(const OpenRequest& request);
targets::Message write(const RunRequest& request);
targets::Message write(const ShowRequest& request);
targets::Message write(const WeighRequest& request);

// These throw Error: unsupported or internal with the other side's message if it reports a failure;
// `file` if the bytes are no such answer.
void read(const targets::Message& message, OpenAnswer& answer);
void read(const targets::Message& message, Ran& answer);
void read(const targets::Message& message, Showed& answer);
void read(const targets::Message& message, Weight& answer);

}  // namespace touchstone::bench
