"""Modules under ONNX Runtime's names that other libraries import."""
