"""The whole gate on a topic as a native Beam graph: panes are fixed windows of event time.

    python -m evenflow.pipelines.examples.whole_gate localhost:9092 docs out --runner=FnApiRunner

It reads up to the end of the topic; with `until_end=False` for ever, on a runner such as Flink.
`evenflow stream` makes the same panes of the records, with the same counts and verdicts.
"""

from __future__ import annotations

import sys
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms.window import FixedWindows

from evenflow.beam import (
    AnnotateDocuments,
    FilterStereotypes,
    GroupPanes,
    JudgePanes,
    KeyByPane,
    MakePanes,
    ReadKafkaDocuments,
    RollingRepresentation,
    WriteShards,
)
from evenflow.settings import Configuration


def whole_gate(
    pipeline: beam.Pipeline,
    servers: str,
    topic: str,
    output: str,
    config: Configuration = None,
    seconds: int = 60,
    until_end: bool = True,
) -> dict[str, Any]:
    """Build the graph."""
    source = ReadKafkaDocuments(servers, topic, config, seconds, until_end=until_end)
    read = pipeline | "Topic" >> source
    annotated = read.documents | AnnotateDocuments(config)
    rolling = annotated | RollingRepresentation(4 * seconds, seconds, 3600, config)
    kept, aside = annotated | FilterStereotypes(config)
    windows = FixedWindows(seconds)
    panes = kept | "Panes" >> beam.WindowInto(windows) | KeyByPane() | GroupPanes(config)
    made = panes | MakePanes(config)
    known = {"made": made.made}
    for name, each in (("documents", annotated), ("dead_letters", read.dead_letters)):
        count = beam.WindowInto(windows) | KeyByPane() | beam.combiners.Count.PerKey()
        known[name] = each | f"Count {name}" >> count
    verdicts = known | JudgePanes(config)
    written = {"shards": made.shards, "verdicts": verdicts} | WriteShards(output)
    found = {"panes": made.documents, "verdicts": verdicts, "written": written}
    return {**found, "rolling": rolling, "aside": aside, "dead_letters": read.dead_letters}


if __name__ == "__main__":
    with beam.Pipeline(options=PipelineOptions(sys.argv[4:])) as started:
        whole_gate(started, sys.argv[1], sys.argv[2], sys.argv[3])
