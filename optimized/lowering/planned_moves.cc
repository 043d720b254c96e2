// Family `planned moves`: movement of elements of any type that constants and shapes control. Which
// element goes where is found once, when the plan is made (optimized/plan/copies.h).
#include <algorithm>
#include <cstring>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/moves.h"
#include "optimized/plan/groups.h"
#include "optimized/registry/registry.h"
#include "reference/bind.h"

namespace touchstone::optimized {
namespace {

constexpr Index piece = 4096;  // elements that a thread takes at once

class PlannedMoves : public TensorStep {
 public:
  PlannedMoves(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : TensorStep(graph, node, std::move(buffers)),
        type_(element_of(graph, node, 0)),
        bytes_(is_packed(type_) ? 1 : bytes_of(type_)) {
    for (std::size_t k = 0; k < fact().inputs.size(); ++k) {
      if (!has_input(k) || !is_copied(fact(), k)) continue;
      sources_.push_back(k);
      shapes_.push_back(*graph.value(fact().inputs[k]).shape);
    }
    bool empty = true;
    for (const Index made : fact().outputs) {
      outputs_.emplace_back().shape = *graph.value(made).shape;
      empty = empty && count(outputs_.back().shape) == 0;
    }
    if (empty) return;
    if (std::optional<CopiedOutput> found = inferred_copy(graph, fact()))
      outputs_ = {*std::move(found)};
    else
      outputs_ = probed_copy(graph, fact());
    if (bytes_ == 16 && !fit_in_pairs()) outputs_.clear();
  }

  void run(RunState& state) override {
    if (outputs_.empty()) return run_on_reference(state);
    std::vector<std::vector<std::uint8_t>> codes;  // of types below 8 bits, an element a byte
    std::vector<const std::byte*> from;
    for (std::size_t k = 0; k < sources_.size(); ++k) {
      const Tensor& source = input(state, sources_[k]);
      if (source.shape() != shapes_[k]) return run_on_reference(state);
      if (is_packed(type_)) {
        charge_scratch(source.size());
        codes.push_back(unpack(source));
      }
      from.push_back(is_packed(type_) ? reinterpret_cast<const std::byte*>(codes.back().data())
                                      : source.bytes().data());
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      Tensor& made = output(state, k, type_, outputs_[k].shape);
      if (made.size() == 0) continue;
      if (!is_packed(type_)) {
        write(state, outputs_[k], from, made.bytes().data());
        continue;
      }
      charge_scratch(made.size());
      std::vector<std::uint8_t> held(static_cast<std::size_t>(made.size()));
      write(state, outputs_[k], from, reinterpret_cast<std::byte*>(held.data()));
      pack(held, made);
    }
  }

 private:
  bool fit_in_pairs() {
    for (CopiedOutput& output : outputs_) {
      for (CopiedPart& part : output.parts) {
        const std::optional<StridedCopy> pairs = in_pairs(part.move);
        if (!pairs) return false;
        part.move = *pairs;
      }
    }
    return true;
  }

  void write(RunState& state, const CopiedOutput& output, const std::vector<const std::byte*>& from,
             std::byte* to) const {
    const Index all = count(output.shape), parts = ceil_div(all, piece);
    const double cost = static_cast<double>(all) * nanoseconds_an_element;
    if (!output.parts.empty()) {
      if (output.filled) {
        with_sized_bytes(bytes_, [&]<class T>() {
          T value{};
          if (output.fill != zero_fill) std::memcpy(&value, source(from, output.fill), sizeof(T));
          state.each(parts, cost, [&](Index part, Index) {
            std::fill_n(reinterpret_cast<T*>(to) + part * piece,
                        std::min(piece, all - part * piece), value);
          });
        });
      }
      for (const CopiedPart& part : output.parts)
        copy_in_parts(state, part.move, std::min<Index>(bytes_, 8),
                      source(from, part.source) + part.from * bytes_, to + part.to * bytes_);
    } else if (!output.elements.empty()) {
      with_sized_bytes(bytes_, [&]<class T>() {
        const T* const x = reinterpret_cast<const T*>(source(from, output.source));
        T* const y = reinterpret_cast<T*>(to);
        state.each(parts, cost, [&](Index part, Index) {
          for (Index k = part * piece; k < std::min((part + 1) * piece, all); ++k) {
            const std::int32_t element = output.elements[static_cast<std::size_t>(k)];
            y[k] = element < 0 ? T{} : x[element];
          }
        });
      });
    } else {
      for (const CopiedRun& run : output.runs) {
        const auto size = static_cast<std::size_t>(run.count * bytes_);
        if (run.source == zero_fill)
          std::memset(to + run.to * bytes_, 0, size);
        else
          std::memcpy(to + run.to * bytes_, source(from, run.source) + run.from * bytes_, size);
      }
    }
  }

  static const std::byte* source(const std::vector<const std::byte*>& from, Index k) {
    return from[static_cast<std::size_t>(k)];
  }

  const Type type_;
  const Index bytes_;
  std::vector<std::size_t> sources_;  // inputs whose elements are moved
  std::vector<Shape> shapes_;         // of these inputs
  std::vector<CopiedOutput> outputs_;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  return is_movement_of_any_type(graph, node) && !is_data_movement(graph, node) &&
         operator_kind(*graph.node(node).node->signature) != OperatorKind::reshape;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  auto made = std::make_unique<PlannedMoves>(graph, node, std::move(buffers));
  made->kernel = "planned moves " + std::string(graph.node(node).node->signature->op);
  made->kernel_class = KernelClass::copy;
  return made;
}

}  // namespace

const KernelFamily planned_moves_family{"planned moves", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
