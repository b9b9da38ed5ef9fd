"""The exchanges of one attribute that a pane's documents propose: as units to draw, and judged when
they are drawn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evenflow.schemas.config import Config
from evenflow.transforms.repair import draw, eligibility
from evenflow.transforms.repair.draw import Unit
from evenflow.transforms.staging import proposals
from evenflow.transforms.staging.proposals import Proposed
from evenflow.transforms.staging.shards import read_block
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.judges import ExchangeJudge
from evenflow.transforms.substitution.sets import Edit, Set
from evenflow.transforms.substitution.windows import show_windows

CONFLICT = "meets another attribute's change"
# First probabilities below which nothing is judged, and from which nothing need be. Below 0.15 lie
# two fifths of the exchanges, and one in 76 of those that the encoder would accept at the default
# strictness (report documents of exchanges.jsonl.gz).
UNLIKELY, SURE = 0.15, 0.98


class Spot(NamedTuple):
    """A document's place in a pane: its block, and its line in the block's file of sets."""

    block: int
    line: int


class StagedPane:
    """A pane's staged blocks: their texts, and the documents' sets as they lie in their files."""

    def __init__(self, paths: Sequence[Path]):
        self.paths = paths
        self._lines = [proposals.lines(path.with_suffix(proposals.SUFFIX)) for path in paths]
        self._texts: dict[int, tuple[dict[int, int], list[str]]] = {}

    def spots(self, *blocks: int) -> Iterator[Spot]:
        """The documents with sets of some blocks or of all, in the pane's order."""
        return (
            Spot(block, line)
            for block in blocks or range(len(self._lines))
            for line in range(len(self._lines[block]))
        )

    def document(self, spot: Spot, attribute: str | None = None) -> Proposed:
        """A document's sets, of one attribute or of all."""
        return proposals.read_line(self._lines[spot.block][spot.line], attribute)

    def text(self, block: int, ordinal: int) -> str:
        """A document's text as it was staged; the texts of one block are kept at a time."""
        if block not in self._texts:
            table = read_block(self.paths[block])
            rows = {at: row for row, at in enumerate(table.column(2).to_pylist())}
            self._texts = {block: (rows, table.column(1).to_pylist())}
        rows, texts = self._texts[block]
        return texts[rows[ordinal]]


class Exchanges:
    """What an attribute's sets may become, and what is known of them.

    Args:
        name: The attribute.
        groups: Its groups.
        config: The configuration.
        pane: The staged blocks.
        judge: Who judges what is drawn; None: the first probability decides.
        made: Edits of earlier attributes by document.
    """

    def __init__(
        self,
        name: str,
        groups: Sequence[str],
        config: Config,
        pane: StagedPane,
        judge: ExchangeJudge | None,
        made: dict[Spot, list[Edit]],
    ):
        self.name = name
        self.judged = 0  # exchanges that the judge was asked about
        self.count = 0  # sets
        self.barred: Counter[str] = Counter()  # sets that may not change, by reason
        self._groups, self._pane, self._judge, self._made = groups, pane, judge, made
        self._seed, self._strictness = config.repair.seed, config.strictness(name)
        self._augments = config.mode(name) == "augment"
        self._refused: dict[tuple[Spot, int], str] = {}

    def reason(self, spot: Spot, place: int, proposed: Set) -> str:
        """Why a set may not change; empty where it may."""
        if not proposed.edits or not proposed.confidence:
            return proposed.reason or sets.NO_COUNTERPART
        least = (
            self._strictness
            if proposed.judged or self._judge is None
            else min(UNLIKELY, self._strictness)
        )
        if proposed.confidence < least:
            return proposed.reason or sets.DOUBTED
        return self._refused.get((spot, place), "")

    def units(self) -> list[Unit]:
        """All that may change as units to draw; sets that meet an earlier attribute's edits are
        refused.
        """
        out: list[Unit] = []
        for spot in self._pane.spots():
            document = self._pane.document(spot, self.name)
            own = document.sets.get(self.name, ())
            made = self._made.get(spot, ())
            free: list[int] = []
            for place, each in enumerate(own):
                if made and any(meets(edits, made) for edits in each.edits.values()):
                    self._refused[spot, place] = CONFLICT
                reason = self.reason(spot, place, each)
                if not reason:
                    free.append(place)
                else:
                    self.barred[reason] += 1
            self.count += len(own)
            if self._augments:
                copy = self._copy(spot, document, free)
                out += [copy] if copy is not None else []
            else:
                out += [self._unit(spot, document, place) for place in free]
        return out

    def judge(self, asked: list[tuple[Unit, str]]) -> list[Unit | None]:
        """What is left of units when their exchanges for a target are judged (see `drawing.Judge`)."""
        assert self._judge is not None  # without a judge all is settled
        # A block's texts are read once
        order = sorted(range(len(asked)), key=lambda number: asked[number][0].place[0])
        windows: list[list[str]] = []
        owners: list[tuple[Spot, int]] = []
        documents: dict[Spot, Proposed] = {}
        for number in order:
            (spot, places), target = asked[number][0].place, asked[number][1]
            if spot not in documents:
                documents[spot] = self._pane.document(spot, self.name)
            document = documents[spot]
            for place in places:
                each = document.sets[self.name][place]
                if target in each.edits and not _settled(each):
                    windows.append(
                        show_windows(self._pane.text(spot.block, document.ordinal), each, target)
                    )
                    owners.append((spot, place))
        for owner, (probability, reason) in zip(
            owners, self._judge.exchanges(self.name, windows), strict=True
        ):
            if probability < self._strictness:
                self._refused[owner] = reason or sets.DOUBTED
                self.barred[self._refused[owner]] += 1
        self.judged += len(windows)
        return [self._left(unit, target, documents[unit.place[0]]) for unit, target in asked]

    def going(self, unit: Unit, document: Proposed, target: str) -> list[int]:
        """The places of a unit's sets that change for a target."""
        return [place for place in unit.place[1] if target in document.sets[self.name][place].edits]

    def _left(self, unit: Unit, target: str, document: Proposed) -> Unit | None:
        spot, places = unit.place
        kept = [place for place in places if (spot, place) not in self._refused]
        if len(kept) == len(places):
            unit.settled = (*unit.settled, target)
            return unit
        rest = self._copy(spot, document, kept) if self._augments else None
        if rest is not None:
            rest.key = unit.key
            rest.settled = tuple(
                each for each in (*unit.settled, target) if each in rest.kind.targets
            )
        return rest

    def _unit(self, spot: Spot, document: Proposed, place: int) -> Unit:
        each = document.sets[self.name][place]
        kind, size = eligibility.of_set(self._groups, each)
        key = draw.key(self._seed, self.name, document.id, place, each.confidence)
        done = self._judge is None or _settled(each)
        return Unit(key, kind, size, (spot, (place,)), kind.targets if done else ())

    def _copy(self, spot: Spot, document: Proposed, free: Sequence[int]) -> Unit | None:
        own = document.sets.get(self.name, ())
        found = (
            eligibility.of_copy(
                self._groups, document.counts[self.name], [own[place] for place in free]
            )
            if free
            else None
        )
        if found is None:
            return None
        kind, size = found
        places = tuple([place for place in free if own[place].source == kind.source])
        key = draw.key(
            self._seed, self.name, document.id, 0, max(own[place].confidence for place in places)
        )
        done = self._judge is None or all(_settled(own[place]) for place in places)
        return Unit(key, kind, size, (spot, places), kind.targets if done else ())


def _settled(proposed: Set) -> bool:
    """Whether nobody need be asked about a set."""
    return proposed.judged or proposed.confidence >= SURE


def meets(new: Sequence[Edit], made: Sequence[Edit]) -> bool:
    """Whether some edits overlap or touch others, which are in order: what the one assumes around
    it is then not there.
    """
    for edit in new:
        at = bisect_left(made, edit)
        if (at and made[at - 1].end >= edit.start) or (
            at < len(made) and made[at].start <= edit.end
        ):
            return True
    return False
