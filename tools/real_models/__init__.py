"""Runs real models on the reference and ONNX Runtime, and judges every node on the inputs that its runtime computed."""
