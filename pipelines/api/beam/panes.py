"""Transforms of whole panes: repair, weights and checks, by the engine's own steps.

An element is a pair of a pane's number and all its documents. A pane is in the memory of one
worker, as it is in the engine. Each transform stages the documents in a temporary folder
(`steps`) and calls the engine there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from apache_beam import typehints
from apache_beam.pvalue import TaggedOutput

from evenflow.beam.annotating import DocumentAnnotator
from evenflow.beam.elements import Document, Pane, SteppedTransform
from evenflow.beam.steps import WEIGHT, Files, PaneStep
from evenflow.pipelines.engine.panes.checking import pane_checks
from evenflow.pipelines.engine.panes.closing import mend_pane, pane_mentions
from evenflow.schemas.config import Config
from evenflow.schemas.documents import COPY_OF, ID, ORDINAL, TEXT, RepairedPane
from evenflow.transforms.repair import realise, weigh
from evenflow.transforms.staging.block import Part

WEIGHTS = "weights"  # the output of what the verdict needs of weights


class _Redocumented(PaneStep):
    """A step after which documents of a pane have other ids, or are copies."""

    def identified(self, row: Mapping[str, Any]) -> Document:
        """What a row of a staged block says of its document: its id, and what it is a copy of."""
        copied = row.get(COPY_OF.name)
        return {self.config.fields.id: row[ID.name]} | (
            {} if copied is None else {COPY_OF.name: copied}
        )


class _Substitute(_Redocumented):
    """Repairs panes."""

    sections, of_attributes = ("repair", "bias_score"), ("mode",)

    def setup(self) -> None:
        """Build the tables, and load the models."""
        super().setup()
        self._documents = DocumentAnnotator(self.config)

    def process(self, element: Pane) -> Iterator[Pane]:
        """Repair a pane."""
        pane, documents = element
        with self.files(pane, documents) as files:
            mend_pane(pane, files.blocks, files.folder, self.annotator)
            yield pane, list(self._mended(documents, files))

    def _mended(self, documents: Sequence[Document], files: Files) -> Iterator[Document]:
        """The documents of a pane after its repair; what changed is annotated again."""
        name = self.config.fields.column
        for block in files.staged:
            table = block.read(Part.DOCUMENTS)
            columns = {ID.name, TEXT.name, ORDINAL.name, COPY_OF.name} & {*table.column_names}
            for row in table.select(sorted(columns)).to_pylist():
                before = documents[row[ORDINAL.name]]
                after = {**before, **self.identified(row), name: row[TEXT.name]}
                same = after[name] == before[name]
                yield after if same else self._documents.annotate(after)


class _Weigh(_Redocumented):
    """Weighs panes."""

    def __init__(self, settings: dict[str, Any]):
        super().__init__(settings)
        config = Config.model_validate(settings)
        for name, attribute in self._settings["attributes"].items():
            attribute["mode"] = ["weight"] if config.weighs(name) else ["measure"]

    def process(self, element: Pane) -> Iterator[Any]:
        """Weigh a pane."""
        pane, documents = element
        if not self.config.has_weights:
            yield element
            return
        with self.files(pane, documents) as files:
            done = weigh.weigh(files.staged, self.annotator.attributes, self.config, {})
            tables = [block.read(Part.DOCUMENTS) for block in files.staged]
            if done.times is None:
                rows = _weighted(documents, tables, done.weights)
            else:
                rows = self._drawn(documents, tables, realise.as_copies(done.times, done.ids))
            yield pane, list(rows)
        sums = {name: each.model_dump() for name, each in done.sums.items()}
        yield TaggedOutput(WEIGHTS, (pane, {"record": done.record.model_dump(), "sums": sums}))

    def _drawn(
        self, documents: Sequence[Document], tables: Sequence[pa.Table], copies: realise.Give
    ) -> Iterator[Document]:
        """The documents of a pane that the sample has, as often as it has them."""
        for number, table in enumerate(tables):
            rows = copies(number, table).select([ID.name, ORDINAL.name, COPY_OF.name])
            for row in rows.to_pylist():
                yield {**documents[row[ORDINAL.name]], **self.identified(row)}


def _weighted(
    documents: Sequence[Document],
    tables: Sequence[pa.Table],
    weights: Sequence[npt.NDArray[np.float64]],
) -> Iterator[Document]:
    """The documents of a pane with their weights, which are (n,) of each table."""
    for table, those in zip(tables, weights, strict=True):
        for at, weight in zip(table[ORDINAL.name].to_pylist(), those.tolist(), strict=True):
            yield {**documents[at], WEIGHT: weight}


class _Check(PaneStep):
    """Checks panes; Great Expectations is loaded once a worker."""

    def setup(self) -> None:
        """Build the tables, and make the checks."""
        super().setup()
        self._checks = pane_checks(self.config, self.annotator.lists)

    def process(self, element: Pane) -> Iterator[tuple[int, dict[str, Any]]]:
        """Check a pane."""
        pane, documents = element
        with self.files(pane, documents) as files:
            shards = self.write(pane, documents, files)
            whole = RepairedPane.unchanged([files.figures])
            checks, _ = self._checks.check(
                pane,
                [files.folder / shard.name for shard in shards],
                pane_mentions(whole, self.annotator, {}),
                whole.figures.documents,
            )
        yield pane, checks.model_dump()


@typehints.with_input_types(tuple[int, list[dict[str, Any]]])
@typehints.with_output_types(tuple[int, list[dict[str, Any]]])
class Substitute(SteppedTransform):
    """Exchange words for groups in panes, as repair.mode and the other keys of repair say.

    Exchanges are planned, drawn and judged for the pane as a whole. Documents whose id came before
    in the pane, and those that cannot be read, are left out, as the engine turns them into dead
    letters. Stereotypes are not looked for here: `FilterStereotypes` goes before.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    _step = _Substitute


@typehints.with_input_types(tuple[int, list[dict[str, Any]]])
class WeightDocuments(SteppedTransform):
    """Weigh the documents of panes: one weight for all attributes that repair.mode weighs.

    There are two outputs: the panes, whose documents have the key weight (or are left out and
    copied, with repair.realise: sample); and under the tag `weights` pairs of a pane's number and
    what `JudgePanes` needs of the weights. The engine's weights continue those of accepted panes;
    here each pane is made even by itself.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    _step, _outputs = _Weigh, ("panes", WEIGHTS)


@typehints.with_input_types(tuple[int, list[dict[str, Any]]])
@typehints.with_output_types(tuple[int, dict[str, Any]])
class CheckPane(SteppedTransform):
    """Check the shards of panes with Great Expectations: our suite, and that of checks.suite.

    The output's elements are pairs of a pane's number and the result (schemas.ledger.Checks as a
    dict), for `JudgePanes`.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.
    """

    _step = _Check
