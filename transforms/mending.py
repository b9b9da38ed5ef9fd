"""Makes a pane even: plans what changes, draws it, rebuilds the documents, and counts again.

Works on a pane's staged blocks, one at a time, in their files: a pane may be larger than memory. All that is drawn hangs on
seed, document and set alone, so blocks may be cut in any way.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures, Mended
from evenflow.transforms import eligibility, least_dr, planning, proposals, reweighting, sentence_table
from evenflow.transforms.annotate import Annotator
from evenflow.transforms.planning import Plan
from evenflow.transforms.proposals import Proposed, Summary
from evenflow.transforms.sentence_table import Change
from evenflow.transforms.shards import read_block, write_block
from evenflow.transforms.substitution.sets import Edit, Set, apply
from evenflow.transforms.tallies import Tally

CONFLICT = "meets another attribute's change"
COPY = "{id}#{attribute}={group}"  # id of a changed copy

Ints = npt.NDArray[np.int64]


@dataclass
class _Unit:
    """A document as it goes into the pane: its edits, and what became of its sets by attribute."""

    edits: list[Edit] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def mend(blocks: Mapping[Path, Figures], folder: Path, pane: int, annotator: Annotator) -> Mended:
    """Repair a pane whose staged blocks, in source order, have these figures; the blocks are written anew.

    A block without documents has no file. folder: where the table of sentences goes. Raises OSError.
    """
    before = Figures()
    for attribute in annotator.attributes:
        before.attributes[attribute.name] = AttributeFigures.empty(len(attribute.groups))
    for each in blocks.values():
        before.add(each)
    mender = _Mender(annotator, before, [path for path in blocks if path.with_suffix(proposals.SUFFIX).exists()])
    findings = None
    if annotator.screen is not None:
        from evenflow.transforms.findings import Findings  # its models are loaded where they are asked for alone

        findings = Findings(annotator.config)
    after = Figures()
    for name, each in before.attributes.items():
        after.attributes[name] = AttributeFigures.empty(len(each.counts))
    tables: list[Path] = []
    for path, figures in blocks.items():
        changed = mender.block(path) if path.with_suffix(proposals.SUFFIX).exists() else None
        if changed is not None:
            changed.input_bytes, changed.dead_reasons, changed.llm = figures.input_bytes, figures.dead_reasons, figures.llm
        after.add(changed or figures)
        if path.with_suffix(sentence_table.SUFFIX).exists():
            tables.append(path.with_suffix(sentence_table.SUFFIX))
    rows = (mender.rows(path) for path in tables)
    shard = sentence_table.write(map(findings.seen, rows) if findings is not None else rows, folder, pane)
    repairs = mender.told(before, after)
    for attribute in annotator.attributes:
        if attribute.mode == "reweight":
            staged = [path for path in blocks if path.exists()]
            repairs[attribute.name] = _reweight(staged, attribute, annotator.config, after)
    for path in blocks:
        for suffix in (proposals.SUFFIX, sentence_table.SUFFIX):
            path.with_suffix(suffix).unlink(missing_ok=True)
    return Mended(after, repairs, findings.told() if findings is not None else {}, shard)


class _Mender:
    """The plan of a pane, and what was done under it so far."""

    def __init__(self, annotator: Annotator, before: Figures, staged: Sequence[Path]):
        self._annotator = annotator
        self._config = annotator.config
        self._modes = {each.name: each.mode for each in annotator.attributes}
        self._groups = {each.name: each.groups for each in annotator.attributes}
        self._strictness = {name: self._config.strictness(name) for name in self._groups}
        self._summary = Summary()
        for path in staged:
            self._summary.add(proposals.read_summary(path.with_suffix(proposals.SUFFIX)))
        self._plans = {
            name: planning.plan(before.attributes[name].counts, _target(self._config, name, self._groups[name]), eligible)
            for name, eligible in self._summary.eligible.items()
        }
        self._tallies = {name: Tally() for name in self._plans}
        self._done: dict[Path, dict[int, _Unit]] = {}
        copying = any(self._modes[name] == "augment" for name in self._plans)
        self._ids = {value for path in staged for value in read_block(path).column(0).to_pylist()} if copying else set()

    def block(self, path: Path) -> Figures | None:
        """Change a block's documents; its figures then, None where none was changed."""
        units: dict[int, _Unit] = {}
        copies: dict[int, list[tuple[str, _Unit]]] = {}
        texts = _Texts(read_block(path))
        for each in proposals.read(path.with_suffix(proposals.SUFFIX)):
            units[each.ordinal] = self._unit(each, each.id)
            for name in self._plans:
                if self._modes[name] == "augment" and name in each.sets:
                    copies.setdefault(each.ordinal, []).extend(self._copies(each, name))
            self._tally(each, units[each.ordinal], copies.get(each.ordinal, ()), texts)
        self._done[path.with_suffix(sentence_table.SUFFIX)] = units
        changed = {ordinal: unit.edits for ordinal, unit in units.items() if unit.edits}
        copies = {ordinal: own for ordinal, own in copies.items() if own}
        if not changed and not copies:
            return None
        return self._rebuild(path, changed, copies)

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
            eligible = self._summary.sets.get(name, 0) - sum(self._summary.barred.get(name, {}).values())
            out[name] = {
                "mode": self._modes[name],
                "strictness": self._strictness[name],
                "before": _sums(before.attributes[name]),
                "expected_dr": plan.expected.dr_after,
                "shortage": list(plan.expected.shortage),
                "mentions": after.attributes[name].counts,
                "sets": self._summary.sets.get(name, 0),
                "eligible": eligible,
                "barred": dict(sorted(self._summary.barred.get(name, {}).items())),
                **self._tallies[name].told(),
            }
        return out

    def _unit(self, document: Proposed, identity: str, also: Sequence[Edit] = (), but: str | None = None) -> _Unit:
        """What changes in a document under that id. also: edits that are made in any case, of the attribute `but`."""
        unit = _Unit(list(also))
        for name, plan in self._plans.items():
            if self._modes[name] != "substitute" or name == but:
                continue
            for number, each in enumerate(document.sets.get(name, ())):
                target, reason = self._drawn(name, plan, each, number, identity)
                if target is not None and _meets(each.edits[target], unit.edits):
                    target, reason = None, CONFLICT
                if target is not None:
                    _join(unit.edits, each.edits[target])
                unit.changes.append(Change(number, each, target, reason))
        return unit

    def _drawn(self, name: str, plan: Plan, proposed: Set, number: int, identity: str) -> tuple[str | None, str]:
        """The group that a set goes to; None with the reason, which is empty for one that the plan leaves."""
        if not eligibility.is_eligible(proposed, self._strictness[name]):
            return None, proposed.reason
        rates = plan.rates_of(eligibility.class_of(proposed))
        return (planning.choose(self._config.repair.seed, identity, number, rates, name) if rates else None), ""

    def _copies(self, document: Proposed, name: str) -> Iterator[tuple[str, _Unit]]:
        """The changed copy of a document, if the plan has one for it, under its own id."""
        groups = self._groups[name]
        found = eligibility.to_copy(groups, document.sets[name], self._strictness[name])
        if found is None:
            return
        kind, chosen = found
        target = planning.choose(self._config.repair.seed, document.id, 0, self._plans[name].rates_of(kind), name)
        if target is None:
            return
        going = [each for each in chosen if target in eligibility.class_of(each).targets]
        edits: list[Edit] = []
        for each in going:
            if not _meets(each.edits[target], edits):
                _join(edits, each.edits[target])
        identity = COPY.format(id=document.id, attribute=name, group=target)
        while identity in self._ids:
            identity += "'"  # of a pane that has its like already: an output that is read again
        self._ids.add(identity)
        unit = self._unit(document, identity, edits, name)
        unit.changes += [Change(document.sets[name].index(each), each, target, "") for each in going]
        yield identity, unit

    def _tally(self, document: Proposed, unit: _Unit, copies: Sequence[tuple[str, _Unit]], texts: _Texts) -> None:
        for name, tally in self._tallies.items():
            augmented = self._modes[name] == "augment"
            for own in [one for _, one in copies] if augmented else [unit]:
                made = [each for each in own.changes if each.target is not None and each.proposed.attribute == name]
                if made:
                    tally.add(document.id, texts[document.ordinal], made, own.edits, augmented)

    def _rebuild(
        self, path: Path, changed: Mapping[int, Sequence[Edit]], copies: Mapping[int, Sequence[tuple[str, _Unit]]]
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
        _replace(path, table.replace_schema_metadata(block.schema.metadata))
        return figures


class _Texts:
    """A block's texts by their documents' ordinals, read one at a time."""

    def __init__(self, block: pa.Table):
        self._texts = block.column(1)
        self._rows = {ordinal: row for row, ordinal in enumerate(block.column(2).to_pylist())}

    def __getitem__(self, ordinal: int) -> str:
        return self._texts[self._rows[ordinal]].as_py()


def _reweight(staged: Sequence[Path], attribute: documents.Attribute, config: Config, figures: Figures) -> dict[str, Any]:
    """Give each document of a pane its weight. What was done, for the ledger, and the weighted sums.

    Sums are added up a profile, in whole numbers, so that they do not depend on how the blocks were cut.
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
    found = reweighting.reweight(_target(config, name, attribute.groups), size, known, config.repair.weight_limit)
    column = documents.weight(name)
    for path in staged:
        block = read_block(path)
        _, keys = _profiles(path, columns)
        weights = [found.weights.get(tuple(key), 1.0) for key in keys.tolist()]
        place = block.schema.get_field_index(column)
        _replace(path, block.set_column(place, block.schema.field(place), pa.array(weights, pa.float64())))
    seen = figures.attributes[name]
    factors = {key: found.weights.get(key, 1.0) for key in sorted(known)}
    total = sum((factor * counts[key] for key, factor in factors.items()), np.zeros(size))
    squares = sum((factor**2 * products[key] for key, factor in factors.items()), np.zeros((size, size)))
    sums = {
        "documents": seen.documents,
        "counts": np.round(total, least_dr.DIGITS).tolist(),
        "products": np.round(squares, least_dr.DIGITS).tolist(),
    }
    return {
        "sums": sums,
        "mode": "reweight",
        "strictness": config.strictness(name),
        "before": _sums(seen),
        "expected_dr": found.expected.dr_after,
        "shortage": list(found.expected.shortage),
        "mentions": seen.counts,
        "weights": [min(factors.values(), default=1.0), max(factors.values(), default=1.0)],
    }


def _profiles(path: Path, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Counts (D, M) of a block's documents and their profiles (D, M), see reweighting.profile; no mention: all -1."""
    block = read_block(path)
    counts = np.stack([block.column(name).to_numpy().astype(np.int64) for name in columns], axis=1)
    totals = counts.sum(axis=1, keepdims=True)
    return counts, np.where(totals > 0, reweighting.EIGHTHS * counts // np.maximum(totals, 1), -1)


def _replace(path: Path, table: pa.Table) -> None:
    write_block(table, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _meets(new: Sequence[Edit], made: Sequence[Edit]) -> bool:
    """Whether some edits overlap or touch others, which are in order: what the one assumes around it is then not there."""
    for edit in new:
        at = bisect_left(made, edit)
        if (at and made[at - 1].end >= edit.start) or (at < len(made) and made[at].start <= edit.end):
            return True
    return False


def _join(made: list[Edit], new: Sequence[Edit]) -> None:
    """Put edits among others, in order."""
    for edit in new:
        insort(made, edit)


def _target(config: Config, name: str, groups: Sequence[str]) -> list[float] | None:
    own = config.attributes[name].target
    return None if own is None else [own[group] for group in groups]


def _sums(seen: AttributeFigures) -> dict[str, Any]:
    return {"documents": seen.documents, "counts": list(seen.counts), "products": [list(row) for row in seen.products]}
