"""A stream with late documents, and what RollingRepresentation must say of it."""

from __future__ import annotations

import json
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions
from apache_beam.testing.test_stream import TestStream
from apache_beam.transforms.window import TimestampedValue

from evenflow.beam import AnnotateDocuments, RollingRepresentation

# The third is late and counts; the fourth comes later than the lateness allows
SAID = (("She came.", 5), ("He came.", 15)), (("He left.", 7),), (("He left.", 8),)
WATERMARKS = (30, 60)
COUNTS = {-10.0: (1, 1), 0.0: (1, 2), 10.0: (0, 1)}  # the last result of each window, by its start


def check(options: list[str], folder: Path) -> None:
    """Run the stream on a runner, and compare the last result of each window."""
    given = PipelineOptions(options)
    given.view_as(StandardOptions).streaming = True
    stream = TestStream()
    for number, texts in enumerate(SAID):
        documents = [
            TimestampedValue({"id": f"{number}-{at}", "text": text}, at) for text, at in texts
        ]
        stream = stream.add_elements(documents)
        if number < len(WATERMARKS):
            stream = stream.advance_watermark_to(WATERMARKS[number])
    with beam.Pipeline(options=given) as pipeline:
        _ = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | AnnotateDocuments(attributes=["gender"])
            | RollingRepresentation(20, 10, 25, attributes=["gender"])
            | beam.Map(note, str(folder))
        )
    found = sorted(
        (json.loads(path.read_text()) for path in folder.iterdir()),
        key=lambda each: each["firing"],
    )
    counts = {each["start"]: each["attributes"]["gender"]["counts"] for each in found}
    assert {start: tuple(each.values()) for start, each in counts.items()} == COUNTS
    assert {each["is_late"] for each in found} == {False, True}


def note(result: dict, folder: str) -> None:
    """Write a result to a file of its own."""
    name = f"{result['start']}-{result['firing']}.json"
    (Path(folder) / name).write_text(json.dumps(result))
