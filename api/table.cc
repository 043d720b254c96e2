// The table of functions, and the one exported symbol.
#include "api/log.h"
#include "api/operator.h"
#include "api/session.h"
#include "api/status.h"
#include "api/value.h"

namespace {

namespace api = touchstone::api;

const char* library_version() { return TOUCHSTONE_VERSION; }

constexpr ts_api table{sizeof(ts_api),
                       TS_API_VERSION,
                       library_version,
                       api::status_kind,
                       api::status_message,
                       api::status_json,
                       api::status_release,
                       api::options_create,
                       api::options_set,
                       api::options_release,
                       api::session_open,
                       api::session_open_bytes,
                       api::session_input_count,
                       api::session_input,
                       api::session_output_count,
                       api::session_output,
                       api::session_info,
                       api::session_property,
                       api::session_placement,
                       api::session_release,
                       api::tensor_create,
                       api::tensor_wrap,
                       api::tensor_create_strings,
                       api::tensor_view,
                       api::tensor_string,
                       api::value_kind,
                       api::value_type,
                       api::sequence_create,
                       api::optional_create,
                       api::map_create,
                       api::value_count,
                       api::value_item,
                       api::map_keys,
                       api::value_release,
                       api::value_from_dlpack,
                       api::value_to_dlpack,
                       api::cancel_create,
                       api::cancel_request,
                       api::cancel_reset,
                       api::cancel_release,
                       api::session_run,
                       api::session_run_async,
                       api::binding_create,
                       api::binding_run,
                       api::binding_release,
                       api::log_to,
                       api::status_create,
                       api::options_set_executor,
                       api::options_add_operator,
                       api::node_name,
                       api::node_attribute,
                       api::node_set_output};

}  // namespace

const ts_api* ts_get_api(std::uint32_t version) {
  return version >= 1 && version <= TS_API_VERSION ? &table : nullptr;
}
