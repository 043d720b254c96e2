// Kernels that are compiled to be counted call this at every block. Weak: who counts, defines it.
extern "C" __attribute__((weak, no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {}
