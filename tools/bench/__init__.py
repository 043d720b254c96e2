"""Benchmark `touchstone bench`: times runtimes that take turns on one machine."""
