// Fallback of the coverage callback of instrumented kernels, called at every block. Weak: a
// coverage tool overrides it.
extern "C" __attribute__((weak, no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {}
