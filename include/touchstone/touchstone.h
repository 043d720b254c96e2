/* C interface of Touchstone: loads an ONNX model and runs it.
 *
 * One symbol is exported, ts_get_api(version). It returns a table of functions; later versions only
 * append to it, so a program runs with every library that is at least as new as its header.
 *
 * - A function that can fail returns a ts_status: null is success, anything else is released with
 * status_release. On failure no output argument is written. No C++ exception leaves the library.
 * - Handles are checked: null, a released handle or one of another kind is an error of kind
 * TS_ERROR_USAGE.
 * - All functions may be called from any thread. A session runs several runs at the same time, on
 * one copy of its weights; the option `concurrent_runs` says how many.
 * - Text is UTF-8 and ends in a zero byte. Pointers that a function returns stay valid as long as
 * their handle.
 * - Structures begin with struct_size, which the caller sets to sizeof the structure, and are zero
 * elsewhere by default.
 */
#ifndef TOUCHSTONE_TOUCHSTONE_H
#define TOUCHSTONE_TOUCHSTONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_API_VERSION 2u

typedef struct ts_status ts_status;   /* an error */
typedef struct ts_options ts_options; /* settings of a session, by name */
typedef struct ts_session ts_session; /* a model that is ready to run */
typedef struct ts_value
    ts_value; /* a tensor, sequence, optional or map; immutable but for wrapped memory */
typedef struct ts_cancel ts_cancel;   /* a flag that ends runs */
typedef struct ts_binding ts_binding; /* a run whose inputs and outputs are memory of the caller */
typedef struct ts_node ts_node;       /* a node whose operator the program has, in its functions */

typedef enum ts_error {
  TS_ERROR_NONE = 0,
  TS_ERROR_USAGE = 1,         /* a wrong call: a handle, a name, a type, a shape */
  TS_ERROR_INVALID_MODEL = 2, /* the model breaks a rule of the standard */
  TS_ERROR_INVALID_INPUT = 3, /* a value at run time breaks an operator's rule */
  TS_ERROR_UNSUPPORTED = 4,
  TS_ERROR_OUT_OF_MEMORY = 5,
  TS_ERROR_LIMIT = 6, /* a limit of the options, or the deadline */
  TS_ERROR_CANCELLED = 7,
  TS_ERROR_FILE = 8,
  TS_ERROR_INTERNAL = 9 /* a fault of the library */
} ts_error;

/* Element types, by the codes of TensorProto.DataType. */
typedef enum ts_type {
  TS_TYPE_UNDEFINED = 0,
  TS_TYPE_FLOAT = 1,
  TS_TYPE_UINT8 = 2,
  TS_TYPE_INT8 = 3,
  TS_TYPE_UINT16 = 4,
  TS_TYPE_INT16 = 5,
  TS_TYPE_INT32 = 6,
  TS_TYPE_INT64 = 7,
  TS_TYPE_STRING = 8,
  TS_TYPE_BOOL = 9,
  TS_TYPE_FLOAT16 = 10,
  TS_TYPE_DOUBLE = 11,
  TS_TYPE_UINT32 = 12,
  TS_TYPE_UINT64 = 13,
  TS_TYPE_COMPLEX64 = 14,
  TS_TYPE_COMPLEX128 = 15,
  TS_TYPE_BFLOAT16 = 16,
  TS_TYPE_FLOAT8E4M3FN = 17,
  TS_TYPE_FLOAT8E4M3FNUZ = 18,
  TS_TYPE_FLOAT8E5M2 = 19,
  TS_TYPE_FLOAT8E5M2FNUZ = 20,
  TS_TYPE_UINT4 = 21,
  TS_TYPE_INT4 = 22,
  TS_TYPE_FLOAT4E2M1 = 23,
  TS_TYPE_FLOAT8E8M0 = 24,
  TS_TYPE_UINT2 = 25,
  TS_TYPE_INT2 = 26,
  TS_TYPE_FLOAT6E2M3 = 27,
  TS_TYPE_FLOAT6E3M2 = 28
} ts_type;

typedef enum ts_kind {
  TS_KIND_ABSENT = 0, /* an optional output that a node does not give */
  TS_KIND_TENSOR = 1,
  TS_KIND_SEQUENCE = 2,
  TS_KIND_OPTIONAL = 3,
  TS_KIND_MAP = 4,
  TS_KIND_SPARSE_TENSOR = 5
} ts_kind;

/* An input or output of a model. */
typedef struct ts_port {
  size_t struct_size;
  const char* name;
  const char* type; /* in the standard's notation: "tensor(float)", "seq(tensor(int64))" */
  int32_t rank;     /* -1 if the model does not state it */
  int32_t has_default;
  const int64_t* dims;        /* `rank` sizes; -1 if symbolic or not stated */
  const char* const* symbols; /* `rank` names; "" if not symbolic */
} ts_port;

/* Description of a model, from its file. */
typedef struct ts_model_info {
  size_t struct_size;
  const char* producer;
  const char* graph_name;
  const char* domain;
  const char* description;
  int64_t version;       /* -1 if the file has none */
  size_t property_count; /* entries of metadata_props */
} ts_model_info;

/* View of a tensor. */
typedef struct ts_tensor {
  size_t struct_size;
  ts_type type;
  int32_t rank;
  const int64_t* dims;
  size_t count; /* elements */
  size_t bytes; /* of `data`; types below 8 bits are packed, element 0 in the lowest bits */
  void* data;   /* contiguous, row-major; null for strings */
} ts_tensor;

/* One run: names and values of its inputs, and names of the outputs that are wanted. */
typedef struct ts_run {
  size_t struct_size;
  const char* const* input_names;
  const ts_value* const* inputs;
  size_t input_count;
  const char* const* output_names; /* null: all outputs of the model, in its order */
  size_t output_count;             /* size of the array of outputs */
  const ts_cancel* cancel;         /* null: the run cannot be cancelled */
  double deadline;                 /* seconds; 0: that of the session's options */
} ts_run;

/* Called once, on a thread of the library, when an asynchronous run ends. It owns the status and
 * the outputs. */
typedef void (*ts_done)(void* user, ts_status* status, ts_value** outputs, size_t output_count);

/* Messages, with the numbers of ONNX Runtime's severities. */
typedef enum ts_severity {
  TS_SEVERITY_VERBOSE = 0,
  TS_SEVERITY_INFO = 1, /* nodes without a fast kernel, and why */
  TS_SEVERITY_WARNING = 2,
  TS_SEVERITY_ERROR = 3,
  TS_SEVERITY_FATAL = 4
} ts_severity;

/* Called by the thread that has the message, by several at once. `category` is the part that
 * speaks: "session". It must not call the session. */
typedef void (*ts_log)(void* user, ts_severity severity, const char* category, const char* message);

/* A program's own threads: calls task(context, k) for each k below `count`, on any threads, and
 * returns when all these calls have returned. Several threads may call it at once. */
typedef void (*ts_parallel_for)(void* user, size_t count, void (*task)(void* context, size_t k),
                                void* context);

/* Input or output of an operator of the program. */
typedef struct ts_parameter {
  size_t struct_size;
  const char* name;
  const char* types; /* "tensor(float), tensor(double)"; null: every tensor type */
  const char* same;  /* a word: parameters with it have the same type in a node; null: none */
  int32_t is_optional;
  int32_t is_variadic; /* the last one alone may be */
} ts_parameter;

typedef enum ts_attribute_kind {
  TS_ATTRIBUTE_ABSENT = 0, /* the node does not have it */
  TS_ATTRIBUTE_FLOAT = 1,  /* the codes of AttributeProto */
  TS_ATTRIBUTE_INT = 2,
  TS_ATTRIBUTE_STRING = 3,
  TS_ATTRIBUTE_TENSOR = 4,
  TS_ATTRIBUTE_FLOATS = 6,
  TS_ATTRIBUTE_INTS = 7,
  TS_ATTRIBUTE_STRINGS = 8
} ts_attribute_kind;

/* Attribute of a node: one of the lists, with `count` elements, 1 for a single value. */
typedef struct ts_attribute {
  size_t struct_size;
  ts_attribute_kind kind;
  size_t count;
  const float* floats;
  const int64_t* ints;
  const char* const* strings;
  const size_t* lengths; /* of the strings, in bytes */
  const ts_value* tensor;
} ts_attribute;

/* Says what a node's outputs are, by node_set_output. `inputs` has a row per input that the node
 * names, rank -1 and type "" where nothing is known; its sizes are numbers. Called many times, also
 * with sizes that no run has. A status leaves the outputs unknown until they are computed. */
typedef ts_status* (*ts_infer)(void* user, ts_node* node, const ts_port* inputs, size_t input_count,
                               size_t output_count);
/* Computes a node. Inputs that it leaves out are null, and so may be outputs that it leaves out.
 * `inputs`, and what is exported from them, are valid during the call alone. The library takes the
 * outputs, and the status if it is not null. Called by several threads at once; it must not run the
 * session that calls it. */
typedef ts_status* (*ts_compute)(void* user, const ts_node* node, const ts_value* const* inputs,
                                 size_t input_count, ts_value** outputs, size_t output_count);

/* An operator of the program. */
typedef struct ts_operator {
  size_t struct_size;
  const char* domain; /* none of the standard's */
  const char* name;
  int32_t since_version; /* from 1 on; the newest that is not above the model's import counts */
  const ts_parameter* inputs;
  size_t input_count;
  const ts_parameter* outputs;
  size_t output_count;
  ts_compute compute;
  ts_infer infer; /* may be null */
  void* user;
  void (*release)(void* user); /* called once nothing uses the operator any more; may be null */
} ts_operator;

typedef struct ts_api {
  size_t struct_size;
  uint32_t version;
  const char* (*library_version)(void); /* "0.1.0" */

  /* Errors. An invalid status has kind TS_ERROR_USAGE and empty text. */
  ts_error (*status_kind)(const ts_status* status);
  const char* (*status_message)(const ts_status* status);
  const char* (*status_json)(
      const ts_status* status); /* kind, message, rule, rule_text, spec_line, place, help */
  void (*status_release)(ts_status* status);

  /* Options: `runtime` fast or reference, `threads`, `level` none, basic, extended or all,
   * `winograd` 0 or 1, `with_passes` and `without_passes` (names with commas), `devices` (cpu;
   * opencl,cpu), `limits` trusted or untrusted, `deadline` in seconds, `memory_limit` in bytes,
   * `concurrent_runs`, `dim:SYMBOL` a size. docs/c.md has their defaults. */
  ts_status* (*options_create)(ts_options** options);
  ts_status* (*options_set)(ts_options* options, const char* name, const char* value);
  void (*options_release)(ts_options* options);

  /* Sessions. `options` may be null. Bytes are not used after the call; they cannot name files next
   * to them. */
  ts_status* (*session_open)(const char* path, const ts_options* options, ts_session** session);
  ts_status* (*session_open_bytes)(const void* data, size_t size, const ts_options* options,
                                   ts_session** session);
  ts_status* (*session_input_count)(const ts_session* session, size_t* count);
  ts_status* (*session_input)(const ts_session* session, size_t index, ts_port* port);
  ts_status* (*session_output_count)(const ts_session* session, size_t* count);
  ts_status* (*session_output)(const ts_session* session, size_t index, ts_port* port);
  ts_status* (*session_info)(const ts_session* session, ts_model_info* info);
  ts_status* (*session_property)(const ts_session* session, size_t index, const char** key,
                                 const char** value);
  /* Kernels of the last run as JSON: [{"kernel": .., "nodes": [..]}]; valid until the next call. */
  ts_status* (*session_placement)(ts_session* session, const char** json);
  /* Runs in flight go on: asynchronous ones still call their function, and release the session
   * after the last. */
  void (*session_release)(ts_session* session);

  /* Tensors. `tensor_create` fills with zeros. `tensor_wrap` reads and writes memory of the caller,
   * which must be aligned for its elements, hold `bytes`, and outlive the value and everything made
   * of it. */
  ts_status* (*tensor_create)(ts_type type, const int64_t* dims, size_t rank, ts_value** value);
  ts_status* (*tensor_wrap)(ts_type type, const int64_t* dims, size_t rank, void* data,
                            size_t bytes, ts_value** value);
  /* `lengths` may be null if every string ends in a zero byte. */
  ts_status* (*tensor_create_strings)(const int64_t* dims, size_t rank, const char* const* strings,
                                      const size_t* lengths, ts_value** value);
  ts_status* (*tensor_view)(const ts_value* value, ts_tensor* view);
  ts_status* (*tensor_string)(const ts_value* value, size_t index, const char** data,
                              size_t* length);

  /* Containers. `type` is that of the whole value: "seq(tensor(float))". Items are copied by
   * reference. */
  ts_status* (*value_kind)(const ts_value* value, ts_kind* kind);
  ts_status* (*value_type)(const ts_value* value, const char** type);
  ts_status* (*sequence_create)(const char* type, const ts_value* const* items, size_t count,
                                ts_value** value);
  ts_status* (*optional_create)(const char* type, const ts_value* item,
                                ts_value** value); /* a null item: empty */
  /* `keys`: a tensor of one dimension of the map's key type. */
  ts_status* (*map_create)(const char* type, const ts_value* keys, const ts_value* const* items,
                           size_t count, ts_value** value);
  ts_status* (*value_count)(const ts_value* value, size_t* count); /* items of a container */
  ts_status* (*value_item)(const ts_value* value, size_t index, ts_value** item);
  ts_status* (*map_keys)(const ts_value* map, ts_value** keys); /* in the order of value_item */
  void (*value_release)(ts_value* value);

  /* DLPack: `managed` is a DLManagedTensor of the processor. Importing copies its elements and
   * calls its deleter; on failure the caller keeps it. An exported tensor shares the value's
   * memory, and is freed by its own deleter. */
  ts_status* (*value_from_dlpack)(void* managed, ts_value** value);
  ts_status* (*value_to_dlpack)(const ts_value* value, void** managed);

  /* Cancelling. A request ends all present and later runs that were given the flag, until it is
   * reset. */
  ts_status* (*cancel_create)(ts_cancel** cancel);
  ts_status* (*cancel_request)(ts_cancel* cancel);
  ts_status* (*cancel_reset)(ts_cancel* cancel);
  void (*cancel_release)(ts_cancel* cancel);

  /* Runs. `outputs` has run->output_count elements and is written on success only. */
  ts_status* (*session_run)(ts_session* session, const ts_run* run, ts_value** outputs);
  ts_status* (*session_run_async)(ts_session* session, const ts_run* run, ts_done done, void* user);

  /* A binding runs on tensors of the caller: inputs are read from and outputs written to them in
   * place. Runs after the first allocate nothing if every node has a fast kernel. */
  ts_status* (*binding_create)(ts_session* session, const char* const* input_names,
                               const ts_value* const* inputs, size_t input_count,
                               const char* const* output_names, ts_value* const* outputs,
                               size_t output_count, ts_binding** binding);
  ts_status* (*binding_run)(ts_binding* binding, const ts_cancel* cancel, double deadline);
  void (*binding_release)(ts_binding* binding);

  /* From here on: since version 2. */

  /* Messages of at least this severity go to the function, for the whole process; null ends them.
   * Calls that have begun go on. */
  ts_status* (*log_to)(ts_log log, void* user, ts_severity least);

  /* Makes an error, for the functions of an operator. */
  ts_status* (*status_create)(ts_error kind, const char* message, ts_status** status);

  /* Threads of the program in place of the session's own. */
  ts_status* (*options_set_executor)(ts_options* options, ts_parallel_for executor, void* user);

  /* Adds an operator to the models that are opened with these options. Everything is copied. On
   * failure, `release` is not called. */
  ts_status* (*options_add_operator)(ts_options* options, const ts_operator* added);

  /* A node in the functions of its operator; the handle is valid during the call alone. */
  ts_status* (*node_name)(const ts_node* node, const char** name);
  ts_status* (*node_attribute)(const ts_node* node, const char* name, ts_attribute* attribute);
  /* `type` null: that of the operator. `rank` -1: unknown, as are sizes of -1. In ts_infer alone.
   */
  ts_status* (*node_set_output)(ts_node* node, size_t index, const char* type, int32_t rank,
                                const int64_t* dims);
} ts_api;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
/* Returns the table of this version; null if the library is older. Versions begin with 1. */
const ts_api*
ts_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* TOUCHSTONE_TOUCHSTONE_H */
