// Facts of an operator version that draws need: which inputs hold data, which types each admits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/op/draft.h"

namespace touchstone::fuzz {

// The parameter of port `k`; null if there is none.
const ParameterSpec* port_spec(const Signature& signature, std::size_t k);

// Value types that port `k` admits: "tensor(float)".
std::vector<std::string_view> admitted(const Signature& signature, std::size_t k);
const ConstraintSpec* constraint_of(const Signature& signature, std::string_view name);

// True if the port takes arbitrary numbers, as opposed to positions, extents or axes.
bool is_data(const Signature& signature, std::size_t k);

const AttributeSpec* attribute_spec(const Signature& signature, std::string_view name);

// The default as lines write it; "" if there is none.
std::string default_of(const AttributeSpec& attribute);

// The value in another value type, each element converted as closely as possible. Returns false,
// and changes nothing, if its kind cannot become one of that type.
bool retype(DraftValue& value, const std::string& type);

}  // namespace touchstone::fuzz
