"""A target in forty lines: onnx's evaluator behind the protocol of docs/targets.md, for tensors.

protoc --proto_path=conformance/targets --python_out=. target.proto    # writes target_pb2.py
touchstone conform --target 'command:python docs/examples/worker.py' --suite onnx
"""

import sys
from pathlib import Path

import onnx
import target_pb2 as wire
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator


def receive() -> wire.Question | None:
    size = int.from_bytes(sys.stdin.buffer.read(8), "little")
    return wire.Question.FromString(sys.stdin.buffer.read(size)) if size else None


def reply(**parts) -> None:
    data = wire.Reply(**parts).SerializeToString()
    sys.stdout.buffer.write(len(data).to_bytes(8, "little") + data)
    sys.stdout.buffer.flush()


def run(job: wire.Job) -> wire.Answer:
    session = ReferenceEvaluator(job.model.decode())
    reply(reached=wire.RUN)
    tensors = [onnx.TensorProto.FromString(Path(file.decode()).read_bytes()) for file in job.inputs]
    feeds = dict(zip(session.input_names, map(numpy_helper.to_array, tensors), strict=False))
    answer = wire.Answer(kind=wire.Answer.OUTPUTS)
    for name, array in zip(session.output_names, session.run(None, feeds), strict=True):
        value = numpy_helper.from_array(array)
        element = onnx.TensorProto.DataType.Name(value.data_type).lower()
        answer.outputs.add(name=name.encode(), type=f"tensor({element})".encode(), value=value.SerializeToString())
    return answer


while question := receive():
    if question.HasField("about"):
        reply(description=wire.Description(name=b"onnx-reference", version=onnx.__version__.encode()))
        continue
    try:
        reply(answer=run(question.job))
    except Exception as error:
        reply(answer=wire.Answer(kind=wire.Answer.REFUSED, error=wire.Answer.UNSUPPORTED, detail=str(error).encode()))
