"""Pipelines to start from: each is a script that runs as it is, and is run by the tests."""
