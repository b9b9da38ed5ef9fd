"""The exchanges of one attribute in a pane: units to draw, and judged when they are drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import BETWEEN
from evenflow.transforms.repair import draw, eligibility
from evenflow.transforms.repair.draw import Unit
from evenflow.transforms.staging.block import Part, StagedBlock, read_documents
from evenflow.transforms.staging.proposals import Proposed
from evenflow.transforms.substitution import joined, reading
from evenflow.transforms.substitution.decisions import Decisions, Exchange
from evenflow.transforms.substitution.judges import Asked, Bar, ExchangeJudge
from evenflow.transforms.substitution.sets import Edit, Set

CONFLICT = "meets another attribute's change"


class Spot(NamedTuple):
    """A document's place in a pane."""

    block: int
    line: int


class StagedPane:
    """The texts and sets of a pane's staged blocks.

    The sets of all blocks are held as lines of JSON, the texts of one block at a time.
    """

    def __init__(self, blocks: Sequence[StagedBlock], fields: Sequence[str] = ()):
        self.blocks, self._fields = blocks, fields
        self._lines = [list(block.lines(Part.PROPOSALS)) for block in blocks]
        self._texts: dict[int, dict[int, list[str]]] = {}  # by block, then by ordinal

    def spots(self, *blocks: int) -> Iterator[Spot]:
        """The places of documents with sets, in the pane's order."""
        return (
            Spot(block, line)
            for block in blocks or range(len(self._lines))
            for line in range(len(self._lines[block]))
        )

    def document(self, spot: Spot, attribute: str | None = None) -> Proposed:
        """Read a document's sets.

        `attribute`: The only attribute whose sets are wanted; None: all.
        """
        return Proposed.from_line(self._lines[spot.block][spot.line], attribute)

    def sets(self, attribute: str) -> Iterator[tuple[tuple[Spot, tuple[int]], Set, str]]:
        """An attribute's sets, with the places of their units and their documents' texts."""
        for spot in self.spots():
            document = self.document(spot, attribute)
            for place, each in enumerate(document.sets.get(attribute, ())):
                yield (spot, (place,)), each, self.text(spot.block, document.ordinal)

    def text(self, block: int, ordinal: int, whole: bool = False) -> str:
        """A document's text as it was staged."""
        if block not in self._texts:
            read = read_documents(self.blocks[block].read(Part.DOCUMENTS))
            texts = joined.texts_of(read.texts, read.fields, self._fields)
            self._texts = {block: dict(zip(read.places, texts, strict=True))}
        own = self._texts[block][ordinal]
        return BETWEEN.join(own) if whole else own[0]


class Exchanges(Decisions[Spot]):
    """An attribute's sets in a pane: units to draw, judged when they are drawn.

    `judge`: The model that judges what is drawn; None: the first probability decides. `bar`: Bars
    exchanges, whatever the judge says; None: none.

    `groups`: Its groups, (M,).
    """

    def __init__(
        self,
        name: str,
        groups: Sequence[str],
        config: Config,
        pane: StagedPane,
        judge: ExchangeJudge | None,
        made: dict[Spot, list[Edit]],
        bar: Bar | None = None,
    ):
        least, doubted = reading.min_probability(config, name), reading.doubted(config, name)
        super().__init__(least, judge, bar, doubted)
        self.name = name
        self.count = 0
        self._groups, self._pane, self._made = groups, pane, made
        self._seed = config.repair.seed
        self._whole = config.swaps(name)
        self._augments = config.mode(name) == "augment" and not self._whole
        self._is_asked = judge is not None or bar is not None
        self._units: dict[tuple[Spot, int], Unit] = {}  # those of one set

    def units(self) -> list[Unit]:
        """All units that may change; sets that meet an earlier attribute's edits are refused."""
        out: list[Unit] = []
        for spot in self._pane.spots():
            document = self._pane.document(spot, self.name)
            own = document.sets.get(self.name, ())
            made = self._made.get(spot, ())
            free: list[int] = []
            for place, each in enumerate(own):
                if made and any(meets(edits, made) for edits in each.edits.values()):
                    self.refused[spot, place] = CONFLICT
                reason = self.reason(spot, place, each)
                if not reason:
                    free.append(place)
                else:
                    self.excluded[reason] += 1
            self.count += len(own)
            if self._augments:
                copy = self._copy(spot, document, free)
                out += [copy] if copy is not None else []
            else:
                out += [self._unit(spot, document, place) for place in free]
        return out

    def judge(self, asked: list[tuple[Unit, str]]) -> list[Unit | None]:
        """Judge the exchanges of units (see `draw.Judge`).

        Returns what is left of each unit; None: nothing.
        """
        # In the order of the blocks, so that the texts of each are read once
        documents: dict[Spot, Proposed] = {}
        cases: dict[Spot, list[Exchange]] = {}
        for unit, target in sorted(asked, key=lambda each: each[0].place[0]):
            spot, places = unit.place
            if spot not in documents:
                documents[spot], cases[spot] = self._pane.document(spot, self.name), []
            own = documents[spot].sets[self.name]
            cases[spot] += [(each, target) for each in places if target in own[each].edits]

        def show(spot: Spot, exchanges: Sequence[Exchange]) -> Asked:
            own = documents[spot]
            text = self._pane.text(spot.block, own.ordinal, self._whole)
            return Asked(text, own.sets[self.name], exchanges)

        self.ask(cases, show)
        return [self._left(unit, target, documents[unit.place[0]]) for unit, target in asked]

    def _left(self, unit: Unit, target: str, document: Proposed) -> Unit | None:
        """What is left of a judged unit; None: nothing."""
        spot, places = unit.place
        own = document.sets[self.name]
        kept = [place for place in places if (spot, place) not in self.refused]
        if self._augments:
            here = set(kept)
            kept = [each for each in kept if here.issuperset(self.joined(spot, each))]
        elif kept and self.follows(spot, *kept):
            return None
        elif kept and len(joined := self.joined(spot, *kept)) > 1:
            return self._together(unit, target, [own[each] for each in joined], joined)
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

    def _together(
        self, unit: Unit, target: str, own: Sequence[Set], joined: tuple[int, ...]
    ) -> Unit:
        """A unit of sets that change together, for the one target that was judged."""
        whole = replace(
            own[0],
            edits={target: sorted(edit for each in own for edit in each.edits[target])},
            mentions=tuple(mention for each in own for mention in each.mentions),
            sentences=tuple(sorted({at for each in own for at in each.sentences})),
        )
        for place in joined:
            if (follower := self._units.get((unit.place[0], place))) is not None:
                follower.gone = True
        kind, size = eligibility.measure_set(self._groups, whole)
        return Unit(unit.key, kind, size, (unit.place[0], joined), (target,))

    def _unit(self, spot: Spot, document: Proposed, place: int) -> Unit:
        """A set as a unit (mode substitute)."""
        each = document.sets[self.name][place]
        kind, size = eligibility.measure_set(self._groups, each)
        key = draw.key(self._seed, self.name, document.id, place, each.confidence)
        unit = Unit(key, kind, size, (spot, (place,)), () if self._is_asked else kind.targets)
        self._units[spot, place] = unit
        return unit

    def _copy(self, spot: Spot, document: Proposed, free: Sequence[int]) -> Unit | None:
        """A document as a unit (mode augment), given the places of the sets that may change."""
        own = document.sets.get(self.name, ())
        found = (
            eligibility.measure_copy(
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
        return Unit(key, kind, size, (spot, places), () if self._is_asked else kind.targets)


def meets(new: Sequence[Edit], made: Sequence[Edit]) -> bool:
    """Whether edits overlap or touch others: the text around them is then not what they assume."""
    for edit in new:
        at = bisect_left(made, edit)
        if (at and made[at - 1].end >= edit.start) or (
            at < len(made) and made[at].start <= edit.end
        ):
            return True
    return False
