"""The gate on files: cutting panes, the Beam graph that reads them, the driver that commits them.

What a run on a topic needs too, to close and commit a pane, is in `pipelines.panes`.
"""
