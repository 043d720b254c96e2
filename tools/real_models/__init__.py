"""Real models on the reference and on ONNX Runtime, every node judged on the inputs that the runtime itself gave it."""
