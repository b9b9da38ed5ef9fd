"""Writes the shards of judged panes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam

from evenflow.transforms.storage.storage import Place, at

SHARDS, VERDICTS = "shards", "verdicts"  # names of the inputs


class WriteShards(beam.PTransform):
    """Write panes as Parquet shards below OUTPUT/accepted/ or OUTPUT/quarantine/.

    The input is a dict of two collections: `shards` from `MakePanes`, and `verdicts` from
    `JudgePanes`. A pane goes to the folder of its verdict. Names are those of the engine, and a
    shard is put in place whole, so a runner may write a pane again. There is no ledger: `evenflow
    run` writes one.

    The output's elements are dicts: pane, folder, documents, and shards (name, rows, bytes,
    sha256).

    Args:
        output: A directory that all workers see, or an address such as s3://bucket/out.
    """

    def __init__(self, output: Place):
        super().__init__()
        self._output = str(output)

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A dict with the PCollections shards and verdicts.

        Returns:
            A PCollection of what was written.
        """
        shards = input_or_inputs[SHARDS]
        folders = (
            input_or_inputs[VERDICTS]
            | "By pane" >> beam.Map(lambda verdict: (verdict["pane"], verdict["folder"]))
            # A verdict has the time of its pane, and so it is in the same window
            | "Windows of panes" >> beam.WindowInto(shards.windowing.windowfn)
        )
        parts = {SHARDS: shards, VERDICTS: folders}
        return parts | beam.CoGroupByKey() | beam.FlatMap(_written, self._output)


def _written(
    element: tuple[int, Mapping[str, Iterable[Any]]], output: str
) -> Iterator[dict[str, Any]]:
    """Write a pane, and say what was written."""
    pane, parts = element
    panes, folders = list(parts[SHARDS]), list(parts[VERDICTS])
    if len(panes) != 1 or len(folders) != 1:
        raise ValueError(
            f"pane {pane}: {len(panes)} lists of shards and {len(folders)} verdicts; one of each"
            " was expected: does each pane have a number of its own?"
        )
    (shards,), (folder,) = panes, folders
    for shard, body in shards:
        at(output).write(f"{folder}/{shard['name']}", body)
    records = [shard for shard, _ in shards]
    rows = sum(each["rows"] for each in records)
    yield {"pane": pane, "folder": folder, "documents": rows, "shards": records}
