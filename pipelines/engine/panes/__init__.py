"""What every run does with a pane: close it, commit it, keep epochs and serve metrics.

`pipelines.engine.files` reads files, and `pipelines.engine.topics` reads topics.
"""
