"""Writes the shards of judged panes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam import typehints

from evenflow.beam.elements import Document, Windowed
from evenflow.beam.steps import PaneStep
from evenflow.settings import Configuration
from evenflow.transforms.storage.storage import Place, at

PANES, VERDICTS = "panes", "verdicts"  # names of the inputs


class WriteShards(Windowed):
    """Write panes as Parquet shards below OUTPUT/accepted/ or OUTPUT/quarantine/.

    The input is a dict of two collections: `panes`, and `verdicts` from `JudgePanes`. A pane goes
    to the folder of its verdict. Names are those of the engine, and a shard is put in place whole,
    so a runner may write a pane again. There is no ledger: `evenflow run` writes one.

    The output's elements are dicts: pane, folder, documents, and shards (name, rows, bytes,
    sha256).

    Args:
        output: A directory that all workers see, or an address such as s3://bucket/out.
        within: The windows in which panes meet their verdicts, as for `JudgePanes`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    def __init__(self, output: Place, config: Configuration = None, **named: Any):
        super().__init__(config, **named)
        self._output = str(output)

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: A dict with the PCollections panes and verdicts.

        Returns:
            A PCollection of what was written.
        """
        parts = {
            PANES: input_or_inputs[PANES],
            VERDICTS: input_or_inputs[VERDICTS]
            | "By pane" >> beam.Map(lambda verdict: (verdict["pane"], verdict["folder"])),
        }
        write = beam.ParDo(_Write(self.settings, self._output))
        return self.windowed(parts) | beam.CoGroupByKey() | write


@typehints.with_output_types(dict[str, Any])
class _Write(PaneStep):
    """Writes panes."""

    def __init__(self, settings: dict[str, Any], output: str):
        super().__init__(settings)
        self._output = output

    def process(self, element: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[dict[str, Any]]:
        """Write a pane."""
        pane, parts = element
        panes, folders = list(parts[PANES]), list(parts[VERDICTS])
        if len(panes) != 1 or len(folders) != 1:
            raise ValueError(
                f"pane {pane}: {len(panes)} lists of documents and {len(folders)} verdicts; one of"
                " each was expected: do the windows of `within` hold both, and was it put out once?"
            )
        (documents,), (folder,) = panes, folders
        yield self._written(pane, documents, folder)

    def _written(self, pane: int, documents: list[Document], folder: str) -> dict[str, Any]:
        """Write the documents of a pane, and say what was written."""
        output = at(self._output)
        with self.files(pane, documents) as files:
            shards = self.write(pane, documents, files)
            for shard in shards:
                output.write(f"{folder}/{shard.name}", (files.folder / shard.name).read_bytes())
            return {
                "pane": pane,
                "folder": folder,
                "documents": files.figures.documents,
                "shards": [shard.model_dump() for shard in shards],
            }
