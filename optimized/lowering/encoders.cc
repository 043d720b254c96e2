// Family of encoders by lists of keys: LabelEncoder, CategoryMapper and OneHotEncoder. The keys are
// read once into a hash table.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "core/budget.h"
#include "optimized/lowering/families.h"
#include "optimized/lowering/features.h"
#include "optimized/lowering/moves.h"
#include "reference/lookup.h"

namespace touchstone::optimized {
namespace {

constexpr double nanoseconds_a_number = 3, nanoseconds_a_text = 60;

// The code of a number, or of any number that is equal to it.
template <class T>
std::uint64_t key_of(T x, Same same) {
  if constexpr (std::is_floating_point_v<T>) {
    if (same == Same::number && x != x) x = std::numeric_limits<T>::quiet_NaN();
    if (same == Same::number && x == 0) x = 0;
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    return bits;
  } else {
    return static_cast<std::uint64_t>(x);
  }
}

// Calls f<T>() with the C++ type of a number that may be a key; returns false for other types.
template <class F>
bool with_key(Type type, F f) {
  if (is_feature(type)) {
    with_feature(type, f);
    return true;
  }
  if (type != Type::int16) return false;
  f.template operator()<std::int16_t>();
  return true;
}

// Finds the place of an element in a list of keys; the last of equal keys wins.
class Keys {
 public:
  Keys() = default;
  Keys(const Tensor& list, Same same) : type_(list.type()), same_(same), missing_(list.size()) {
    if (type_ == Type::string) {
      texts_.emplace(list, same);
      return;
    }
    Index slots = 16;
    while (slots < 2 * list.size()) slots *= 2, --shift_;
    mask_ = static_cast<std::uint64_t>(slots) - 1;
    slots_.assign(static_cast<std::size_t>(slots), Slot{0, missing_});
    bool crowded = false;
    known_ = with_key(type_, [&]<class T>() {
      for (Index k = 0; k < list.size() && !crowded; ++k) {
        const std::uint64_t key = key_of(list.data<T>()[k], same_);
        const std::size_t at = place(key);
        slots_[at] = {key, k};
        crowded = ((at - home(key)) & mask_) > longest;
      }
    });
    known_ = known_ && !crowded && !has_long_runs();
  }
  Type type() const { return type_; }
  // False for keys that are left to the reference.
  bool known() const { return known_; }
  Index missing() const { return missing_; }

  // Returns missing() for what is no key.
  template <class T>
  Index find(T x) const {
    return slots_[place(key_of(x, same_))].at;
  }
  Index find_text(const Tensor& texts, Index k) const {
    const Index place = texts_->find(texts, k);
    return place < 0 ? missing_ : place;
  }

 private:
  struct Slot {
    std::uint64_t key;
    Index at;  // missing_ if the slot is free
  };

  // Slots that a search passes at most. Only keys that are made to collide need more.
  static constexpr std::uint64_t longest = 1024;

  bool has_long_runs() const {
    std::uint64_t run = 0;
    for (std::uint64_t k = 0; k < slots_.size() + longest && run <= longest; ++k)
      run = slots_[k & mask_].at == missing_ ? 0 : run + 1;
    return run > longest;
  }
  std::uint64_t home(std::uint64_t key) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    return key * golden >> shift_;
  }
  // The slot of a key, or the free one where it would be.
  std::size_t place(std::uint64_t key) const {
    std::uint64_t at = home(key);
    while (slots_[at].at != missing_ && slots_[at].key != key) at = (at + 1) & mask_;
    return static_cast<std::size_t>(at);
  }

  Type type_ = Type::undefined;
  Same same_ = Same::number;
  Index missing_ = 0;
  bool known_ = true;
  int shift_ = 64 - 4;
  std::uint64_t mask_ = 0;
  std::vector<Slot> slots_;
  std::optional<Lookup> texts_;
};

class EncoderStep : public Moves {
 public:
  EncoderStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : Moves(graph, node, std::move(buffers)) {
    kernel = "encoder";
    kernel_class = KernelClass::copy;
  }

 protected:
  // Calls work(first, end) for ranges of elements, on all threads.
  template <class F>
  static void in_parts(RunState& state, const Tensor& x, double more, F work) {
    const double each = x.type() == Type::string ? nanoseconds_a_text : nanoseconds_a_number;
    in_ranges(state, x.size(), each + more, [&](Index first, Index end) {
      charge_work(end - first);
      work(first, end);
    });
  }

  Keys keys_;
};

// Replaces each element by the value of its key. The value after the last is that of no key.
class ValuesStep : public EncoderStep {
 public:
  ValuesStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : EncoderStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    const Type type = element_of(graph, node, 0);
    if (facts.signature().op == "LabelEncoder" && facts.signature().since > 1)
      read_pairs(facts);
    else
      read_lists(facts, type == Type::string);
    fits_ = fits_ && keys_.known() && keys_.type() == type &&
            (is_movable(values_.type()) || values_.type() == Type::string);
  }

 private:
  bool moved(RunState& state) override {
    const Tensor& x = input(state, 0);
    if (!fits_ || x.type() != keys_.type()) return false;
    Tensor& y = output(state, 0, values_.type(), x.shape());
    if (y.size() == 0) return true;
    if (values_.type() == Type::string) {
      const std::string* const values = values_.data<std::string>();
      std::string* const to = y.data<std::string>();
      each_place(state, x, nanoseconds_a_text, [&](Index k, Index place) {
        charge_text(static_cast<Index>(values[place].size()));
        to[k] = values[place];
      });
      y.charge_texts();
      return true;
    }
    with_sized(values_.type(), [&]<class V>() {
      const V* const values = values_.data<V>();
      V* const to = y.data<V>();
      each_place(state, x, 0, [&](Index k, Index place) { to[k] = values[place]; });
    });
    return true;
  }

  // Calls work(k, place of element k) for each element.
  template <class F>
  void each_place(RunState& state, const Tensor& x, double more, F work) const {
    in_parts(state, x, more, [&](Index first, Index end) {
      if (x.type() == Type::string) {
        for (Index k = first; k < end; ++k) work(k, keys_.find_text(x, k));
        return;
      }
      with_key(x.type(), [&]<class T>() {
        const T* const from = x.data<T>();
        for (Index k = first; k < end; ++k) work(k, keys_.find(from[k]));
      });
    });
  }

  void set(const Tensor& keys, const Tensor& values, const Tensor& otherwise, Same same) {
    fits_ = keys.shape().size() == 1 && keys.shape() == values.shape() && otherwise.size() == 1 &&
            otherwise.type() == values.type();
    if (!fits_) return;
    keys_ = Keys(keys, same);
    values_ = Tensor(values.type(), Shape{add(values.size(), 1)});
    for (Index k = 0; k < values.size(); ++k) copy_element(values, k, values_, k);
    copy_element(otherwise, 0, values_, values.size());
  }

  // Two lists of the same length, each under one of several names.
  void read_pairs(const Facts& facts) {
    const std::optional<Tensor> keys = list(facts, "keys"), values = list(facts, "values");
    if (!keys || !values) return;
    const Same same = facts.signature().since < 4 ? Same::bits : Same::number;
    if (const Tensor* const given = facts.tensor("default_tensor"))
      return set(*keys, *values, *given, same);
    if (values->type() == Type::string) {
      const std::vector<std::string> text{facts.text("default_string", "_Unused")};
      return set(*keys, *values, as_tensor(text), same);
    }
    Tensor otherwise(values->type(), Shape{1});
    if (touchstone::facts(values->type()).is_float)
      set_number(otherwise, 0, facts.number("default_float", -0.0F));
    else
      set_number(otherwise, 0, static_cast<long double>(facts.integer("default_int64", -1)));
    set(*keys, *values, otherwise, same);
  }
  static std::optional<Tensor> list(const Facts& facts, const std::string& name) {
    Index given = 0;
    for (const char* kind : {"_floats", "_int64s", "_strings", "_tensor"})
      given += facts.given(name + kind) ? 1 : 0;
    if (given != 1) return std::nullopt;
    if (facts.given(name + "_floats")) return as_tensor(facts.numbers(name + "_floats"));
    if (facts.given(name + "_int64s")) return as_tensor(facts.integers(name + "_int64s"));
    if (facts.given(name + "_strings")) return as_tensor(facts.texts(name + "_strings"));
    const Tensor& held = *facts.tensor(name + "_tensor");
    if (held.type() != Type::string && !is_movable(held.type())) return std::nullopt;
    return held;
  }

  // Texts and their integers, which early LabelEncoders number from 0.
  void read_lists(const Facts& facts, bool from_text) {
    const bool numbered = facts.signature().op == "LabelEncoder";
    const Tensor texts = as_tensor(facts.texts(numbered ? "classes_strings" : "cats_strings"));
    IndexVector numbers = facts.integers("cats_int64s");
    for (Index k = 0; numbered && k < texts.size(); ++k) numbers.push_back(k);
    const Tensor integers = as_tensor(numbers);
    if (from_text) {
      set(texts, integers, as_tensor(IndexVector{facts.integer("default_int64", -1)}),
          Same::number);
    } else {
      const std::vector<std::string> text{facts.text("default_string", "_Unused")};
      set(integers, texts, as_tensor(text), Same::number);
    }
  }

  bool fits_ = false;
  Tensor values_;
};

// Writes a row of zeros for each element, with a one in the column of its category.
class ColumnsStep : public EncoderStep {
 public:
  ColumnsStep(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers)
      : EncoderStep(graph, node, std::move(buffers)) {
    const Facts& facts = fact().attributes();
    const IndexVector numbers = facts.integers("cats_int64s");
    const std::vector<std::string> texts = facts.texts("cats_strings");
    const bool text = element_of(graph, node, 0) == Type::string;
    fits_ = numbers.empty() != texts.empty() && text == numbers.empty();
    may_miss_ = facts.integer("zeros", 1) != 0;
    if (fits_) keys_ = Keys(text ? as_tensor(texts) : as_tensor(numbers), Same::number);
    fits_ = fits_ && keys_.known();
  }

 private:
  bool moved(RunState& state) override {
    if (!fits_) return false;
    const Tensor& x = input(state, 0);
    const Index columns = keys_.missing();
    Shape shape = x.shape();
    shape.push_back(columns);
    std::atomic<bool> all = true;
    Tensor& y = output(state, 0, Type::float32, shape);
    if (y.size() == 0) return true;
    float* const to = y.data<float>();
    const double cost = nanoseconds_an_element * static_cast<double>(columns);
    in_parts(state, x, cost, [&](Index first, Index end) {
      std::fill(to + first * columns, to + end * columns, 0.0F);
      bool found = true;
      const auto mark = [&](Index k, Index place) {
        if (place < columns) to[k * columns + place] = 1;
        found &= place < columns;
      };
      if (x.type() == Type::string) {
        for (Index k = first; k < end; ++k) mark(k, keys_.find_text(x, k));
      } else {
        with_feature(x.type(), [&]<class T>() {
          for (Index k = first; k < end; ++k) mark(k, place_of(x.data<T>()[k]));
        });
      }
      if (!found) all = false;
    });
    return may_miss_ || all;
  }

  // Numbers are truncated first.
  template <class T>
  Index place_of(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T past = T(0x1p63);
      return x >= -past && x < past ? keys_.find(static_cast<std::int64_t>(x)) : keys_.missing();
    } else {
      return keys_.find(static_cast<std::int64_t>(x));
    }
  }

  bool fits_ = false, may_miss_ = true;
};

bool takes(const AnalyzedGraph& graph, Index node) {
  const AnalyzedNode& fact = graph.node(node);
  const Signature& signature = *fact.node->signature;
  if (signature.domain != "ai.onnx.ml" || fact.inputs.size() != 1) return false;
  const Type type = element_of(graph, node, 0);
  const bool text = type == Type::string;
  if (signature.op == "OneHotEncoder") return text || is_feature(type);
  if (signature.op == "CategoryMapper" || signature.op == "LabelEncoder")
    return text || is_feature(type) || type == Type::int16;
  return false;
}

std::unique_ptr<Step> step(const AnalyzedGraph& graph, Index node, std::vector<Index> buffers) {
  if (graph.node(node).node->signature->op == "OneHotEncoder")
    return std::make_unique<ColumnsStep>(graph, node, std::move(buffers));
  return std::make_unique<ValuesStep>(graph, node, std::move(buffers));
}

}  // namespace

const KernelFamily encoders_family{"encoders", KernelClass::copy, takes, step};

}  // namespace touchstone::optimized
