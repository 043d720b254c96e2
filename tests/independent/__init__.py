"""A second interpreter of the definitions, independent of the kernels' code: `python -m tests.independent`."""
