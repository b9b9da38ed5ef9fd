"""Loads what a process needs for its first pane; imported before worker processes are made."""

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.engine.make import Worker
from evenflow.schemas.config import Config
from evenflow.transforms.io.records import Documents

# Another language than English, and letters outside ASCII, need large tables
TEXT = "Die Bäckerin aus Köln erzählte ihrer Schwester, wer gestern die Straße gefegt hatte."

with uncollected():
    _worker = Worker(Config())
    _worker.annotator.annotate_documents(Documents("", ["text"], [TEXT], [0]), 0)
    _ = _worker.checks
