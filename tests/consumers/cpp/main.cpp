// A program in C++ that links libtouchstone: runs a model on one input of ones, and prints each
// output's sum.
#include <cstdio>
#include <numeric>
#include <touchstone/touchstone.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const ts::Session session(argv[1], {{"threads", "1"}});
    const ts::Port input = session.inputs().at(0);
    ts::Dims dims = input.dims.value();
    for (std::int64_t& size : dims) size = std::max<std::int64_t>(size, 1);
    const auto count =
        std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    const std::vector<float> ones(static_cast<std::size_t>(count), 1);
    for (const auto& [name, value] :
         session.run({{input.name, ts::Value::copy<float>(dims, ones)}})) {
      const std::span<const float> elements = value.span<float>();
      std::printf("%s: %zu elements, sum %g\n", name.c_str(), elements.size(),
                  std::accumulate(elements.begin(), elements.end(), 0.0));
    }
    return 0;
  } catch (const ts::Error& error) {
    std::fprintf(stderr, "error: %s\n%s\n", error.what(), error.json.c_str());
    return 1;
  }
}
