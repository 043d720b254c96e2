"""Peers of `touchstone bench`: one file each, with the name that --against takes."""
