/* Runs a model once, with every input of ones, and prints each output's elements and a sum of
 * them, weighted by 1 to 7 in turn. The arguments: the file or the name of the model, then for each
 * input its sizes, as 1x512; for a scalar "". Sizes that are not given are 1 where the model leaves
 * them open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <touchstone/touchstone.h>

static const ts_api* api;

static void check(ts_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "error: %s\n%s\n", api->status_message(status), api->status_json(status));
  exit(1);
}

/* Sets `dims` to the sizes in `text`, at most 8, and returns how many they are. */
static size_t parse_sizes(const char* text, int64_t* dims) {
  size_t rank = 0;
  while (*text != '\0' && rank < 8) {
    char* end;
    dims[rank++] = strtoll(text, &end, 10);
    text = *end == 'x' ? end + 1 : end;
  }
  return rank;
}

/* `type`: "tensor(float)", "tensor(int32)" or "tensor(int64)". */
static ts_value* ones(const char* type, const int64_t* dims, size_t rank) {
  const ts_type element = strcmp(type, "tensor(float)") == 0   ? TS_TYPE_FLOAT
                          : strcmp(type, "tensor(int32)") == 0 ? TS_TYPE_INT32
                                                               : TS_TYPE_INT64;
  ts_value* value;
  check(api->tensor_create(element, dims, rank, &value));
  ts_tensor view = {.struct_size = sizeof view};
  check(api->tensor_view(value, &view));
  for (size_t k = 0; k < view.count; ++k) {
    if (element == TS_TYPE_FLOAT)
      ((float*)view.data)[k] = 1;
    else if (element == TS_TYPE_INT32)
      ((int32_t*)view.data)[k] = 1;
    else
      ((int64_t*)view.data)[k] = 1;
  }
  return value;
}

int main(int argc, char** argv) {
  enum { most = 16 };
  api = ts_get_api(TS_API_VERSION);
  if (argc < 2 || api == NULL) return 2;

  ts_options* options;
  check(api->options_create(&options));
  check(api->options_set(options, "threads", "1"));
  ts_session* session;
  check(api->session_open(argv[1], options, &session));
  api->options_release(options);

  size_t inputs, outputs;
  check(api->session_input_count(session, &inputs));
  check(api->session_output_count(session, &outputs));
  if (inputs > most || outputs > most) return 2;
  const char* names[most];
  ts_value *fed[most], *made[most];
  for (size_t i = 0; i < inputs; ++i) {
    ts_port port = {.struct_size = sizeof port};
    check(api->session_input(session, i, &port));
    int64_t dims[8];
    size_t rank = (size_t)port.rank;
    for (size_t d = 0; d < rank; ++d) dims[d] = port.dims[d] < 0 ? 1 : port.dims[d];
    if ((size_t)argc > i + 2) rank = parse_sizes(argv[i + 2], dims);
    names[i] = port.name;
    fed[i] = ones(port.type, dims, rank);
  }

  const ts_run run = {.struct_size = sizeof run,
                      .input_names = names,
                      .inputs = (const ts_value* const*)fed,
                      .input_count = inputs,
                      .output_count = outputs};
  check(api->session_run(session, &run, made));
  for (size_t k = 0; k < outputs; ++k) {
    ts_tensor view = {.struct_size = sizeof view};
    check(api->tensor_view(made[k], &view));
    if (view.type != TS_TYPE_FLOAT) return 2;
    double sum = 0;
    for (size_t e = 0; e < view.count; ++e)
      sum += (double)(e % 7 + 1) * ((const float*)view.data)[e];
    printf("output %zu: %zu elements, sum %.9g\n", k, view.count, sum);
    api->value_release(made[k]);
  }
  for (size_t i = 0; i < inputs; ++i) api->value_release(fed[i]);
  api->session_release(session);
  return 0;
}
