"""Runs a Beam graph on a runner beside the driver, with the servers that it needs.

What a graph does, and what is committed, belongs to files and stream.
"""
