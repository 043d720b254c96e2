// A worker that dies takes the blame only if it also dies alone: an earlier job may have broken its memory.
#include "conformance/targets/host.h"

namespace touchstone {
namespace {

bool fatal(const Answer& answer) {
  return answer.kind == Answer::Kind::died || answer.kind == Answer::Kind::garbled;
}

std::string seconds(std::chrono::milliseconds time) {
  return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() % 1000 / 100) + " s";
}

}  // namespace

Host::Host(std::vector<std::string> command, std::chrono::milliseconds limit)
    : command_(std::move(command)), limit_(limit) {}

Answer Host::run_here(const Job& job) {
  if (!child_ || !child_->alive()) child_ = std::make_unique<Child>(command_);
  Message message;
  Answer answer;
  switch (child_->exchange(ask(job), message, std::chrono::steady_clock::now() + limit_)) {
    case Passage::done:
      if (read(message, answer)) return answer;
      answer = {};
      answer.kind = Answer::Kind::garbled;
      answer.detail = "the worker's answer is no answer";
      child_.reset();
      return answer;
    case Passage::ended:
      answer.kind = Answer::Kind::died;
      answer.detail = child_->epitaph();
      return answer;
    case Passage::late:
      answer.kind = Answer::Kind::late;
      answer.detail = "no answer within " + seconds(limit_);
      return answer;
    case Passage::garbled:
      answer.kind = Answer::Kind::garbled;
      answer.detail = "the worker's answer is no message";
      return answer;
  }
  BUG("no such passage");
}

Answer Host::run_alone(const Job& job) {
  child_.reset();
  Answer answer = run_here(job);
  child_.reset();
  return answer;
}

std::vector<Answer> Host::run(std::span<const Job> batch) {
  std::vector<Answer> answers;
  std::size_t first = 0;  // of those that ran in the process that there is
  child_.reset();
  for (std::size_t k = 0; k < batch.size(); ++k) {
    answers.push_back(run_here(batch[k]));
    if (!fatal(answers[k]) || first == k) {
      if (!child_ || !child_->alive()) first = k + 1;
      continue;
    }
    const std::string together = answers[k].detail;
    answers[k] = run_alone(batch[k]);
    if (!fatal(answers[k])) {
      bool named = false;
      for (std::size_t j = first; j < k; ++j) {
        answers[j] = run_alone(batch[j]);
        named = named || fatal(answers[j]);
      }
      if (!named) {
        const std::size_t before = k - first;
        answers[k].kind = Answer::Kind::died;
        answers[k].outputs.clear();
        answers[k].detail = together + ", only after " + std::to_string(before) + " other cases in one process";
      }
    }
    first = k + 1;
  }
  return answers;
}

}  // namespace touchstone
