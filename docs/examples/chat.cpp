// A chat loop in C++ over a decoder with a cache: each run reads the cache where the run before it
// wrote it, and nothing is copied.
//
// g++ -std=c++20 chat.cpp $(pkg-config --cflags --libs touchstone) -o chat
// echo hello | ./chat decoder.onnx
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <touchstone/touchstone.hpp>

namespace {

constexpr int most_words = 16;  // of an answer

class Chat {
 public:
  explicit Chat(const std::string& file) : session_(file) {
    std::istringstream words(session_.metadata().at("words"));
    for (std::string word; words >> word;) words_.push_back(word);
    key_ = value_ = cache_of(0);
  }

  std::string answer(const std::string& text) {
    std::vector<std::int64_t> tokens;
    std::istringstream in(text);
    for (std::string word; in >> word;)
      tokens.push_back(std::find(words_.begin(), words_.end(), word) - words_.begin());
    std::string said;
    for (int k = 0; k < most_words; ++k) {
      const std::string& word = words_.at(next(tokens));
      if (word == "<end>") break;
      said += (said.empty() ? "" : " ") + word;
      tokens = {std::find(words_.begin(), words_.end(), word) - words_.begin()};
    }
    return said;
  }
  std::int64_t cached() const { return past_; }

 private:
  ts::Value cache_of(std::int64_t tokens) const {
    return ts::Value::zeros(TS_TYPE_FLOAT,
                            {1, 1, tokens, static_cast<std::int64_t>(words_.size())});
  }

  // Runs the new tokens alone; what came before them is in the cache.
  std::size_t next(const std::vector<std::int64_t>& tokens) {
    const auto count = static_cast<std::int64_t>(tokens.size());
    const auto size = static_cast<std::int64_t>(words_.size());
    const ts::Value ids = ts::Value::copy<std::int64_t>({1, count}, tokens);
    const ts::Value logits = ts::Value::zeros(TS_TYPE_FLOAT, {1, count, size});
    const ts::Value key = cache_of(past_ + count), value = cache_of(past_ + count);
    ts::Binding binding(session_,
                        {{"input_ids", ids}, {"past_key", *key_}, {"past_value", *value_}},
                        {{"logits", logits}, {"present_key", key}, {"present_value", value}});
    binding.run();
    key_ = key;
    value_ = value;
    past_ += count;
    const std::span<const float> last = logits.span<float>().last(words_.size());
    return static_cast<std::size_t>(std::max_element(last.begin(), last.end()) - last.begin());
  }

  ts::Session session_;
  std::vector<std::string> words_;
  std::optional<ts::Value> key_, value_;
  std::int64_t past_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    Chat chat(argv[1]);
    for (std::string line; std::getline(std::cin, line);)
      std::printf("> %s\n%s\n", line.c_str(), chat.answer(line).c_str());
    std::printf("%lld tokens in the cache\n", static_cast<long long>(chat.cached()));
    return 0;
  } catch (const ts::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
