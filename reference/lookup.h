// Finds tensor elements in a list, by string or by code.
#pragma once

#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "reference/facts.h"

namespace touchstone {

inline Tensor as_tensor(const IndexVector& list) {
  Tensor made(Type::int64, Shape{list.size()});
  std::copy(list.begin(), list.end(), made.data<std::int64_t>());
  return made;
}
inline Tensor as_tensor(const std::vector<float>& list) {
  Tensor made(Type::float32, Shape{size(list)});
  std::copy(list.begin(), list.end(), made.data<float>());
  return made;
}
inline Tensor as_tensor(const std::vector<std::string>& list) {
  Tensor made(Type::string, Shape{size(list)});
  std::copy(list.begin(), list.end(), made.data<std::string>());
  return made;
}

// Equality of floats: by bits, or as numbers, where both zeros are equal and so is every NaN.
enum class Same { bits, number };

// Hash index of a list's elements.
class Lookup {
 public:
  // The last of equal elements wins.
  explicit Lookup(const Tensor& list, Same same = Same::number) : same_(same) {
    for (Index k = 0; k < list.size(); ++k) {
      if (list.type() == Type::string)
        by_text_.insert_or_assign(list.data<std::string>()[k], k);
      else
        by_code_.insert_or_assign(code(list, k), k);
    }
  }
  // Position in the list of element k of a tensor of the list's type, or -1.
  Index find(const Tensor& tensor, Index k) const {
    return tensor.type() == Type::string ? found(by_text_, tensor.data<std::string>()[k])
                                         : found(by_code_, code(tensor, k));
  }

 private:
  std::uint64_t code(const Tensor& tensor, Index k) const {
    const std::uint64_t code = code_at(tensor, k);
    if (same_ == Same::bits || !facts(tensor.type()).is_float) return code;
    const long double number = number_at(tensor, k);
    return std::isnan(number) ? encode(tensor.type(), std::nanl("")) : number == 0 ? 0 : code;
  }
  template <class Places, class Key>
  static Index found(const Places& places, const Key& key) {
    const auto place = places.find(key);
    return place == places.end() ? -1 : place->second;
  }

  Same same_;
  std::unordered_map<std::string, Index> by_text_;
  std::unordered_map<std::uint64_t, Index> by_code_;
};

// Copies element k of one tensor to element n of another of the same type.
inline void copy_element(const Tensor& from, Index k, Tensor& to, Index n) {
  if (from.type() == Type::string) {
    const std::string& text = from.data<std::string>()[k];
    charge_text(static_cast<Index>(text.size()));
    to.data<std::string>()[n] = text;
  } else {
    set_code(to, n, code_at(from, k));
  }
}

}  // namespace touchstone
