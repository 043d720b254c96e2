"""Probes of spec/questions: single-node cases, run on the reference, the standard's evaluator and ONNX Runtime."""
