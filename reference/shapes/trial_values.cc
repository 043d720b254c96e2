// Infers the shape of a node whose plan needs values of a small tensor known only at run time
// (Reshape, Slice, Pad, TopK). Often the rank, and the dimensions that do not depend on the values,
// can still be determined.
//
// The plan is evaluated with trial values of several kinds. Those that violate a rule are ignored.
// The common result of all others is kept, and a dimension in which they differ gets an unnamed
// symbol. So do all dimensions while an element of the values had too few valid ones.
#include <algorithm>
#include <functional>

#include "core/numbers/convert.h"
#include "reference/shapes/shape_walk.h"

namespace touchstone {
namespace {

constexpr Index max_elements = 8;  // per such tensor
constexpr int common_kinds = 20, kinds = 64;
constexpr int min_answers = 2;
constexpr int thorough_passes =
    8;  // that try all kinds and vary values; the later ones rely on them
// Nodes whose values are tried at all, and thoroughly: bounds on what a hostile model costs.
constexpr std::size_t max_records = 4096, max_thorough = 32;
constexpr std::size_t enough_values = 3;  // valid ones of each element
constexpr std::size_t max_varied = 3;     // valid sets of values that are varied element by element

bool can_be_tried(const PartialValue& known) {
  if (known.left_out || known.value || !known.shape || !known.type ||
      known.type->kind != ValueType::Kind::tensor)
    return false;
  const Type type = known.type->element;
  if (type == Type::undefined || type == Type::string || facts(type).is_complex) return false;
  Index size = 1;
  return std::all_of(known.shape->begin(), known.shape->end(),
                     [&](Index d) { return d <= max_elements && (size *= d) <= max_elements; });
}

std::uint64_t mixed(std::uint64_t number) { return number * 0x9e3779b97f4a7c15 >> 40; }

// Trial value of element k of input n in an attempt of a kind: first values that satisfy many
// rules, then values that make dimensions differ.
Index common_value(int kind, std::uint64_t seed, std::size_t n, Index k) {
  const auto any = static_cast<Index>(mixed(seed * 31 + n * 7 + static_cast<std::uint64_t>(k)));
  switch (kind) {
    case 0:
      return 1;
    case 1:
      return 0;
    case 2:
      return k;
    case 3:
      return static_cast<Index>(n);
    case 4:
      return 2;
    default:
      break;
  }
  if (kind < 8) return any % 7 - 3;
  if (kind < 10) return 1 + any % 5;
  if (kind < 12) return k == kind % 2 ? 2 + any % 90 : 1;
  return k == kind - 12 ? -1 : 1;  // each element in turn
}

// As above; from common_kinds on each input has values of a kind of its own, so that rules on one
// input leave the others free: an axis of 0 with any start.
Index tried(int kind, std::size_t n, Index k) {
  const auto seed = static_cast<std::uint64_t>(kind);
  if (kind < common_kinds) return common_value(kind, seed, n, k);
  const std::uint64_t own = mixed(seed * 131 + n);
  const Index far = Index{1} << own / 8 % 41;
  switch (own % 8) {
    case 0:
      return -1;
    case 1:
      return far;
    case 2:
      return -far;
    case 3:
    case 4:
      return common_value(8, seed, n, k);  // from 1 to 5
    default:
      return common_value(static_cast<int>(own / 8 % 12), seed, n, k);
  }
}

// The result that all evaluations share, and what they add to the record.
class CommonResult {
 public:
  explicit CommonResult(TrialRecord& record) : record_(record) {}

  // Returns false if the results have other types, or depend on something that is not tried.
  bool add(Inferred said) {
    if (said.partial) return false;
    ++answers_;
    if (!agreed_) {
      agreed_ = std::move(said);
      return true;
    }
    for (std::size_t k = 0; k < agreed_->shapes.size(); ++k) {
      std::optional<Shape>& shape = agreed_->shapes[k];
      if (k >= said.shapes.size() || said.types[k] != agreed_->types[k]) return false;
      if (!shape || !said.shapes[k] || said.shapes[k]->size() != shape->size()) {
        shape.reset();
        continue;
      }
      for (Index d = 0; d < shape->size(); ++d) {
        if ((*said.shapes[k])[d] != (*shape)[d]) record_.varying.emplace(k, d);
      }
    }
    return true;
  }

  std::optional<Inferred> result() && {
    return answers_ < min_answers ? std::nullopt : std::move(agreed_);
  }

 private:
  TrialRecord& record_;
  std::optional<Inferred> agreed_;
  int answers_ = 0;
};

void note_valid(const std::vector<std::size_t>& inputs, const TrialValues& values,
                TrialRecord& record) {
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    std::vector<std::set<Index>>& seen = record.of[inputs[n]];
    seen.resize(values[n].size());
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (seen[k].size() < enough_values) seen[k].insert(values[n][k]);
    }
  }
}

bool has_enough(const TrialRecord& record) {
  return std::all_of(record.of.begin(), record.of.end(), [](const auto& input) {
    return std::all_of(input.second.begin(), input.second.end(),
                       [](const auto& values) { return values.size() >= enough_values; });
  });
}

Tensor tensor_of(const PartialValue& input, const std::vector<Index>& numbers) {
  Tensor values(input.type->element, *input.shape);
  for (Index k = 0; k < values.size(); ++k) {
    set_number(values, k, static_cast<long double>(numbers[static_cast<std::size_t>(k)]),
               Saturate::yes);
  }
  return values;
}

// Evaluates at other values of each element alone: values that satisfy rules often do so by chance,
// and all alike. `evaluate` returns false to end it.
bool vary(const TrialValues& valid, const std::function<bool(const TrialValues&)>& evaluate) {
  TrialValues values = valid;
  for (std::vector<Index>& list : values) {
    for (Index& value : list) {
      const Index before = value;
      for (const Index other :
           {before + 1, before - 1, 2 * before, Index{0}, Index{1}, Index{-1}}) {
        value = other;
        if (other != before && !evaluate(values)) return false;
      }
      value = before;
    }
  }
  return true;
}

}  // namespace

std::optional<Inferred> ShapeWalk::probed(const Node& node, const ReferenceEntry& entry,
                                          const std::vector<PartialValue>& inputs,
                                          const std::string& place) {
  std::vector<std::size_t> open;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (can_be_tried(inputs[k])) open.push_back(k);
  }
  if (open.empty() || entry.infer == nullptr) return std::nullopt;
  std::vector<PartialValue> filled = inputs;
  if (state_.trials.size() >= max_records && !state_.trials.contains(place)) return std::nullopt;
  TrialRecord& record = state_.trials[place];
  CommonResult common(record);
  bool is_valid = false;  // the values of the last evaluation
  const auto evaluate = [&](const TrialValues& values) {
    --state_.steps_left;
    for (std::size_t n = 0; n < open.size(); ++n)
      filled[open[n]].value = tensor_of(inputs[open[n]], values[n]);
    Inferred said;
    try {
      said = inferred(node, entry, filled);
    } catch (const Error&) {
      is_valid = false;
      return true;
    }
    is_valid = true;
    note_valid(open, values, record);
    return common.add(std::move(said));
  };
  std::vector<Index> counts;  // elements of each input that is tried
  for (const std::size_t n : open) counts.push_back(count(*inputs[n].shape));
  const auto have_counts = [&](const TrialValues& values) {
    return std::equal(values.begin(), values.end(), counts.begin(), counts.end(),
                      [](const auto& list, Index n) { return std::ssize(list) == n; });
  };
  std::erase_if(record.valid, std::not_fn(have_counts));  // another pass may have other sizes
  const bool thorough = ++record.passes <= thorough_passes && state_.trials.size() <= max_thorough;
  for (int kind = 0; kind < (thorough ? kinds : common_kinds); ++kind) {
    TrialValues values;
    for (std::size_t n = 0; n < open.size(); ++n) {
      values.emplace_back();
      for (Index k = 0; k < counts[n]; ++k) values.back().push_back(tried(kind, open[n], k));
    }
    if (!evaluate(values)) return std::nullopt;
    if (is_valid && record.valid.size() < max_varied) record.valid.push_back(std::move(values));
  }
  for (const TrialValues& values : record.valid) {
    if (!(thorough ? vary(values, evaluate) : evaluate(values))) return std::nullopt;
  }
  std::optional<Inferred> agreed = std::move(common).result();
  if (!agreed) return std::nullopt;
  const bool enough = has_enough(record);
  for (std::size_t k = 0; k < agreed->shapes.size(); ++k) {
    if (!agreed->shapes[k]) continue;
    for (Index d = 0; d < agreed->shapes[k]->size(); ++d) {
      Index& size = (*agreed->shapes[k])[d];
      if (!enough || record.varying.contains({k, d}))
        size = unnamed_size(place + "." + std::to_string(k) + ":" + std::to_string(d));
    }
  }
  return agreed;
}

}  // namespace touchstone
