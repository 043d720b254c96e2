// Messages through a real socket, whole, cut short and false.
#include "conformance/targets/message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "conformance/targets/protocol.h"

namespace touchstone {
namespace {

struct Sockets {
  int ends[2];
  Sockets() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~Sockets() {
    close(ends[0]);
    close(ends[1]);
  }
};

Moment soon() { return std::chrono::steady_clock::now() + std::chrono::milliseconds(300); }

TEST(Message, ArrivesAsSent) {
  Sockets pair;
  const Message sent{"kind", "", std::string("a\0b", 3), std::string(5'000'000, 'x')};
  std::jthread sender([&] { EXPECT_EQ(send_message(pair.ends[0], sent), Passage::done); });
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came), Passage::done);
  EXPECT_EQ(came, sent);
}

TEST(Message, AClosedSocketIsTheEnd) {
  Sockets pair;
  shutdown(pair.ends[0], SHUT_RDWR);
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came), Passage::ended);
  EXPECT_EQ(send_message(pair.ends[1], {"x"}), Passage::ended);
}

TEST(Message, SilenceIsLate) {
  Sockets pair;
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came, soon()), Passage::late);
  EXPECT_EQ(send_message(pair.ends[1], {std::string(50'000'000, 'x')}, soon()), Passage::late);
}

TEST(Message, NoiseIsGarbled) {
  Sockets pair;
  ASSERT_EQ(write(pair.ends[0], "not a message at all", 20), 20);
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came, soon()), Passage::garbled);
}

TEST(Message, AFalseLengthCostsNoMemory) {
  Sockets pair;
  const std::uint32_t head[2] = {0x314d5354, 1};
  const std::uint64_t length = std::uint64_t{1} << 33;
  ASSERT_EQ(write(pair.ends[0], head, 8), 8);
  ASSERT_EQ(write(pair.ends[0], &length, 8), 8);
  Message came;
  EXPECT_EQ(receive_message(pair.ends[1], came, soon()), Passage::late);
  EXPECT_LT(came.back().capacity(), std::size_t{1} << 22);
  Sockets other;
  const std::uint64_t endless = ~std::uint64_t{0};
  ASSERT_EQ(write(other.ends[0], head, 8), 8);
  ASSERT_EQ(write(other.ends[0], &endless, 8), 8);
  EXPECT_EQ(receive_message(other.ends[1], came, soon()), Passage::garbled);
}

TEST(Protocol, AnswersTravel) {
  Answer sent;
  sent.kind = Answer::Kind::refused;
  sent.phase = Phase::feed;
  sent.error = ErrorKind::limit;
  sent.detail = "too much";
  sent.outputs = {{"y", "tensor(float)", "bytes"}};
  Answer came;
  ASSERT_TRUE(read(tell(sent), came));
  EXPECT_EQ(came.kind, sent.kind);
  EXPECT_EQ(came.phase, sent.phase);
  EXPECT_EQ(came.error, sent.error);
  EXPECT_EQ(came.detail, "too much");
  ASSERT_EQ(came.outputs.size(), 1u);
  EXPECT_EQ(came.outputs[0].type, "tensor(float)");
}

TEST(Protocol, AWorkerCannotSayWhatOnlyTheHostKnows) {
  Answer came;
  EXPECT_FALSE(read({"answer", "4", "0", "0", ""}, came));   // that it was late
  EXPECT_FALSE(read({"answer", "0", "0", "99", ""}, came));  // an error that is none
  EXPECT_FALSE(read({"answer", "0", "0", "0", "", "y"}, came));
  EXPECT_FALSE(read({"run", "model"}, came));
}

}  // namespace
}  // namespace touchstone
