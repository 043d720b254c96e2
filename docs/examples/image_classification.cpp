// Image classification in C++: pixels become a batch of floats, and labels come from the metadata.
//
// g++ -std=c++20 image_classification.cpp $(pkg-config --cflags --libs touchstone) -o classify
// ./classify image_classifier.onnx
#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <touchstone/touchstone.hpp>

namespace {

constexpr int side = 32;
using Color = std::array<unsigned char, 3>;

// Appends a square of one color on black, channel by channel, as floats from 0 to 1.
void append_square(std::vector<float>& batch, const Color& color) {
  for (const unsigned char level : color) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const bool inside = y >= 8 && y < 24 && x >= 8 && x < 24;
        batch.push_back(inside ? static_cast<float>(level) / 255 : 0);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const ts::Session session(argv[1], {{"threads", "2"}});
    std::vector<std::string> labels;
    std::istringstream names(session.metadata().at("names"));
    for (std::string name; std::getline(names, name, ',');) labels.push_back(name);

    std::vector<float> batch;
    for (const Color& color : {Color{250, 40, 30}, Color{20, 200, 60}, Color{90, 80, 240}})
      append_square(batch, color);
    const ts::Value image = ts::Value::copy<float>({3, 3, side, side}, batch);
    const ts::Values outputs = session.run({{"image", image}});
    const std::span<const float> scores = outputs.at("scores").span<float>();
    for (std::size_t row = 0; row < 3; ++row) {
      const std::span<const float> own = scores.subspan(row * labels.size(), labels.size());
      const auto best = std::max_element(own.begin(), own.end());
      const auto at = static_cast<std::size_t>(best - own.begin());
      std::printf("%s %.2f\n", labels[at].c_str(), static_cast<double>(*best));
    }
    return 0;
  } catch (const ts::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
