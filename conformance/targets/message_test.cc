// Sends messages through a real socket: complete, truncated and invalid ones.
#include "conformance/targets/message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "conformance/targets/protocol.h"

namespace touchstone::targets {
namespace {

struct Sockets {
  int ends[2];
  Sockets() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~Sockets() {
    close(ends[0]);
    close(ends[1]);
  }
};

// Deadline for messages that never come; all others are awaited.
Moment soon() { return std::chrono::steady_clock::now() + std::chrono::milliseconds(300); }

TEST(Message, ArrivesAsSent) {
  Sockets pair;
  const Message sent = std::string("a\0b", 3) + std::string(5'000'000, 'x');
  std::jthread sender([&] { EXPECT_EQ(send_message(pair.ends[0], sent), IoStatus::done); });
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came), IoStatus::done);
  EXPECT_EQ(came, sent);
}

TEST(Message, AClosedSocketIsTheEnd) {
  Sockets pair;
  shutdown(pair.ends[0], SHUT_RDWR);
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came), IoStatus::ended);
  EXPECT_EQ(send_message(pair.ends[1], "x"), IoStatus::ended);
}

TEST(Message, SilenceIsLate) {
  Sockets pair;
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came, soon()), IoStatus::late);
  EXPECT_EQ(send_message(pair.ends[1], std::string(50'000'000, 'x'), soon()), IoStatus::late);
}

TEST(Message, NoiseIsGarbled) {
  Sockets pair;
  ASSERT_EQ(::write(pair.ends[0], "not a message at all", 20), 20);
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came), IoStatus::garbled);
}

TEST(Message, AFalseLengthCostsNoMemory) {
  Sockets pair;
  const std::uint64_t length = std::uint64_t{1} << 30;
  ASSERT_EQ(::write(pair.ends[0], &length, 8), 8);
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came, soon()), IoStatus::late);
  EXPECT_LT(came.capacity(), std::size_t{1} << 22);
  Sockets other;
  const std::uint64_t endless = ~std::uint64_t{0};
  ASSERT_EQ(::write(other.ends[0], &endless, 8), 8);
  EXPECT_EQ(receive_message(other.ends[1], came), IoStatus::garbled);
}

TEST(Protocol, QuestionsTravel) {
  Question came;
  ASSERT_TRUE(read(write(About{}), came));
  EXPECT_TRUE(std::holds_alternative<About>(came));
  ASSERT_TRUE(read(write(Job{"model.onnx", {"a.pb", "b.pb"}, 2}), came));
  EXPECT_EQ(std::get<Job>(came).model, "model.onnx");
  EXPECT_EQ(std::get<Job>(came).inputs.size(), 2u);
  EXPECT_EQ(std::get<Job>(came).runs, 2u);
  EXPECT_FALSE(read("", came));
  EXPECT_FALSE(read("nonsense", came));
}

TEST(Protocol, AnswersTravel) {
  Answer sent;
  sent.kind = Answer::Kind::refused;
  sent.phase = Phase::feed;
  sent.error = ErrorKind::limit;
  sent.detail = "too much";
  sent.note = "opset 27 stamped down to 26";
  sent.ran = "fast";
  sent.kernels = {"pool", "view"};
  sent.outputs = {{"y", "tensor(float)", "bytes"}};
  Reply reply;
  ASSERT_TRUE(read(write(sent), reply));
  const Answer& came = std::get<Answer>(reply);
  EXPECT_EQ(came.kind, sent.kind);
  EXPECT_EQ(came.phase, sent.phase);
  EXPECT_EQ(came.error, sent.error);
  EXPECT_EQ(came.detail, "too much");
  EXPECT_EQ(came.note, sent.note);
  EXPECT_EQ(came.ran, sent.ran);
  EXPECT_EQ(came.kernels, sent.kernels);
  ASSERT_EQ(came.outputs.size(), 1u);
  EXPECT_EQ(came.outputs[0].type, "tensor(float)");
}

TEST(Protocol, PhasesAndDescriptionsTravel) {
  Reply reply;
  ASSERT_TRUE(read(write(Phase::feed), reply));
  EXPECT_EQ(std::get<Phase>(reply), Phase::feed);
  ASSERT_TRUE(read(write(Description{"mine", "1.0"}), reply));
  EXPECT_EQ(std::get<Description>(reply).version, "1.0");
}

TEST(Protocol, AWorkerCannotSayWhatOnlyTheHostKnows) {
  Reply reply;
  Answer answer;
  answer.kind = Answer::Kind::late;
  EXPECT_FALSE(read(write(answer), reply));
  answer.kind = Answer::Kind::refused;
  answer.error = static_cast<ErrorKind>(99);
  EXPECT_FALSE(read(write(answer), reply));
  EXPECT_FALSE(read(write(static_cast<Phase>(7)), reply));
  EXPECT_FALSE(read("", reply));
}

}  // namespace
}  // namespace touchstone::targets
