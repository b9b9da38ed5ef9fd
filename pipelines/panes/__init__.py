"""What every run does with a pane: close it, commit it, keep epochs and serve metrics.

`pipelines.files` reads files, and `pipelines.stream` reads a topic.
"""
