"""`python -m touchstone` and the script `touchstone`: run the command that was built with this package."""

from __future__ import annotations

import os
import sys

from touchstone import command
from touchstone.errors import Error

UNSUPPORTED = 4  # the command's exit code for what is not there


def main() -> int:
    """Replaces this process by the command; returns 4 if there is none."""
    try:
        file = command.required()
    except Error as error:
        sys.stderr.write(f"error{error}\n")
        return UNSUPPORTED
    sys.stdout.flush()
    os.execve(file, [str(file), *sys.argv[1:]], command.environment())


if __name__ == "__main__":
    sys.exit(main())
