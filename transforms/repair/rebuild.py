"""Makes a pane even: plans what changes, draws and judges it (`drawing`), rebuilds the documents,
and counts again.

Works on a pane's staged blocks in their files. The sets of a pane are in memory as they lie there,
the texts a block at a time.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures, Mended
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.repair import least_dr, reweight
from evenflow.transforms.repair.draw import Unit, draw
from evenflow.transforms.repair.exchanges import Exchanges, Spot, StagedPane, meets
from evenflow.transforms.repair.plan import Plan
from evenflow.transforms.repair.tallies import SubstitutionCounts
from evenflow.transforms.staging import sentence_table
from evenflow.transforms.staging.block import Part, StagedBlock, read_documents, replace_columns
from evenflow.transforms.staging.proposals import Proposed
from evenflow.transforms.staging.sentence_table import Change
from evenflow.transforms.substitution.counterfactuals import ExchangeJudge
from evenflow.transforms.substitution.sets import Edit, apply

COPY = "{id}#{attribute}={group}"  # id of a changed copy

Ints = npt.NDArray[np.int64]


@dataclass
class _Unit:
    """A document as it goes into the pane: its edits, and what became of its sets by attribute."""

    edits: list[Edit] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def repair(
    blocks: Mapping[StagedBlock, Figures], folder: Path, pane: int, annotator: Annotator
) -> Mended:
    """Repair a pane; its staged blocks are written anew.

    Args:
        blocks: The pane's staged blocks in source order, with their figures.
        folder: Where the table of sentences goes.
        pane: The pane's number.
        annotator: The annotator that read the blocks.

    Returns:
        The pane's figures after the repair, what was done, and the table of sentences.

    Raises:
        OSError: A file cannot be read or written.
    """
    before = Figures()
    for attribute in annotator.attributes:
        before.attributes[attribute.name] = AttributeFigures.empty(len(attribute.groups))
    after = deepcopy(before)
    for each in blocks.values():
        before.add(each)
    rebuilder = _Rebuilder(annotator, before, [each for each in blocks if each.has(Part.PROPOSALS)])
    findings = None
    if annotator.screen is not None:
        # Its models are only loaded where stereotypes are looked for
        from evenflow.transforms.stereotypes.findings import Findings

        findings = Findings(annotator.config)
    for block, figures in blocks.items():
        changed = rebuilder.rebuild(block) if block.has(Part.PROPOSALS) else None
        if changed is not None:
            changed.input_bytes, changed.dead_reasons, changed.llm = (
                figures.input_bytes,
                figures.dead_reasons,
                figures.llm,
            )
        after.add(changed or figures)
    rows = (rebuilder.rows(block) for block in blocks if block.has(Part.SENTENCES))
    shard = sentence_table.write(
        map(findings.seen, rows) if findings is not None else rows, folder, pane
    )
    repairs = rebuilder.summary(before, after)
    for attribute in annotator.attributes:
        if attribute.mode == "reweight":
            staged = [block for block in blocks if block.has(Part.DOCUMENTS)]
            repairs[attribute.name] = _reweight(staged, attribute, annotator.config, after)
    return Mended(after, repairs, findings.told() if findings is not None else {}, shard)


class _Rebuilder:
    """What a pane's attributes change.

    Attributes in mode substitute come first, in the lists' order, then those in mode augment; what
    one changes is not changed by a later one.
    """

    def __init__(self, annotator: Annotator, before: Figures, staged: Sequence[StagedBlock]):
        self._annotator = annotator
        self._config = annotator.config
        self._modes = {each.name: each.mode for each in annotator.attributes}
        groups = {each.name: each.groups for each in annotator.attributes}
        self._pane = StagedPane(staged)
        self._edits: dict[Spot, list[Edit]] = {}
        self._exchanges: dict[str, Exchanges] = {}
        self._plans: dict[str, Plan] = {}
        self._targets: dict[str, dict[tuple[Spot, int], str]] = {}
        self._copies: dict[Spot, list[tuple[str, str, Unit]]] = {}  # attribute, target, unit
        self._tallies: dict[str, SubstitutionCounts] = {}
        self._done: dict[StagedBlock, dict[int, _Unit]] = {}
        names = () if annotator.proposer is None else annotator.proposer.attributes
        judge = _judge(self._config)
        for name in sorted(names, key=lambda name: self._modes[name] == "augment"):
            own = self._exchanges[name] = Exchanges(
                name, groups[name], self._config, self._pane, judge, self._edits
            )
            wanted = _target(self._config, name, groups[name])
            drawn = draw(
                before.attributes[name].counts, wanted, groups[name], own.units(), own.judge
            )
            self._plans[name], self._tallies[name], self._targets[name] = (
                drawn.plan,
                SubstitutionCounts(),
                {},
            )
            if self._modes[name] == "augment":
                for unit, target in drawn.chosen:
                    self._copies.setdefault(unit.place[0], []).append((name, target, unit))
                continue
            for spot, chosen in groupby(sorted(drawn.chosen, key=_spot), key=_spot):
                own_sets = self._pane.document(spot, name).sets[name]
                for unit, target in chosen:
                    (place,) = unit.place[1]
                    self._targets[name][spot, place] = target
                    _join(self._edits.setdefault(spot, []), own_sets[place].edits[target])
        copying = any(self._modes[name] == "augment" for name in names)
        self._ids = (
            {
                identity
                for block in staged
                for identity in block.read(Part.DOCUMENTS)[documents.ID.name].to_pylist()
            }
            if copying
            else set()
        )

    def rebuild(self, block: StagedBlock) -> Figures | None:
        """Change a block's documents; its figures then, None where none was changed."""
        number = self._pane.blocks.index(block)
        units: dict[int, _Unit] = {}
        copies: dict[int, list[tuple[str, _Unit]]] = {}
        for spot in self._pane.spots(number):
            document = self._pane.document(spot)
            unit = units[document.ordinal] = self._unit(spot, document)
            made = [
                (each[0], *self._copy(spot, document, *each)) for each in self._copies.get(spot, ())
            ]
            if made:
                copies[document.ordinal] = [(identity, copy) for _, identity, copy in made]
            for name, tally in self._tallies.items():
                augmented = self._modes[name] == "augment"
                for own in [copy for of, _, copy in made if of == name] if augmented else [unit]:
                    changed = [
                        each
                        for each in own.changes
                        if each.target is not None and each.proposed.attribute == name
                    ]
                    if changed:
                        text = self._pane.text(number, document.ordinal)
                        tally.add(document.id, text, changed, own.edits, augmented)
        self._done[block] = units
        edits = {ordinal: unit.edits for ordinal, unit in units.items() if unit.edits}
        return self._rebuild(block, edits, copies) if edits or copies else None

    def rows(self, block: StagedBlock) -> pa.Table:
        """A block's part of the table of sentences."""
        units = self._done.pop(block, {})
        return sentence_table.completed(
            block.read(Part.SENTENCES),
            {ordinal: unit.changes for ordinal, unit in units.items()},
            {ordinal: unit.edits for ordinal, unit in units.items()},
        )

    def summary(self, before: Figures, after: Figures) -> dict[str, dict[str, Any]]:
        """What was done, by attribute."""
        out: dict[str, dict[str, Any]] = {}
        for name, plan in self._plans.items():
            own = self._exchanges[name]
            out[name] = {
                "mode": self._modes[name],
                "strictness": self._config.strictness(name),
                "before": before.attributes[name].sums.model_dump(),
                "expected_dr": plan.expected.dr_after,
                "shortage": list(plan.expected.shortage),
                "mentions": after.attributes[name].counts,
                "sets": own.count,
                "judged": own.judged,
                "eligible": own.count - own.barred.total(),
                "barred": dict(sorted(own.barred.items())),
                **self._tallies[name].summary(),
            }
        return out

    def _unit(self, spot: Spot, document: Proposed) -> _Unit:
        """What changes in a document."""
        unit = _Unit(self._edits.get(spot, []))
        for name, targets in self._targets.items():
            if self._modes[name] == "augment":
                continue
            for place, each in enumerate(document.sets.get(name, ())):
                reason = self._exchanges[name].reason(spot, place, each)
                unit.changes.append(Change(place, each, targets.get((spot, place)), reason))
        return unit

    def _copy(
        self, spot: Spot, document: Proposed, name: str, target: str, unit: Unit
    ) -> tuple[str, _Unit]:
        """A changed copy of a document, under its own id."""
        copy = _Unit(list(self._edits.get(spot, [])))
        for place in self._exchanges[name].going(unit, document, target):
            each = document.sets[name][place]
            if not meets(each.edits[target], copy.edits):
                _join(copy.edits, each.edits[target])
                copy.changes.append(Change(place, each, target, ""))
        identity = COPY.format(id=document.id, attribute=name, group=target)
        while identity in self._ids:
            identity += "'"  # of a pane that has its like already: an output that is read again
        self._ids.add(identity)
        return identity, copy

    def _rebuild(
        self,
        block: StagedBlock,
        changed: Mapping[int, Sequence[Edit]],
        copies: Mapping[int, Sequence[tuple[str, _Unit]]],
    ) -> Figures:
        """Write a block with changed texts and added copies, each behind its original; its figures."""
        table = block.read(Part.DOCUMENTS)
        read = read_documents(table)
        take: list[int] = []
        new: tuple[list[str], list[str]] = ([], [])
        origins: list[str | None] = []
        for row, (identity, text, ordinal) in enumerate(
            zip(read.ids, read.texts, read.places, strict=True)
        ):
            take.append(row)
            new[0].append(identity)
            new[1].append(apply(text, changed[ordinal]) if ordinal in changed else text)
            origins.append(None)
            for copied, unit in copies.get(ordinal, ()):
                take.append(row)
                new[0].append(copied)
                new[1].append(apply(text, unit.edits))
                origins.append(identity)
        places = [read.places[row] for row in take]
        figures, counts = self._annotator.count(read.file, *new, places)
        columns = {
            documents.ID: pa.array(new[0], pa.string()),
            documents.TEXT: pa.array(new[1], pa.large_string()),
        }
        for attribute, each in zip(self._annotator.attributes, counts, strict=True):
            for number, column in enumerate(documents.mention_fields(attribute)):
                columns[column] = pa.array(each[:, number], pa.int32())
        if copies:
            columns[documents.COPY_OF] = pa.array(origins, pa.string())
        rebuilt = table.take(pa.array(take)).combine_chunks()
        block.write(Part.DOCUMENTS, replace_columns(rebuilt, columns))
        return figures


def _judge(config: Config) -> ExchangeJudge | None:
    """Who judges what is drawn; None: the first stage alone."""
    if config.repair.judge == "fast" or config.repair.method == "base":
        return None
    from evenflow.transforms.models import encoder  # it takes a part of a second to load

    return encoder.Encoder.shipped()


def _reweight(
    staged: Sequence[StagedBlock], attribute: documents.Attribute, config: Config, figures: Figures
) -> dict[str, Any]:
    """Give each document of a pane its weight. What was done, for the ledger, and the weighted
    sums.

    Sums are added up a profile, in whole numbers, so that they do not depend on how the blocks were
    cut.
    """
    name, size = attribute.name, len(attribute.groups)
    columns = [column.name for column in documents.mention_fields(attribute)]
    counts: dict[tuple[int, ...], Ints] = {}
    products: dict[tuple[int, ...], Ints] = {}
    each: tuple[int, ...]
    for block in staged:
        table, keys = _profiles(block.read(Part.DOCUMENTS), columns)
        for key in np.unique(keys[:, :], axis=0) if len(keys) else ():
            each = tuple(key.tolist())
            own = table[(keys == key).all(axis=1)]
            counts[each] = counts.get(each, np.zeros(size, np.int64)) + own.sum(axis=0)
            products[each] = products.get(each, np.zeros((size, size), np.int64)) + own.T @ own
    known = {key: total.tolist() for key, total in counts.items() if total.any()}
    found = reweight.reweight(
        _target(config, name, attribute.groups), size, known, config.repair.weight_limit
    )
    for block in staged:
        staged_table = block.read(Part.DOCUMENTS)
        _, keys = _profiles(staged_table, columns)
        weights = [found.weights.get(tuple(key), 1.0) for key in keys.tolist()]
        column = staged_table.schema.field(documents.weight(name))
        new = replace_columns(staged_table, {column: pa.array(weights, pa.float64())})
        block.write(Part.DOCUMENTS, new)
    seen = figures.attributes[name]
    factors = {key: found.weights.get(key, 1.0) for key in sorted(known)}
    total = sum((factor * counts[key] for key, factor in factors.items()), np.zeros(size))
    squares = sum(
        (factor**2 * products[key] for key, factor in factors.items()), np.zeros((size, size))
    )
    sums = {
        "documents": seen.documents,
        "counts": np.round(total, least_dr.DIGITS).tolist(),
        "products": np.round(squares, least_dr.DIGITS).tolist(),
    }
    return {
        "sums": sums,
        "mode": "reweight",
        "strictness": config.strictness(name),
        "before": seen.sums.model_dump(),
        "expected_dr": found.expected.dr_after,
        "shortage": list(found.expected.shortage),
        "mentions": seen.counts,
        "weights": [min(factors.values(), default=1.0), max(factors.values(), default=1.0)],
    }


def _profiles(table: pa.Table, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Counts (D, M) of a block's documents and their profiles (D, M), see reweighting.profile; no
    mention: all -1.
    """
    counts = np.stack([table[name].to_numpy().astype(np.int64) for name in columns], axis=1)
    totals = counts.sum(axis=1, keepdims=True)
    return counts, np.where(totals > 0, reweight.EIGHTHS * counts // np.maximum(totals, 1), -1)


def _spot(chosen: tuple[Unit, str]) -> Spot:
    spot: Spot = chosen[0].place[0]
    return spot


def _join(made: list[Edit], new: Sequence[Edit]) -> None:
    """Put edits among others, in order."""
    for edit in new:
        insort(made, edit)


def _target(config: Config, name: str, groups: Sequence[str]) -> list[float] | None:
    own = config.attributes[name].target
    return None if own is None else [own[group] for group in groups]
