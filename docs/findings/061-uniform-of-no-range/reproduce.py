"""Finding 061: RandomUniform with low above high ends the process. Exit code 1 where it shows, else 0."""

import subprocess
import sys

import onnx.parser
import onnxruntime

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 13]>
g () => (float[2] y) { y = RandomUniform <shape = [2], low = 2.0, high = 1.0> () }""")
feeds = {}
if sys.argv[1:]:  # the child, which dies alone
    print(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0])
    sys.exit()
done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
print("got  ", f"signal {-done.returncode}" if done.returncode < 0 else done.stdout.strip())
print("right", "an error")
sys.exit(1 if done.returncode < 0 else 0)
