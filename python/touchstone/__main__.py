"""`python -m touchstone`: runs the command that was built with this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def command() -> Path | None:
    """Returns the command's file: in the package, or in the build folder that the package lies in."""
    for file in (_HERE / "bin" / "touchstone", _HERE.parent.parent / "touchstone"):
        if file.is_file() and os.access(file, os.X_OK):
            return file
    return None


def main() -> int:
    """Replaces this process by the command; returns 4 if there is none."""
    found = command()
    if found is None:
        sys.stderr.write(
            f"error[unsupported]: the command is not beside the package in {_HERE}\n"
            "  help  build it with `make build`, whose package finds it; touchstone.show, check, optimize and "
            "convert need no command\n"
        )
        return 4
    sys.stdout.flush()
    os.execv(found, [str(found), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
