// What the bench and a runtime's process say to each other: an object of JSON a message. The other
// side is anybody's program, so an answer is read with suspicion.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/targets/message.h"
#include "core/shape.h"

namespace touchstone {

// A tensor that travels as a .npy file.
struct NamedFile {
  std::string name, file;
};

struct OpenAsk {
  std::string model;
  Index threads = 1;
  std::map<std::string, Index> dims;               // of the model's symbols that have a size now
  std::vector<std::vector<NamedFile>> input_sets;  // read once; a run takes one of them
};
struct RunAsk {
  std::vector<Index> sets;  // one run each, in this order
};
struct ShowAsk {
  Index run = 0;  // of the last RunAsk
  std::string folder;
};
struct WeighAsk {};

struct OpenAnswer {
  std::string version;
  std::string settings;  // how it was asked to run, in words
  double seconds = 0;    // from a path to a session that can run
};
struct Ran {
  std::vector<double> seconds;
};
struct Showed {
  std::vector<NamedFile> outputs;
};
struct Weight {
  Index peak = 0;     // bytes of memory that the process had at most
  Index before = 0;   // bytes that it had before the runtime was loaded
  Index library = 0;  // bytes that the runtime's own files map
};

Message write(const OpenAsk& ask);
Message write(const RunAsk& ask);
Message write(const ShowAsk& ask);
Message write(const WeighAsk& ask);

// Throw Error: unsupported or internal with the other side's words where it says that it failed;
// `file` where what came is no such answer.
void read(const Message& message, OpenAnswer& answer);
void read(const Message& message, Ran& answer);
void read(const Message& message, Showed& answer);
void read(const Message& message, Weight& answer);

}  // namespace touchstone
