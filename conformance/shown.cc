// Compares values in parallel; a difference in kind, type or shape is a row of its own.
#include "conformance/shown.h"

#include "conformance/judge/text.h"

namespace touchstone::conformance {
namespace {

constexpr Index max_looked_at = 1 << 16;  // elements of a tensor: wrong tensors mostly differ early

std::string about(const Value& value) {
  if (value.absent()) return "nothing";
  if (!value.is_tensor()) return text(value.type());
  return std::string(touchstone::name(value.tensor().type())) + text(value.tensor().shape());
}

class Rows {
 public:
  explicit Rows(std::size_t most) : most_(most) {}

  void value(const std::string& place, const Value& expected, const Value& actual) {
    if (full()) return;
    if (expected.is.index() != actual.is.index()) return add(place, about(expected), about(actual));
    if (expected.is_tensor()) return tensor(place, expected.tensor(), actual.tensor());
    if (const Sequence* e = std::get_if<Sequence>(&expected.is)) {
      const std::vector<Value>& items = std::get<Sequence>(actual.is).items;
      if (e->items.size() != items.size()) {
        return add(place, std::to_string(e->items.size()) + " items",
                   std::to_string(items.size()) + " items");
      }
      for (std::size_t k = 0; k < items.size(); ++k)
        value(place + "[" + std::to_string(k) + "]", e->items[k], items[k]);
    } else if (const Optional* o = std::get_if<Optional>(&expected.is)) {
      const Optional& a = std::get<Optional>(actual.is);
      if (o->item && a.item) return value(place, *o->item, *a.item);
      add(place, o->item ? "a value" : "empty", a.item ? "a value" : "empty");
    }
  }

  std::vector<Shown> take() { return std::move(rows_); }

 private:
  bool full() const { return rows_.size() >= most_; }
  void add(const std::string& place, std::string expected, std::string actual) {
    if (!full()) rows_.push_back({place, std::move(expected), std::move(actual)});
  }

  void tensor(const std::string& place, const Tensor& expected, const Tensor& actual) {
    if (expected.type() != actual.type() || !(expected.shape() == actual.shape())) {
      return add(place, about(expected), about(actual));
    }
    const Index count = std::min(expected.size(), max_looked_at);
    if (count == 0) return add(place, about(expected), about(actual));
    for (const bool wanted_same : {false, true}) {
      for (Index k = 0; k < count && !full(); ++k) {
        std::string e = judge::element_text(expected, k), a = judge::element_text(actual, k);
        if ((e == a) == wanted_same)
          add(place + " " + judge::index_text(expected.shape(), k), std::move(e), std::move(a));
      }
    }
  }

  std::size_t most_;
  std::vector<Shown> rows_;
};

}  // namespace

std::vector<Shown> show(const std::string& name, const Value& expected, const Value& actual,
                        std::size_t most) {
  Rows rows(most);
  rows.value(name, expected, actual);
  return rows.take();
}

}  // namespace touchstone::conformance
