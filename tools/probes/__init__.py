"""The probes of spec/questions: cases of one node, put to the reference, the standard's evaluator and ONNX Runtime."""
