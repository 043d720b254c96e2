"""Every test here imports the package that the build made."""

from tests.python import built  # noqa: F401
