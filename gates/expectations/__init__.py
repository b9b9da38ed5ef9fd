"""Checks of a pane's shards with Great Expectations, and their data docs."""
