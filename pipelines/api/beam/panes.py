"""Whole panes by the engine's own steps: repair, weights, shards, checks, what measures count.

An element is a pair of a pane's number and all its documents. A pane is in the memory of one
worker, as it is in the engine. Its documents are staged and annotated once, in a temporary folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pyarrow.parquet as pq
from apache_beam import typehints
from apache_beam.pvalue import TaggedOutput

from evenflow.beam.elements import Pane, SteppedTransform
from evenflow.beam.steps import PaneStep, without_measures
from evenflow.pipelines.engine.panes.checking import pane_checks
from evenflow.pipelines.engine.panes.closing import close_pane, mend_pane
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.stereotypes.measure import StereotypeMeasure

DOCUMENTS, SHARDS = "documents", "shards"  # further outputs


class _Make(PaneStep):
    """Makes panes; models and Great Expectations are loaded once a worker."""

    def narrow(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Leave the filter of stereotypes out."""
        return without_measures(settings, registry.SHIPPED.keys() - {StereotypeMeasure.name})

    def setup(self) -> None:
        """Build the tables, load the models, and make the checks."""
        super().setup()
        self._checks = pane_checks(self.config, self.annotator.lists)

    def process(self, element: Pane) -> Iterator[Any]:
        """Make a pane."""
        pane, documents = element
        with self.files(pane, documents) as (folder, blocks):
            mended = mend_pane(pane, blocks, folder, self.annotator)
            ready = close_pane(pane, blocks, folder, self.annotator, self._checks, mended)
            shards = [(each, folder / each.name) for each in ready.shards]
            for _, path in shards:
                rows = pq.read_table(path).to_pylist()
                yield from (TaggedOutput(DOCUMENTS, (pane, row)) for row in rows)
            bodies = [(shard.model_dump(), path.read_bytes()) for shard, path in shards]
            yield TaggedOutput(SHARDS, (pane, bodies))
        record = None if ready.weights is None else ready.weights.model_dump()
        made = {
            "figures": asdict(ready.figures),
            "checks": ready.checks.model_dump(),
            "weights": record,
            "weighed": {name: sums.model_dump() for name, sums in ready.weighed.items()},
        }
        yield pane, made


@typehints.with_input_types(tuple[int, list[dict[str, Any]]])
class MakePanes(SteppedTransform):
    """Make panes: exchange words for groups, weigh, count, write shards, and check them.

    Exchanges are planned, drawn and judged for the pane as a whole. Documents whose id came before
    in the pane, and those that cannot be read, are left out, as the engine turns them into dead
    letters. Stereotypes are not looked for here: `FilterStereotypes` goes before. The engine's
    weights continue those of accepted panes; here each pane is made even by itself.

    There are three outputs, of pairs that begin with a pane's number:

    - `made`: what `JudgePanes` needs, such as sums, weights and the results of checks, as a dict;
    - `documents`: a document as its shard has it, a dict of its columns;
    - `shards`: all shards of the pane for `WriteShards`, pairs of a record and the file's bytes.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    _step, _outputs = _Make, ("made", DOCUMENTS, SHARDS)
