"""`touchstone bench`: runtimes take turns on one machine."""
