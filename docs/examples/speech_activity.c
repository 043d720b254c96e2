/* Speech activity with state, in C: each run takes the state that the run before it gave.
 *
 * gcc speech_activity.c $(pkg-config --cflags --libs touchstone) -lm -o speech_activity
 * ./speech_activity speech_detector.onnx
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <touchstone/touchstone.h>

enum { RATE = 16000, CHUNK = 256 };

static const ts_api* api;

static void check(ts_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "error: %s\n", api->status_message(status));
  api->status_release(status);
  exit(1);
}

/* Two seconds: a tone of 200 Hz from 0.5 to 1.25 s, else near silence. */
static float sample(int at) {
  const double time = (double)at / RATE;
  const double loud = time >= 0.5 && time < 1.25 ? 0.5 : 0.01;
  return (float)(loud * sin(2 * 3.14159265358979 * 200 * time));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  api = ts_get_api(TS_API_VERSION);
  if (api == NULL) return 3;
  ts_session* session;
  check(api->session_open(argv[1], NULL, &session));

  float samples[CHUNK];
  const int64_t chunk_dims[] = {1, CHUNK}, state_dims[] = {1, 1};
  ts_value *chunk, *state;
  check(api->tensor_wrap(TS_TYPE_FLOAT, chunk_dims, 2, samples, sizeof samples, &chunk));
  check(api->tensor_create(TS_TYPE_FLOAT, state_dims, 2, &state));

  int speaking = 0;
  for (int start = 0; start < 2 * RATE; start += CHUNK) {
    for (int k = 0; k < CHUNK; ++k) samples[k] = sample(start + k);
    const ts_value* inputs[] = {chunk, state};
    ts_value* outputs[2];
    const ts_run run = {.struct_size = sizeof run,
                        .input_names = (const char*[]){"chunk", "state"},
                        .inputs = inputs,
                        .input_count = 2,
                        .output_names = (const char*[]){"probability", "next_state"},
                        .output_count = 2};
    check(api->session_run(session, &run, outputs));
    ts_tensor probability = {.struct_size = sizeof probability};
    check(api->tensor_view(outputs[0], &probability));
    const int now = *(const float*)probability.data > 0.5f;
    if (now != speaking) printf("%s at %.2f s\n", now ? "begins" : "ends", (double)start / RATE);
    speaking = now;
    api->value_release(outputs[0]);
    api->value_release(state);
    state = outputs[1];
  }
  api->value_release(state);
  api->value_release(chunk);
  api->session_release(session);
  return 0;
}
