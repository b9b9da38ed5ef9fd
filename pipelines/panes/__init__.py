"""What every run does with a pane, whatever it reads: close it, commit it, keep epochs and metrics.

What reads files is in `pipelines.files`, what reads a topic in `pipelines.stream`.
"""
