// touchstone_copy_bench [NAME]: measures matmuls as a share of one core's peak multiply-adds, and
// kernels bound by memory as a share of a memcpy of the same bytes. NAME selects the lines that
// contain it. The peak is measured between the runs of each kernel, so that both see the same
// machine state.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "optimized/kernels/gemm.h"
#include "optimized/kernels/layout.h"
#include "optimized/kernels/pool.h"
#include "optimized/kernels/strided_copy.h"
#include "optimized/plan/large.h"
#include "optimized/registry/registry.h"
#include "tools/bench/kernels/peak.h"

namespace {

using namespace touchstone;

// Allocated by large_memory, in pages as a plan's arena and packed weights are: strided copies pay
// for each page they touch.
class Numbers {
 public:
  explicit Numbers(Index count)
      : size_(static_cast<std::size_t>(count)), data_(optimized::large_memory(count)) {
    for (std::size_t k = 0; k < size_; ++k) data_.get()[k] = static_cast<float>(k % 7) - 3;
  }
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  optimized::LargeMemory data_;
};

double time(const std::function<void()>& work) {
  const double start = bench::seconds();
  work();
  return bench::seconds() - start;
}

// `share` is the median of the quotients of neighboring runs, `seconds` the best time.
struct Share {
  double share, seconds;
};
Share against(const std::function<double()>& roof, const std::function<void()>& work) {
  constexpr int times = 25;
  std::vector<double> shares;
  double best = 1e9;
  work();
  for (int k = 0; k < times; ++k) {
    const double ideal = roof(), taken = time(work);
    shares.push_back(ideal / taken);
    best = std::min(best, taken);
  }
  std::nth_element(shares.begin(), shares.begin() + times / 2, shares.end());
  return {shares[times / 2], best};
}

std::string wanted;
bool skipped(const std::string& line) { return line.find(wanted) == std::string::npos; }

void product(optimized::Isa isa, Index rows, Index depth, Index columns) {
  const std::string line = "product " + std::to_string(rows) + " x " + std::to_string(depth) +
                           " x " + std::to_string(columns);
  if (skipped(line)) return;
  const optimized::Gemm gemm(isa);
  const Numbers a(rows * depth), b(depth * columns), packed(gemm.packed_size(depth, columns)),
      c(rows * columns);
  gemm.pack({b.data(), columns, 1, depth, columns}, nullptr, packed.data(), 0,
            gemm.panels(columns));
  const optimized::GemmProblem product{a.data(), depth,   packed.data(), nullptr, 0,
                                       c.data(), columns, depth,         columns};
  const double operations = 2.0 * static_cast<double>(rows * depth * columns);
  const Share share = against([&] { return operations / bench::roof(isa); },
                              [&] { gemm.run(product, 0, gemm.panels(columns), 0, rows); });
  std::printf("%-32s %6.1f GFLOP/s  %3.0f %% of the roof\n", line.c_str(),
              operations / share.seconds / 1e9, 100 * share.share);
}

// Prints one line. The work reads, or reads and writes, `bytes` bytes; the reference memcpy copies
// as many.
void print_copied(const std::string& line, Index bytes, const Numbers& from, const Numbers& to,
                  const std::function<void()>& work) {
  const Share share = against(
      [&] { return time([&] { std::memcpy(to.data(), from.data(), from.size() * 4); }); }, work);
  std::printf("%-32s %6.1f GB/s     %3.0f %% of a copy\n", line.c_str(),
              static_cast<double>(bytes) / share.seconds / 1e9, 100 * share.share);
}
void moved(const std::string& line, Index bytes, const std::function<void()>& work) {
  if (skipped(line)) return;
  const Numbers from(bytes / 4), to(bytes / 4);
  print_copied(line, bytes, from, to, work);
}

void thin(optimized::Isa isa, Index rows, Index depth, Index columns) {
  const optimized::Gemm gemm(isa);
  const Numbers a(rows * depth), packed(gemm.packed_size(depth, columns)), c(rows * columns);
  const optimized::GemmProblem product{a.data(), depth,   packed.data(), nullptr, 0,
                                       c.data(), columns, depth,         columns};
  moved("thin " + std::to_string(rows) + " x " + std::to_string(depth) + " x " +
            std::to_string(columns),
        static_cast<Index>(packed.size()) * 4,
        [&] { gemm.run(product, 0, gemm.panels(columns), 0, rows); });
}

// Measures a product of one row with a matrix that is stored transposed and not packed.
void dense_columns(optimized::Isa isa, Index depth, Index columns) {
  const Numbers a(depth), b(depth * columns), c(columns);
  const optimized::Dots dots{a.data(), b.data(), depth, nullptr, c.data(), depth, -1e30F, 1e30F};
  moved("thin, as it stands 1 x " + std::to_string(depth) + " x " + std::to_string(columns),
        static_cast<Index>(b.size()) * 4, [&] { dots_of(isa)(dots, 0, columns); });
}

void blocks(optimized::Isa isa, Index channels, Index side) {
  const optimized::Area area{channels, side, side};
  const Index lanes = lanes_of(isa), all = channels * side * side;
  const Numbers plain(all), blocked(all);
  const optimized::BlockedImage map{blocked.data(), lanes, side * lanes, side * side * lanes};
  const optimized::PlainImage image{plain.data(), side, side * side};
  const std::string shape = std::to_string(channels) + " @" + std::to_string(side);
  moved("into blocks " + shape, all * 4, [&] { to_blocks(isa, image, map, area); });
  moved("from blocks " + shape, all * 4, [&] { from_blocks(isa, map, image, area); });
  const Numbers roomy(channels * (side + 2) * (side + 2));
  const Index row = (side + 2) * lanes;
  const optimized::BlockedImage haloed{roomy.data() + row + lanes, lanes, row, (side + 2) * row};
  const optimized::Area whole{channels / lanes, side, side};
  moved("into a halo " + shape, all * 4, [&] { copy_blocks(isa, map, haloed, whole); });
  const optimized::PoolWindow window{3, 2, 1, 1, side, 0, side};
  const optimized::BlockedImage half{roomy.data(), lanes, side / 2 * lanes,
                                     side / 2 * (side / 2) * lanes};
  for (const auto& [kind, text] : {std::pair{optimized::PoolKind::largest, "largest of 3x3/2 "},
                                   std::pair{optimized::PoolKind::mean, "mean of 3x3/2 "}}) {
    const optimized::Pool pool(isa, kind, window, window);
    moved(text + shape, all * 4,
          [&] { pool.run(map, half, side / 2, channels / lanes, 0, side / 2); });
  }
  moved("mean of all " + shape, all * 4,
        [&] { mean_of_all(isa, map, side, side, channels / lanes, roomy.data()); });
}

// Measures a transpose against a memcpy between the same buffers.
void transposed(optimized::Isa isa, const std::string& line, const optimized::StridedCopy& move) {
  if (skipped(line)) return;
  const Index all = move.elements();
  const Numbers from(all), to(all);
  print_copied(line, all * 4, from, to,
               [&] { run_strided_copy(isa, move, 4, from.data(), to.data()); });
}

// Measures elementwise kernels of one or two inputs against a memcpy that reads and writes as many
// bytes.
void elementwise(optimized::Isa isa, optimized::OperatorKind op, const std::string& what,
                 std::size_t inputs, Index count) {
  const std::string line = what + " " + std::to_string(count);
  for (const optimized::FastEntry& entry : optimized::fast_entries()) {
    if (optimized::operator_kind(*entry.signature) != op) continue;
    const Numbers a(count), b(count), c(count);
    const std::array<optimized::Placed<4>, 2> from{
        {{a.data(), {1, 0, 0, 0}}, {b.data(), {1, 0, 0, 0}}}};
    moved(line, count * 2 * (static_cast<Index>(inputs) + 1), [&] {
      optimized::call_kernel((*entry.kernels)[static_cast<std::size_t>(isa)].usual,
                             {count, 1, 1, 1}, {from.data(), inputs}, {}, c.data(), {1, 0, 0, 0});
    });
    return;
  }
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) wanted = words[1];
  const optimized::Isa isa = optimized::chosen_isa();
  std::printf("%s\n", std::string(optimized::name(isa)).c_str());
  product(isa, 1024, 1024, 1024);
  product(isa, 256, 2304, 512);
  product(isa, 128, 768, 768);
  product(isa, 128, 768, 3072);
  product(isa, 128, 3072, 768);
  product(isa, 49, 512, 2048);
  product(isa, 197, 384, 384);
  product(isa, 3136, 64, 256);
  thin(isa, 4, 4096, 4096);
  for (const auto& [depth, columns] : {std::pair{25088, 4096}, {4096, 1000}, {1280, 1000}}) {
    thin(isa, 1, depth, columns);
    dense_columns(isa, depth, columns);
  }
  blocks(isa, 64, 112);
  blocks(isa, 256, 56);
  blocks(isa, 512, 7);
  for (const Index count : {65536, 1 << 20, 1 << 24}) {
    elementwise(isa, optimized::OperatorKind::relu, "elementwise, one input", 1, count);
    elementwise(isa, optimized::OperatorKind::add, "elementwise, two inputs", 2, count);
  }
  // [rows, columns] to [columns, rows]; attention's heads; channels last to first.
  transposed(isa, "transpose 1024 x 1024", {{1024, 1024, 1, 1, 1}, {1024, 1}, {1, 1024}});
  transposed(isa, "transpose 2048 x 2048", {{2048, 2048, 1, 1, 1}, {2048, 1}, {1, 2048}});
  transposed(isa, "transpose 3000 x 4000", {{3000, 4000, 1, 1, 1}, {4000, 1}, {1, 3000}});
  transposed(isa, "transpose 1000 x 3000", {{1000, 3000, 1, 1, 1}, {3000, 1}, {1, 1000}});
  for (const auto& [rows, heads, size] :
       {std::array{128, 12, 64}, {128, 12, 32}, {197, 6, 64}, {384, 16, 64}}) {
    const std::string shape =
        std::to_string(rows) + " x " + std::to_string(heads) + " x " + std::to_string(size);
    transposed(isa, "heads " + shape,
               {{size, rows, heads, 1, 1}, {1, heads * size, size}, {1, size, rows * size}});
    transposed(isa, "heads back " + shape,
               {{size, heads, rows, 1, 1}, {1, rows * size, size}, {1, size, heads * size}});
  }
  // Sizes that fit into L2, into L3 easily, into L3 barely, and not into L3.
  for (const auto& [rows, size, text] :
       {std::tuple<Index, Index, const char*>{128, 800, ", 0.4 MB"},
        {256, 4096, ", 4 MB"},
        {512, 4096, ", 8 MB"},
        {1024, 4096, ", 16 MB"}}) {
    for (const Index run : {2, 3, 4, 6, 8, 12, 16, 20, 32, 48, 64}) {
      const Index others = size / run;
      transposed(isa, "inner runs of " + std::to_string(run) + text,
                 {{run, rows, others, 1, 1}, {1, others * run, run}, {1, run, rows * run}});
    }
  }
  transposed(isa, "channels last to first 256 @56", {{3136, 256, 1, 1, 1}, {256, 1}, {1, 3136}});
  transposed(isa, "channels last to first 3 @512", {{262144, 3, 1, 1, 1}, {3, 1}, {1, 262144}});
  return 0;
}
