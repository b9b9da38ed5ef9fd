"""Makes a pane even: plans what changes, draws and judges it (`drawing`), rebuilds the documents,
and counts again.

Works on a pane's staged blocks in their files. The sets of a pane are in memory as they lie there,
the texts a block at a time.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures, RepairedPane
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.repair import least_dr, reweight
from evenflow.transforms.repair.draw import Unit, draw
from evenflow.transforms.repair.exchanges import Exchanges, Spot, StagedPane, meets
from evenflow.transforms.repair.plan import Plan
from evenflow.transforms.repair.tallies import SubstitutionCounts
from evenflow.transforms.staging import proposals, sentence_table
from evenflow.transforms.staging.proposals import Proposed
from evenflow.transforms.staging.sentence_table import Change
from evenflow.transforms.staging.shards import read_block, replace_block
from evenflow.transforms.substitution.counterfactuals import ExchangeJudge
from evenflow.transforms.substitution.sets import Edit, apply

COPY = "{id}#{attribute}={group}"  # id of a changed copy

Ints = npt.NDArray[np.int64]


@dataclass
class _Unit:
    """A document as it goes into the pane: its edits, and what became of its sets by attribute."""

    edits: list[Edit] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def mend(
    blocks: Mapping[Path, Figures], folder: Path, pane: int, annotator: Annotator
) -> RepairedPane:
    """Repair a pane whose staged blocks, in source order, have these figures; the blocks are
    written anew.

    A block without documents has no file. folder: where the table of sentences goes. Raises
    OSError.
    """
    before = Figures()
    for attribute in annotator.attributes:
        before.attributes[attribute.name] = AttributeFigures.empty(len(attribute.groups))
    for each in blocks.values():
        before.add(each)
    mender = _Mender(
        annotator, before, [path for path in blocks if path.with_suffix(proposals.SUFFIX).exists()]
    )
    findings = None
    if annotator.screen is not None:
        # Its models are loaded where they are asked for alone
        from evenflow.transforms.stereotypes.findings import Findings

        findings = Findings(annotator.config)
    after = Figures()
    for name, each in before.attributes.items():
        after.attributes[name] = AttributeFigures.empty(len(each.counts))
    tables: list[Path] = []
    for path, figures in blocks.items():
        changed = mender.block(path) if path.with_suffix(proposals.SUFFIX).exists() else None
        if changed is not None:
            changed.input_bytes, changed.dead_reasons, changed.llm = (
                figures.input_bytes,
                figures.dead_reasons,
                figures.llm,
            )
        after.add(changed or figures)
        if path.with_suffix(sentence_table.SUFFIX).exists():
            tables.append(path.with_suffix(sentence_table.SUFFIX))
    rows = (mender.rows(path) for path in tables)
    shard = sentence_table.write(
        map(findings.seen, rows) if findings is not None else rows, folder, pane
    )
    repairs = mender.told(before, after)
    for attribute in annotator.attributes:
        if attribute.mode == "reweight":
            staged = [path for path in blocks if path.exists()]
            repairs[attribute.name] = _reweight(staged, attribute, annotator.config, after)
    for path in blocks:
        for suffix in (proposals.SUFFIX, sentence_table.SUFFIX):
            path.with_suffix(suffix).unlink(missing_ok=True)
    return RepairedPane(after, repairs, findings.told() if findings is not None else {}, shard)


class _Mender:
    """What a pane's attributes change.

    Attributes in mode substitute come first, in the lists' order, then those in mode augment; what
    one changes is not changed by a later one.
    """

    def __init__(self, annotator: Annotator, before: Figures, staged: Sequence[Path]):
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
        self._done: dict[Path, dict[int, _Unit]] = {}
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
            {value for path in staged for value in read_block(path).column(0).to_pylist()}
            if copying
            else set()
        )

    def block(self, path: Path) -> Figures | None:
        """Change a block's documents; its figures then, None where none was changed."""
        number = self._pane.paths.index(path)
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
        self._done[path.with_suffix(sentence_table.SUFFIX)] = units
        edits = {ordinal: unit.edits for ordinal, unit in units.items() if unit.edits}
        return self._rebuild(path, edits, copies) if edits or copies else None

    def rows(self, path: Path) -> pa.Table:
        """A block's part of the table of sentences."""
        units = self._done.pop(path, {})
        return sentence_table.completed(
            read_block(path),
            {ordinal: unit.changes for ordinal, unit in units.items()},
            {ordinal: unit.edits for ordinal, unit in units.items()},
        )

    def told(self, before: Figures, after: Figures) -> dict[str, dict[str, Any]]:
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
                **self._tallies[name].told(),
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
        path: Path,
        changed: Mapping[int, Sequence[Edit]],
        copies: Mapping[int, Sequence[tuple[str, _Unit]]],
    ) -> Figures:
        """Write a block with changed texts and added copies, each behind its original; its figures."""
        block = read_block(path)
        file = (block.schema.metadata or {}).get(documents.FILE, b"").decode()
        ids, texts, ordinals = (block.column(i).to_pylist() for i in range(3))
        take: list[int] = []
        new: tuple[list[str], list[str]] = ([], [])
        origins: list[str | None] = []
        for row, (identity, text, ordinal) in enumerate(zip(ids, texts, ordinals, strict=True)):
            take.append(row)
            new[0].append(identity)
            new[1].append(apply(text, changed[ordinal]) if ordinal in changed else text)
            origins.append(None)
            for copied, unit in copies.get(ordinal, ()):
                take.append(row)
                new[0].append(copied)
                new[1].append(apply(text, unit.edits))
                origins.append(identity)
        places = [ordinals[row] for row in take]
        figures, counts = self._annotator.count(file, *new, places)
        table = block.take(pa.array(take)).combine_chunks()
        table = table.set_column(0, documents.ID, pa.array(new[0], pa.string()))
        table = table.set_column(1, documents.TEXT, pa.array(new[1], pa.large_string()))
        at = 3
        for attribute, each in zip(self._annotator.attributes, counts, strict=True):
            for number, column in enumerate(documents.mention_fields(attribute)):
                table = table.set_column(at, column, pa.array(each[:, number], pa.int32()))
                at += 1
        if copies:
            place = table.schema.get_field_index(documents.COPY_OF.name)
            table = table.set_column(place, documents.COPY_OF, pa.array(origins, pa.string()))
        replace_block(table.replace_schema_metadata(block.schema.metadata), path)
        return figures


def _judge(config: Config) -> ExchangeJudge | None:
    """Who judges what is drawn; None: the first stage alone."""
    if config.repair.judge == "fast" or config.repair.method == "base":
        return None
    from evenflow.transforms.models import encoder  # it takes a part of a second to load

    return encoder.Encoder.shipped()


def _reweight(
    staged: Sequence[Path], attribute: documents.Attribute, config: Config, figures: Figures
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
    for path in staged:
        table, keys = _profiles(path, columns)
        for key in np.unique(keys[:, :], axis=0) if len(keys) else ():
            each = tuple(key.tolist())
            own = table[(keys == key).all(axis=1)]
            counts[each] = counts.get(each, np.zeros(size, np.int64)) + own.sum(axis=0)
            products[each] = products.get(each, np.zeros((size, size), np.int64)) + own.T @ own
    known = {key: total.tolist() for key, total in counts.items() if total.any()}
    found = reweight.reweight(
        _target(config, name, attribute.groups), size, known, config.repair.weight_limit
    )
    column = documents.weight(name)
    for path in staged:
        block = read_block(path)
        _, keys = _profiles(path, columns)
        weights = [found.weights.get(tuple(key), 1.0) for key in keys.tolist()]
        place = block.schema.get_field_index(column)
        replace_block(
            block.set_column(place, block.schema.field(place), pa.array(weights, pa.float64())),
            path,
        )
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


def _profiles(path: Path, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Counts (D, M) of a block's documents and their profiles (D, M), see reweighting.profile; no
    mention: all -1.
    """
    block = read_block(path)
    counts = np.stack([block.column(name).to_numpy().astype(np.int64) for name in columns], axis=1)
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
