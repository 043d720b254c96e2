"""A second interpreter of the definitions, which shares no code with the kernels: `python -m tests.independent`."""
