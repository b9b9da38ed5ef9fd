"""Repairs a pane: chooses what changes (`choice`), rebuilds the documents, and counts again.

It works on the files of the pane's staged blocks. The sets of the whole pane are held in memory as
lines of JSON, the texts a block at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.documents import AttributeFigures, Figures, RepairedPane
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.repair import rewriting
from evenflow.transforms.repair.choice import Choice, Copy, choose, join
from evenflow.transforms.repair.exchanges import Spot, meets
from evenflow.transforms.staging import sentence_table
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.proposals import Proposed
from evenflow.transforms.staging.sentence_table import Change
from evenflow.transforms.substitution import joined, reading
from evenflow.transforms.substitution.sets import DOUBTED, Edit, apply, within
from evenflow.transforms.text import names

COPY = "{id}#{attribute}={group}"  # id of a changed copy
# Why a document that is due a swapped copy got none, besides the reasons of its sets
NO_WORD, OTHER = "it names no group", "another attribute changed the same words"
MOST = 20  # of the most frequent substitutions that the ledger keeps
SUMS = ("changed", "sentences", "documents", "copies")
AROUND = 70  # characters on each side of an example's first word


@dataclass
class _Rebuilt:
    """A document, or a copy, as it goes into the pane."""

    edits: list[Edit] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def repair(
    blocks: Mapping[StagedBlock, Figures], folder: Path, pane: int, annotator: Annotator
) -> RepairedPane:
    """Repair a pane; its staged blocks are rewritten.

    Args:
        blocks: The pane's staged blocks in source order, with their figures.
        folder: Where the table of sentences goes.

    Returns:
        The pane's figures after the repair, what was done, and the table of sentences.

    Raises:
        OSError: A file cannot be read or written.
    """
    before, choice = chosen(blocks, annotator)
    rebuilder = _Rebuilder(annotator, choice)
    after = _no_figures(annotator)
    screen = annotator.screen
    tally = None if screen is None else screen.tally()
    for block, figures in blocks.items():
        changed = rebuilder.rebuild(block) if block.has(Part.PROPOSALS) else None
        if changed is not None:
            changed.take_reading(figures)
        after.add(changed or figures)
    if annotator.config.measure.count == "people":
        from evenflow.transforms.annotation import people

        people.resolve(before, annotator.config)
    rows = (rebuilder.rows(block) for block in blocks if block.has(Part.SENTENCES))
    shard = sentence_table.write(rows if tally is None else map(tally.seen, rows), folder, pane)
    repairs = rebuilder.summary(before, after)
    after.llm = documents.summed(after.llm, choice.cost)
    if screen is not None and tally is not None:
        after.measures[screen.name] = tally.summary()
    return RepairedPane(after, repairs, shard)


def chosen(blocks: Mapping[StagedBlock, Figures], annotator: Annotator) -> tuple[Figures, Choice]:
    """Choose what changes in a pane; nothing is changed."""
    before = _no_figures(annotator)
    for each in blocks.values():
        before.add(each)
    staged = [each for each in blocks if each.has(Part.PROPOSALS)]
    return before, choose(annotator, before, staged)


def _no_figures(annotator: Annotator) -> Figures:
    """Figures of no documents."""
    out = Figures()
    for each in annotator.attributes:
        out.attributes[each.name] = AttributeFigures.empty(len(each.groups))
    return out


def _judged(figures: AttributeFigures) -> dict[str, Any]:
    """The sums that a verdict is made from: of people where they are counted, else of words."""
    estimate = None if figures.people is None else figures.people.estimate
    return estimate or figures.sums.model_dump()


class _Rebuilder:
    """Rebuilds the blocks of a pane with what changes in it."""

    def __init__(self, annotator: Annotator, choice: Choice):
        self._annotator, self._choice, self._pane = annotator, choice, choice.pane
        self._config = annotator.config
        self._modes = {each.name: each.mode for each in annotator.attributes}
        self._tallies = {name: SubstitutionCounts() for name in choice.exchanges}
        self._done: dict[StagedBlock, dict[int, _Rebuilt]] = {}
        self._ids: set[str] = set()  # of the pane's documents, where copies get ids
        for block in self._pane.blocks if choice.copies else ():
            self._ids.update(block.read(Part.DOCUMENTS)[documents.ID.name].to_pylist())

    def rebuild(self, block: StagedBlock) -> Figures | None:
        """Change the documents of a block."""
        number = self._pane.blocks.index(block)
        originals: dict[int, _Rebuilt] = {}
        copies: dict[int, list[tuple[str, list[Edit]]]] = {}
        for spot in self._pane.spots(number):
            document = self._pane.document(spot)
            original = originals[document.ordinal] = self._original(spot, document)
            made = [
                (due.attribute, identity, copy)
                for due in self._choice.copies.get(spot, ())
                for identity, copy in self._copy(spot, document, due)
            ]
            self._tell_uncopied(spot, document, {name for name, *_ in made})
            if made:
                copies[document.ordinal] = [(identity, copy.edits) for _, identity, copy in made]
            for name, tally in self._tallies.items():
                augmented = self._modes[name] == "augment"
                own_copies = [copy for of, _, copy in made if of == name]
                for own in own_copies if augmented else [original]:
                    changed = [
                        each
                        for each in own.changes
                        if each.target is not None and each.proposed.attribute == name
                    ]
                    if changed or augmented:
                        whole = self._config.swaps(name)
                        text = self._pane.text(number, document.ordinal, whole)
                        tally.add(document.id, text, changed, own.edits, augmented)
        self._done[block] = originals
        edits = {ordinal: each.edits for ordinal, each in originals.items() if each.edits}
        if not edits and not copies:
            return None
        fields = joined.field_names(self._config)
        return rewriting.rewrite(block, self._annotator, fields, edits, copies)

    def _tell_uncopied(self, spot: Spot, document: Proposed, made: Set[str]) -> None:
        """Count why a document that is due a swapped copy got none."""
        for name, _, exchanges in self._choice.copies.get(spot, ()):
            if name in made or not self._config.swaps(name):
                continue
            own, sets = self._choice.exchanges[name], document.sets.get(name, ())
            reasons = Counter(own.reason(spot, place, each) for place, each in enumerate(sets))
            why = min(reasons, key=lambda each: (-reasons[each], each)) if reasons else NO_WORD
            self._tallies[name].uncopied[OTHER if exchanges else why or DOUBTED] += 1

    def rows(self, block: StagedBlock) -> pa.Table:
        """The block's part of the table of sentences, completed with what became of the sets."""
        originals = self._done.pop(block, {})
        return sentence_table.complete(
            block.read(Part.SENTENCES),
            {ordinal: each.changes for ordinal, each in originals.items()},
            {ordinal: each.edits for ordinal, each in originals.items()},
        )

    def summary(self, before: Figures, after: Figures) -> dict[str, dict[str, Any]]:
        """Sum up what was done."""
        out: dict[str, dict[str, Any]] = {}
        for name, own in self._choice.exchanges.items():
            plan = self._choice.plans.get(name)
            none = [0.0] * len(before.attributes[name].counts)
            out[name] = {
                "mode": self._modes[name],
                "min_probability": reading.min_probability(self._config, name),
                "before": _judged(before.attributes[name]),
                "expected_dr": plan.dr if plan else None,
                "shortage": list(plan.shortage) if plan else none,
                "mentions": after.attributes[name].counts,
                "sets": own.count,
                "judged": own.judged,
                "eligible": own.count - own.excluded.total(),
                "barred": dict(sorted(own.excluded.items())),
                **self._tallies[name].summary(),
            }
        return out

    def _original(self, spot: Spot, document: Proposed) -> _Rebuilt:
        """A document with its substitutions, and what became of each set."""
        rebuilt = _Rebuilt(self._choice.edits.get(spot, []))
        for name, targets in self._choice.targets.items():
            own = self._choice.exchanges[name]
            for place, each in enumerate(document.sets.get(name, ())):
                reason, decided = own.reason(spot, place, each), own.decided(spot, place, each)
                rebuilt.changes.append(Change(place, decided, targets.get((spot, place)), reason))
        return rebuilt

    def _copy(self, spot: Spot, document: Proposed, due: Copy) -> Iterator[tuple[str, _Rebuilt]]:
        """A changed copy of a document, under its own id; none if nothing is to be swapped."""
        name = due.attribute
        copy = _Rebuilt(list(self._choice.edits.get(spot, [])))
        before = len(copy.edits)
        for place, target in due.exchanges:
            each = document.sets[name][place]
            edits = each.edits.get(target)
            if edits is not None and not meets(edits, copy.edits):
                join(copy.edits, edits)
                copy.changes.append(Change(place, each, target, ""))
        if self._config.swaps(name):
            # A pronoun that stays would not fit a name of the other sex
            if self._config.bias_score.names and len(copy.changes) == len(
                document.sets.get(name, ())
            ):
                text = self._pane.text(spot.block, document.ordinal, whole=True)
                for edit in starmap(Edit, names.exchanged(text)):
                    if not meets([edit], copy.edits):
                        join(copy.edits, [edit])
            if len(copy.edits) == before:
                return
        identity = COPY.format(id=document.id, attribute=name, group=due.group)
        while identity in self._ids:
            identity += "'"  # the id is taken if an output with copies is read again
        self._ids.add(identity)
        yield identity, copy


@dataclass
class SubstitutionCounts:
    """Sums over documents, and the first example of each substitution that was added.

    A substitution is a text and what replaces it, both in lower case, and the target group.
    """

    changed: int = 0
    sentences: int = 0
    documents: int = 0
    copies: int = 0
    uncopied: Counter[str] = field(default_factory=Counter[str])
    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    examples: dict[tuple[str, str, str], dict[str, str]] = field(default_factory=dict)

    def add(
        self, identity: str, text: str, made: Sequence[Change], edits: Sequence[Edit], is_copy: bool
    ) -> None:
        """Add a document's changes of an attribute."""
        self.changed += len(made)
        self.sentences += len({place for each in made for place in each.proposed.sentences})
        self.documents += 1
        self.copies += is_copy
        for each in made:
            assert each.target is not None
            own = each.proposed.edits[each.target]
            for mention in each.proposed.mentions:
                over = (one for one in own if one.start < mention.end and mention.start < one.end)
                edit = next(over, None)
                if edit is None:
                    continue
                key = (text[edit.start : edit.end].lower(), edit.replacement.lower(), each.target)
                self.counts[key] = self.counts.get(key, 0) + 1
                if key not in self.examples:
                    self.examples[key] = {"id": identity, **_example(text, edit, edits)}

    def summary(self) -> dict[str, Any]:
        """The sums and the most frequent substitutions, as in ledger.Repair."""
        often = sorted(self.counts, key=lambda key: (-self.counts[key], key))[:MOST]
        return {
            **{name: getattr(self, name) for name in SUMS},
            "uncopied": dict(sorted(self.uncopied.items())),
            "substitutions": [
                {"said": said, "instead": instead, "target": target}
                | {"count": self.counts[said, instead, target]}
                | self.examples[said, instead, target]
                for said, instead, target in often
            ],
        }


def _example(text: str, edit: Edit, edits: Sequence[Edit]) -> dict[str, str]:
    """A stretch of the text around an edit, before and after all edits in it."""
    start, end = max(0, edit.start - AROUND), min(len(text), edit.end + AROUND)
    for other in edits:  # no edit is cut in two
        if other.start < start < other.end:
            start = other.start
        if other.start < end < other.end:
            end = other.end
    before = text[start:end]
    return {"before": before, "after": apply(before, within(edits, start, end))}
