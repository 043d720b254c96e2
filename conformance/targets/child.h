// A child process that answers messages: spawned (never forked: the host has threads), in a process
// group of its own, killed with all that it started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "conformance/targets/message.h"

namespace touchstone {

class Child {
 public:
  // The command's first word is the executable, looked for in PATH. Its standard input and output
  // are one socket; what it prints to standard error is kept aside.
  explicit Child(const std::vector<std::string>& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Asks and waits for the answer. Anything but `done` ends the child; so do the two halves.
  Passage exchange(const Message& question, Message& answer, Moment deadline);

  Passage say(const Message& question, Moment deadline);
  Passage hear(Message& answer, Moment deadline);

  bool alive() const { return process_ > 0; }
  // How it ended, in words: "signal 11 (Segmentation fault)", and the last line that it printed.
  const std::string& epitaph() const { return epitaph_; }

 private:
  void end(bool killed_by_us);

  pid_t process_ = -1;
  int socket_ = -1, printed_ = -1;
  std::string epitaph_;
};

}  // namespace touchstone
