// Child process that answers messages: spawned (never forked: the host has threads), in a process
// group of its own, and killed with all processes that it started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "conformance/targets/message.h"

namespace touchstone::targets {

class Starter;

class Child {
 public:
  // Starts a command. Its first word is the executable, searched in PATH. Its standard input and
  // output are one socket; its standard error is captured. A starter, if given and alive, starts
  // the same worker instead, and must outlive it.
  explicit Child(const std::vector<std::string>& command, const Starter* starter = nullptr);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Sends a question and waits for the answer. `say` and `hear` do one half each. Any result but
  // `done` ends the child.
  IoStatus exchange(const Message& question, Message& answer, Moment deadline);

  IoStatus send(const Message& question, Moment deadline);
  IoStatus receive(Message& answer, Moment deadline);

  bool alive() const { return process_ > 0; }
  int socket() const { return socket_; }
  // Describes its end: "signal 11 (Segmentation fault)", and the last line that it printed.
  const std::string& exit_description() const { return exit_description_; }

 private:
  int spawn(const std::vector<std::string>& command, int streams);
  void end(bool killed_by_us);
  int wait(bool& killed_by_us);

  pid_t process_ = -1;
  int socket_ = -1, printed_ = -1;
  int end_ = -1;  // of a worker that a starter has started (conformance/targets/starter.h)
  std::string exit_description_;
};

}  // namespace touchstone::targets
