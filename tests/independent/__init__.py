"""A second interpreter of the definitions, which has no code in common with the kernels: `python -m tests.independent`."""
