"""The pages: the report of a run, and the live board."""
