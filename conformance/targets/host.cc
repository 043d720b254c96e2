// Runs jobs in workers. A job is blamed for the death of its worker only if the worker also dies
// when it runs the job alone: an earlier job may have corrupted its memory.
#include "conformance/targets/host.h"

#include <algorithm>

namespace touchstone::targets {
namespace {

bool fatal(const Answer& answer) {
  return answer.kind == Answer::Kind::died || answer.kind == Answer::Kind::garbled;
}

constexpr std::chrono::seconds start_limit{
    120};  // an interpreter with a large library, on a busy machine

std::string seconds(std::chrono::milliseconds time) {
  return std::to_string(time.count() / 1000) + "." + std::to_string(time.count() % 1000 / 100) +
         " s";
}

const char* words(Phase phase) {
  switch (phase) {
    case Phase::load:
      return "while it loaded the model";
    case Phase::feed:
      return "while it read the inputs";
    case Phase::run:
      return "while it ran";
  }
  BUG("no such phase");
}
constexpr int phases = 3;

Moment now() { return std::chrono::steady_clock::now(); }

}  // namespace

Host::Host(std::vector<std::string> command, std::chrono::milliseconds limit,
           std::shared_ptr<const Starter> starter)
    : command_(std::move(command)), limit_(limit), starter_(std::move(starter)) {}

Description Host::describe() {
  child_ = std::make_unique<Child>(command_, starter_.get());
  Message message;
  Reply reply;
  const IoStatus status = child_->exchange(write(About{}), message, now() + start_limit);
  if (status == IoStatus::done && read(message, reply)) {
    if (const Description* said = std::get_if<Description>(&reply)) return *said;
  }
  std::string why = "its first answer is none";
  if (status == IoStatus::late) why = "no answer within " + seconds(start_limit);
  if (status == IoStatus::ended) why = child_->exit_description();
  child_.reset();
  std::string line;
  for (const std::string& word : command_) line += (line.empty() ? "" : " ") + word;
  throw Error(ErrorKind::file, "the target does not start: " + why)
      .with_place("command '" + line + "'");
}

Answer Host::run_here(const Job& job) {
  if (!child_ || !child_->alive()) describe();
  Answer answer;
  if (child_->send(write(job), now() + limit_) == IoStatus::done) {
    answer = hear_out();
  } else {
    answer.detail = child_->exit_description();
  }
  if (fatal(answer)) child_.reset();
  return answer;
}

Answer Host::hear_out() {
  Answer answer;
  answer.phase = Phase::load;
  const Moment last = now() + phases * limit_;  // for a worker that reports phases forever
  while (true) {
    Message message;
    Reply reply;
    switch (child_->receive(message, std::min(now() + limit_, last))) {
      case IoStatus::done:
        break;
      case IoStatus::ended:
        answer.kind = Answer::Kind::died;
        answer.detail = child_->exit_description();
        return answer;
      case IoStatus::late:
        answer.kind = Answer::Kind::late;
        answer.detail = "no answer within " + seconds(limit_) + " " + words(answer.phase);
        return answer;
      case IoStatus::garbled:
        answer.kind = Answer::Kind::garbled;
        answer.detail = "the worker's answer is no message";
        return answer;
    }
    if (!read(message, reply) || std::holds_alternative<Description>(reply)) {
      answer.kind = Answer::Kind::garbled;
      answer.detail = "the worker's answer is no answer";
      return answer;
    }
    if (Answer* said = std::get_if<Answer>(&reply)) return std::move(*said);
    answer.phase = std::get<Phase>(reply);
  }
}

Answer Host::run_alone(const Job& job) {
  child_.reset();
  Answer answer = run_here(job);
  child_.reset();
  return answer;
}

std::vector<Answer> Host::run(std::span<const Job> batch) {
  std::vector<Answer> answers;
  std::size_t first = 0;  // the first job that ran in the current process
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
        answers[k].detail =
            together + ", only after " + std::to_string(before) + " other cases in one process";
      }
    }
    first = k + 1;
  }
  return answers;
}

}  // namespace touchstone::targets
