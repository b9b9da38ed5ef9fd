"""Repairs a pane: draws what changes (`draw`), rebuilds the documents, and counts again.

It works on the files of the pane's staged blocks. The sets of the whole pane are held in memory as
lines of JSON, the texts a block at a time.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.documents import AttributeFigures, Figures, RepairedPane
from evenflow.transforms.annotation import people
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.measures import registry
from evenflow.transforms.repair import rewriting
from evenflow.transforms.repair.draw import Unit, draw, take_all
from evenflow.transforms.repair.exchanges import Exchanges, Spot, StagedPane, meets
from evenflow.transforms.repair.plan import Plan
from evenflow.transforms.repair.tallies import SubstitutionCounts
from evenflow.transforms.staging import sentence_table
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.proposals import Proposed
from evenflow.transforms.staging.sentence_table import Change
from evenflow.transforms.substitution import joined, reading
from evenflow.transforms.substitution.judges import ByFirstStage, ExchangeJudge
from evenflow.transforms.substitution.sets import DOUBTED, Edit
from evenflow.transforms.text import given_names

if TYPE_CHECKING:
    from evenflow.transforms.llm.client.stats import Counted

COPY = "{id}#{attribute}={group}"  # id of a changed copy
SWAPPED = "swapped"  # in place of a group, where all groups are exchanged
# Why a document that is due a swapped copy got none, besides the reasons of its sets
NO_WORD, OTHER = "it names no group", "another attribute changed the same words"


@dataclass
class _Rebuilt:
    """A document, or a copy, as it goes into the pane.

    Attributes:
        edits: The edits of its text, in order.
        changes: What became of its sets.
    """

    edits: list[Edit] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def repair(
    blocks: Mapping[StagedBlock, Figures], folder: Path, pane: int, annotator: Annotator
) -> RepairedPane:
    """Repair a pane; its staged blocks are rewritten.

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
    before, rebuilder = _drawn(blocks, annotator)
    after = _no_figures(annotator)
    screen = annotator.screen
    tally = None if screen is None else screen.tally()
    for block, figures in blocks.items():
        changed = rebuilder.rebuild(block) if block.has(Part.PROPOSALS) else None
        if changed is not None:
            changed.take_reading(figures)
        after.add(changed or figures)
    people.resolve(before, annotator.config)
    rows = (rebuilder.rows(block) for block in blocks if block.has(Part.SENTENCES))
    shard = sentence_table.write(rows if tally is None else map(tally.seen, rows), folder, pane)
    repairs = rebuilder.summary(before, after)
    after.llm = documents.summed(after.llm, rebuilder.cost())
    if screen is not None and tally is not None:
        after.measures[screen.name] = tally.summary()
    return RepairedPane(after, repairs, shard)


def draw_only(blocks: Mapping[StagedBlock, Figures], annotator: Annotator) -> None:
    """Draw what changes in a pane and have it judged; nothing is changed.

    Args:
        blocks: The pane's staged blocks in source order, with their figures.
        annotator: The annotator that read the blocks.

    Raises:
        OSError: A file cannot be read.
    """
    _drawn(blocks, annotator)


def _no_figures(annotator: Annotator) -> Figures:
    """Figures of no documents."""
    out = Figures()
    for each in annotator.attributes:
        out.attributes[each.name] = AttributeFigures.empty(len(each.groups))
    return out


def _drawn(
    blocks: Mapping[StagedBlock, Figures], annotator: Annotator
) -> tuple[Figures, _Rebuilder]:
    """The figures of a pane, and what rebuilds it once what changes is drawn."""
    before = _no_figures(annotator)
    for each in blocks.values():
        before.add(each)
    staged = [each for each in blocks if each.has(Part.PROPOSALS)]
    return before, _Rebuilder(annotator, before, staged)


def _judged(figures: AttributeFigures) -> dict[str, Any]:
    """The sums that a verdict is made from: of people where they are counted, else of words."""
    estimate = None if figures.people is None else figures.people.estimate
    return estimate or figures.sums.model_dump()


class _Rebuilder:
    """Draws what changes in a pane, and rebuilds its blocks.

    Attributes in mode substitute come first, in the lists' order, then those in mode augment. A
    later attribute does not change what an earlier one changed. Swapped copies (bias_score.mode
    augment; Dolci et al. 2023, section 4.2.2) have no plan: each document that is due gets one.

    Args:
        annotator: The annotator that read the blocks.
        before: The pane's figures before the repair.
        staged: The blocks with proposals, in source order.
    """

    def __init__(self, annotator: Annotator, before: Figures, staged: Sequence[StagedBlock]):
        self._annotator = annotator
        self._config = annotator.config
        self._modes = {each.name: each.mode for each in annotator.attributes}
        groups = {each.name: each.groups for each in annotator.attributes}
        targets = {each.name: each.target for each in annotator.attributes}
        self._fields = joined.field_names(self._config)
        self._pane = StagedPane(staged, self._fields)
        self._edits: dict[Spot, list[Edit]] = {}
        self._exchanges: dict[str, Exchanges] = {}
        self._groups = groups
        self._plans: dict[str, Plan] = {}
        self._targets: dict[str, dict[tuple[Spot, int], str]] = {}
        # Attribute, what the copy's id says, and the places of sets with their targets
        self._copies: dict[Spot, list[tuple[str, str, list[tuple[int, str]]]]] = {}
        self._tallies: dict[str, SubstitutionCounts] = {}
        self._done: dict[StagedBlock, dict[int, _Rebuilt]] = {}
        names = () if annotator.proposer is None else annotator.proposer.attributes
        judge, self._asked = _judge(annotator, before.llm) if names else (None, None)
        bar = registry.bar(annotator.lists) if names else None
        for name in sorted(names, key=lambda name: self._modes[name] == "augment"):
            own = self._exchanges[name] = Exchanges(
                name, groups[name], self._config, self._pane, judge, self._edits, bar
            )
            self._tallies[name] = SubstitutionCounts()
            self._targets[name] = {}
            if self._config.swaps(name):
                self._swap(name, own)
                continue
            drawn = draw(
                before.attributes[name].counts,
                targets[name],
                groups[name],
                own.units(),
                own.judge,
            )
            self._plans[name] = drawn.plan
            if self._modes[name] == "augment":
                for unit, target in drawn.chosen:
                    spot, places = unit.place
                    changing = [(place, target) for place in places]
                    self._copies.setdefault(spot, []).append((name, target, changing))
                continue
            for spot, chosen in groupby(sorted(drawn.chosen, key=_spot), key=_spot):
                own_sets = self._pane.document(spot, name).sets[name]
                for unit, target in chosen:
                    for place in unit.place[1]:
                        self._targets[name][spot, place] = target
                        _join(self._edits.setdefault(spot, []), own_sets[place].edits[target])
        self._ids: set[str] = set()  # of the pane's documents, where copies get ids
        for block in staged if "augment" in map(self._modes.get, names) else ():
            self._ids.update(block.read(Part.DOCUMENTS)[documents.ID.name].to_pylist())

    def _swap(self, name: str, own: Exchanges) -> None:
        """Have the sets of all documents judged of which a swapped copy is due."""
        chosen = take_all(self._groups[name], own.units(), own.judge)
        changing: dict[Spot, list[tuple[int, str]]] = {}
        for unit, target in chosen:
            spot, places = unit.place
            changing.setdefault(spot, []).extend((place, target) for place in places)
        for spot in self._pane.spots():
            if name in self._pane.document(spot, name).counts:
                copies = self._copies.setdefault(spot, [])
                copies.append((name, SWAPPED, sorted(changing.get(spot, []))))

    def rebuild(self, block: StagedBlock) -> Figures | None:
        """Change the documents of a block.

        Args:
            block: The block; its documents are rewritten if any of them changes.

        Returns:
            Its figures after the changes; None if no document changed.

        Raises:
            OSError: A file cannot be read or written.
        """
        number = self._pane.blocks.index(block)
        originals: dict[int, _Rebuilt] = {}
        copies: dict[int, list[tuple[str, list[Edit]]]] = {}
        for spot in self._pane.spots(number):
            document = self._pane.document(spot)
            original = originals[document.ordinal] = self._original(spot, document)
            made = [
                (each[0], identity, copy)
                for each in self._copies.get(spot, ())
                for identity, copy in self._copy(spot, document, *each)
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
        return rewriting.rewrite(block, self._annotator, self._fields, edits, copies)

    def _tell_uncopied(self, spot: Spot, document: Proposed, made: Set[str]) -> None:
        """Count why a document that is due a swapped copy got none."""
        for name, *_, changing in self._copies.get(spot, ()):
            if name in made or not self._config.swaps(name):
                continue
            own, sets = self._exchanges[name], document.sets.get(name, ())
            reasons = Counter(own.reason(spot, place, each) for place, each in enumerate(sets))
            why = min(reasons, key=lambda each: (-reasons[each], each)) if reasons else NO_WORD
            self._tallies[name].uncopied[OTHER if changing else why or DOUBTED] += 1

    def cost(self) -> dict[str, Any]:
        """What the questions about drawn exchanges cost, by prompt (see `client.stats.Stats`)."""
        if self._asked is None:
            return {}
        return {name: each.additive() for name, each in self._asked.stats.items()}

    def rows(self, block: StagedBlock) -> pa.Table:
        """The block's part of the table of sentences, completed with what became of the sets."""
        originals = self._done.pop(block, {})
        return sentence_table.complete(
            block.read(Part.SENTENCES),
            {ordinal: each.changes for ordinal, each in originals.items()},
            {ordinal: each.edits for ordinal, each in originals.items()},
        )

    def summary(self, before: Figures, after: Figures) -> dict[str, dict[str, Any]]:
        """Sum up what was done.

        Args:
            before: The pane's figures before the repair.
            after: The pane's figures after it.

        Returns:
            The fields of ledger.Repair, less the scores, by attribute.
        """
        out: dict[str, dict[str, Any]] = {}
        for name, own in self._exchanges.items():
            plan, groups = self._plans.get(name), self._groups[name]
            out[name] = {
                "mode": self._modes[name],
                "strictness": reading.strictness(self._config, name),
                "before": _judged(before.attributes[name]),
                "expected_dr": plan.expected.dr_after if plan else None,
                "shortage": list(plan.expected.shortage) if plan else [0.0] * len(groups),
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
        rebuilt = _Rebuilt(self._edits.get(spot, []))
        for name, targets in self._targets.items():
            if self._modes[name] == "augment":
                continue
            for place, each in enumerate(document.sets.get(name, ())):
                own = self._exchanges[name]
                reason, decided = own.reason(spot, place, each), own.decided(spot, place, each)
                rebuilt.changes.append(Change(place, decided, targets.get((spot, place)), reason))
        return rebuilt

    def _copy(
        self,
        spot: Spot,
        document: Proposed,
        name: str,
        called: str,
        changing: Sequence[tuple[int, str]],
    ) -> Iterator[tuple[str, _Rebuilt]]:
        """A changed copy of a document, under its own id; none if nothing is to be swapped."""
        copy = _Rebuilt(list(self._edits.get(spot, [])))
        before = len(copy.edits)
        for place, target in changing:
            each = document.sets[name][place]
            edits = each.edits.get(target)
            if edits is not None and not meets(edits, copy.edits):
                _join(copy.edits, edits)
                copy.changes.append(Change(place, each, target, ""))
        if self._config.swaps(name):
            # A pronoun that stays would not fit a name of the other sex
            if self._config.bias_score.names and len(copy.changes) == len(
                document.sets.get(name, ())
            ):
                text = self._pane.text(spot.block, document.ordinal, whole=True)
                for edit in starmap(Edit, given_names.exchanged(text)):
                    if not meets([edit], copy.edits):
                        _join(copy.edits, [edit])
            if len(copy.edits) == before:
                return
        identity = COPY.format(id=document.id, attribute=name, group=called)
        while identity in self._ids:
            identity += "'"  # the id is taken if an output with copies is read again
        self._ids.add(identity)
        yield identity, copy


def _judge(
    annotator: Annotator, cost: Mapping[str, Any]
) -> tuple[ExchangeJudge | None, Counted | None]:
    """What judges drawn exchanges, and what counts the questions to a language model.

    None judges: the first stage decides.
    """
    config, tier = annotator.config, annotator.tier
    if config.repair.method == "base":
        return None, None
    fast = config.repair.judge == "fast"
    if tier is None or config.llm.substitution == "embedded":
        return None if fast else reading.DocumentJudge.shipped(), None
    return tier.judge(ByFirstStage() if fast else reading.DocumentJudge.shipped(), cost)


def _spot(chosen: tuple[Unit, str]) -> Spot:
    """The place of the document of a drawn unit."""
    return chosen[0].place[0]


def _join(made: list[Edit], new: Sequence[Edit]) -> None:
    """Put edits among others, in order."""
    for edit in new:
        insort(made, edit)
