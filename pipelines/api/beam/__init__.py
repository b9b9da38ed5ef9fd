"""Transforms for other people's Beam pipelines: read, annotate, make panes, judge, write.

All of them call the code of the engine. `pipelines/examples/whole_gate.py` builds the whole gate
from them.

Example:
    >>> import apache_beam as beam
    >>> from evenflow.beam import AnnotateDocuments, CountMentions, JudgePanes
    >>> documents = [
    ...     (number, {"id": f"{number}-{n}", "text": "He met his father."})
    ...     for number in range(2)
    ...     for n in range(200)
    ... ]
    >>> with beam.Pipeline("FnApiRunner") as pipeline:
    ...     panes = (
    ...         pipeline
    ...         | beam.Create(documents)
    ...         | beam.MapTuple(lambda pane, document: {"pane": pane, **document})
    ...         | AnnotateDocuments({"pane.rolling": 1}, attributes=["gender"])
    ...         | beam.WithKeys(lambda document: document["pane"])
    ...         | beam.CombinePerKey(CountMentions({"pane.rolling": 1}, attributes=["gender"]))
    ...         | JudgePanes({"pane.rolling": 1, "gate.block": 0.45}, attributes=["gender"])
    ...         | beam.Map(lambda verdict: print(verdict["pane"], verdict["state"]))
    ...     )
    0 block
    1 block
"""

from evenflow.beam.annotating import AnnotateDocuments, FilterStereotypes
from evenflow.beam.counting import CountMentions, RollingRepresentation
from evenflow.beam.grouping import GroupPanes, KeyByPane
from evenflow.beam.judging import JudgePanes
from evenflow.beam.kafka import ReadKafkaDocuments
from evenflow.beam.panes import MakePanes
from evenflow.beam.writing import WriteShards

__all__ = [
    "AnnotateDocuments",
    "CountMentions",
    "FilterStereotypes",
    "GroupPanes",
    "JudgePanes",
    "KeyByPane",
    "MakePanes",
    "ReadKafkaDocuments",
    "RollingRepresentation",
    "WriteShards",
]
