"""The spec suite on other runtimes: each difference from the standard is explained, or it fails the run."""
