/* A program in C that links libtouchstone: runs a model on one input of ones, and prints each
 * output's sum. */
#include <stdio.h>
#include <stdlib.h>
#include <touchstone/touchstone.h>

static const ts_api* api;

static void check(ts_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "error: %s\n%s\n", api->status_message(status), api->status_json(status));
  api->status_release(status);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  api = ts_get_api(TS_API_VERSION);
  if (api == NULL) return 3;

  ts_options* options;
  check(api->options_create(&options));
  check(api->options_set(options, "threads", "1"));
  ts_session* session;
  check(api->session_open(argv[1], options, &session));
  api->options_release(options);

  ts_port port = {.struct_size = sizeof port};
  check(api->session_input(session, 0, &port));
  int64_t dims[8];
  size_t count = 1;
  for (int d = 0; d < port.rank; ++d) {
    dims[d] = port.dims[d] < 0 ? 1 : port.dims[d];
    count *= (size_t)dims[d];
  }
  float* ones = malloc(count * sizeof *ones);
  for (size_t k = 0; k < count; ++k) ones[k] = 1;
  ts_value* input;
  check(
      api->tensor_wrap(TS_TYPE_FLOAT, dims, (size_t)port.rank, ones, count * sizeof *ones, &input));

  size_t output_count;
  check(api->session_output_count(session, &output_count));
  ts_value** outputs = malloc(output_count * sizeof *outputs);
  const ts_run run = {.struct_size = sizeof run,
                      .input_names = &port.name,
                      .inputs = (const ts_value* const*)&input,
                      .input_count = 1,
                      .output_count = output_count};
  check(api->session_run(session, &run, outputs));
  for (size_t k = 0; k < output_count; ++k) {
    ts_tensor view = {.struct_size = sizeof view};
    check(api->tensor_view(outputs[k], &view));
    double sum = 0;
    for (size_t e = 0; e < view.count; ++e) sum += ((const float*)view.data)[e];
    printf("output %zu: %zu elements, sum %g\n", k, view.count, sum);
    api->value_release(outputs[k]);
  }
  api->value_release(input);
  api->session_release(session);
  free(outputs);
  free(ones);
  return 0;
}
