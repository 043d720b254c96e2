// Values of the C interface.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/handle.h"
#include "core/tensor.h"
#include "include/touchstone/touchstone.h"

namespace touchstone::api {

struct HeldValue {
  explicit HeldValue(Value given);

  const Value value;
  const ValueType type;
  const std::string type_text;
  const std::vector<std::int64_t> dims;  // of a tensor
};

std::shared_ptr<HeldValue> value_of(const ts_value* handle);  // throws Error (usage)
ts_value* handle_of(Value value);
void release_values(ts_value** values, std::size_t count) noexcept;

// Throws Error (usage) for a code that is no element type.
Type type_of(ts_type code);

// Table entries.
ts_status* tensor_create(ts_type type, const std::int64_t* dims, std::size_t rank,
                         ts_value** value);
ts_status* tensor_wrap(ts_type type, const std::int64_t* dims, std::size_t rank, void* data,
                       std::size_t bytes, ts_value** value);
ts_status* tensor_create_strings(const std::int64_t* dims, std::size_t rank,
                                 const char* const* strings, const std::size_t* lengths,
                                 ts_value** value);
ts_status* tensor_view(const ts_value* value, ts_tensor* view);
ts_status* tensor_string(const ts_value* value, std::size_t index, const char** data,
                         std::size_t* length);
ts_status* value_kind(const ts_value* value, ts_kind* kind);
ts_status* value_type(const ts_value* value, const char** type);
ts_status* sequence_create(const char* type, const ts_value* const* items, std::size_t count,
                           ts_value** value);
ts_status* optional_create(const char* type, const ts_value* item, ts_value** value);
ts_status* map_create(const char* type, const ts_value* keys, const ts_value* const* items,
                      std::size_t count, ts_value** value);
ts_status* value_count(const ts_value* value, std::size_t* count);
ts_status* value_item(const ts_value* value, std::size_t index, ts_value** item);
ts_status* map_keys(const ts_value* map, ts_value** keys);
void value_release(ts_value* value);
ts_status* value_from_dlpack(void* managed, ts_value** value);
ts_status* value_to_dlpack(const ts_value* value, void** managed);

}  // namespace touchstone::api
