"""Makes every test of this folder import the package that the build made."""

from tests.python import built  # noqa: F401
