"""A small graph behind the Kafka source, as a gate has one: blocks are written where they are read,
panes closed by window.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms.window import FixedWindows

from evenflow.transforms.kafka.blocks import Item, Lost
from evenflow.transforms.kafka.source import ReadFromKafka, Source


@dataclass
class Stage:
    """Writes a block's records to a file named by its first offset, and hands its name on."""

    folder: str

    def setup(self) -> None:
        (Path(self.folder) / "staged").mkdir(parents=True, exist_ok=True)
        (Path(self.folder) / "panes").mkdir(parents=True, exist_ok=True)

    def process(self, item: Item) -> Iterator[tuple[str, str]]:
        pane = f"{item.pane.span}-{item.pane.part}"
        end = "-lost" if isinstance(item, Lost) else ""
        name = f"{item.topic}-{item.partition}-{item.start:09d}{end}"
        record: dict[str, Any] = {
            "topic": item.topic,
            "partition": item.partition,
            "pane": pane,
            "start": item.start,
        }
        record["next"] = item.next
        if isinstance(item, Lost):
            record["lost"] = [item.start, item.next]
        else:
            record["offsets"] = item.offsets
            record["values"] = [
                None if value is None else value.decode("latin-1")[:200] for value in item.values
            ]
            record["sizes"] = [len(value or b"") for value in item.values]
            record["keys"] = [None if key is None else key.decode("latin-1") for key in item.keys]
            record["headers"] = [
                [[k, (v or b"").decode("latin-1")] for k, v in each] for each in item.headers
            ]
            record["timestamps"] = item.timestamps
        (Path(self.folder) / "staged" / f"{name}.json").write_text(json.dumps(record))
        yield pane, name


class Close(beam.DoFn):
    """(pane, names of its blocks) -> a file of the pane."""

    def __init__(self, folder: str):
        self._folder = Path(folder)

    def process(self, element: tuple[str, Any]) -> None:
        pane, names = element
        # The runner may fire a pane again after a failure: what it says then is added, so that a
        # test sees it.
        with (self._folder / "panes" / f"{pane}.txt").open("a") as file:
            file.write(json.dumps([time.time(), sorted(names)]) + "\n")


def draw(
    pipeline: beam.Pipeline, source: Source, folder: Path, read: Callable[[Source], beam.PTransform]
) -> None:
    """Source, windows as long as the panes, closing."""
    _ = (
        pipeline
        | read(source)
        | beam.WindowInto(FixedWindows(source.cutter.span_ms / 1000))
        | beam.GroupByKey()
        | beam.ParDo(Close(str(folder)))
    )


def prism_options(prism: str, *more: str) -> PipelineOptions:
    """Prism, its workers within this process."""
    return PipelineOptions(
        ["--runner=PrismRunner", f"--prism_location={prism}", "--prism_log_level=warn", *more]
    )


def flink_options(endpoint: str, *more: str) -> PipelineOptions:
    """Flink, its workers within this process."""
    where = (
        "--runner=PortableRunner",
        f"--job_endpoint={endpoint}",
        "--environment_type=LOOPBACK",
        "--parallelism=1",
    )
    return PipelineOptions([*where, *more])


class Running:
    """The graph in the background, until it is stopped. options: with --streaming."""

    def __init__(self, source: Source, folder: Path, options: PipelineOptions):
        pipeline = beam.Pipeline(options=options)
        draw(pipeline, source, folder, ReadFromKafka)
        self.folder = folder
        self.result: Any = pipeline.run()

    def wait(self, done: Callable[[], bool], seconds: float = 60.0) -> bool:
        """Wait until something holds; False if it did not within some seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if done():
                return True
            time.sleep(0.2)
        return False

    def stop(self) -> None:
        """Cancel the pipeline."""
        self.result.cancel()


def closed(folder: Path) -> list[dict[str, Any]]:
    """The blocks of all closed panes, each once for each time that a pane named it."""
    out = []
    for path in sorted((folder / "panes").glob("*.txt")):
        for line in path.read_text().splitlines():
            for name in json.loads(line)[1]:
                out.append(json.loads((folder / "staged" / f"{name}.json").read_text()))
    return out


def messages(folder: Path) -> list[tuple[int, int, str]]:
    """(partition, offset, value) of all messages in closed panes, sorted; a message that came twice
    is there twice.
    """
    return sorted(
        (block["partition"], offset, value)
        for block in closed(folder)
        if "lost" not in block
        for offset, value in zip(block["offsets"], block["values"], strict=True)
    )
