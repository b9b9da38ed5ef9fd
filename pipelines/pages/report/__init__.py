"""The report of a run, report.json and report.html, built from the ledger alone.

What is shown on a terminal is in `pipelines.terminal`.
"""
