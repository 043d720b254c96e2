"""Runs the spec suite on other runtimes: an unexplained difference from the standard fails the run."""
