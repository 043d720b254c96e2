"""Paths of the build's package and command; importing this module makes `import touchstone` find that package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TOUCHSTONE_BUILD", ROOT / "build"))
PACKAGES = BUILD / "python"
COMMAND = BUILD / "touchstone"
ONNXRUNTIME = ROOT / ".venv-onnxruntime" / "bin" / "python"

sys.path.insert(0, str(PACKAGES))
# The sanitized module needs its sanitizer preloaded; a child process must not inherit the preload.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
