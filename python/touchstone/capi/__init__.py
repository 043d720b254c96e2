"""Modules under ONNX Runtime's names, for code that imports its exceptions from there."""
