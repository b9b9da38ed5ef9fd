"""The gate on files: cutting panes, the Beam graph that reads them, the driver that commits them.

Closing and committing a pane, which a run on a topic needs too, is in `pipelines.engine.panes`.
"""
