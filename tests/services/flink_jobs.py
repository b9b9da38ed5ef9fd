"""A small pipeline whose elements note which pool of workers they met."""

from __future__ import annotations

import os
import time
from pathlib import Path

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.runner import PipelineResult


def note(element: float, folder: str, seconds: float) -> None:
    """Take some seconds, then write the pool's process number to a file."""
    time.sleep(seconds)
    (Path(folder) / f"{element}.{os.getppid()}").touch()


def noted(folder: Path) -> dict[str, set[int]]:
    """Of each element that was noted, the process numbers of its pools."""
    found: dict[str, set[int]] = {}
    for path in folder.iterdir():
        name, _, pool = path.name.rpartition(".")
        found.setdefault(name, set()).add(int(pool))
    return found


def bounded(options: list[str], count: int, folder: Path, seconds: float = 0.0) -> PipelineResult:
    """Start a pipeline of the elements 0 to COUNT - 1."""
    pipeline = beam.Pipeline(options=PipelineOptions(options))
    _ = (
        pipeline
        | beam.Create(range(count))
        | beam.Reshuffle()
        | beam.Map(note, str(folder), seconds)
    )
    return pipeline.run()
