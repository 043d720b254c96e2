"""The peers of `touchstone bench`: one file each, under the name that --against takes."""
