"""Chooses what changes in a pane: the sets that are exchanged, the copies that are due."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.measures import registry
from evenflow.transforms.repair.draw import Unit, draw, moved, take_all, take_both_ways, take_half
from evenflow.transforms.repair.exchanges import Exchanges, Spot, StagedPane
from evenflow.transforms.repair.plan import Plan
from evenflow.transforms.staging.block import StagedBlock
from evenflow.transforms.substitution import joined, reading
from evenflow.transforms.substitution.decisions import Exchange
from evenflow.transforms.substitution.judges import ByFirstStage, ExchangeJudge
from evenflow.transforms.substitution.sets import Edit

if TYPE_CHECKING:
    from evenflow.transforms.llm.client.stats import Counted

SWAPPED = "swapped"  # in place of a group, where all groups are exchanged


class Copy(NamedTuple):
    """A changed copy that is due of a document."""

    attribute: str
    group: str
    exchanges: Sequence[Exchange]


@dataclass
class Choice:
    """What changes in a pane."""

    pane: StagedPane
    exchanges: dict[str, Exchanges] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    targets: dict[str, dict[tuple[Spot, int], str]] = field(default_factory=dict)
    edits: dict[Spot, list[Edit]] = field(default_factory=dict)
    copies: dict[Spot, list[Copy]] = field(default_factory=dict)
    cost: dict[str, Any] = field(default_factory=dict)

    def substitute(self, name: str, chosen: Sequence[tuple[Unit, str]]) -> None:
        """Note that units of an attribute are exchanged in their documents."""
        targets = self.targets[name] = {}
        for spot, units in groupby(sorted(chosen, key=_spot), key=_spot):
            own = self.pane.document(spot, name).sets[name]
            for unit, target in units:
                for place in unit.place[1]:
                    targets[spot, place] = target
                    join(self.edits.setdefault(spot, []), own[place].edits[target])

    def copy(self, name: str, chosen: Sequence[tuple[Unit, str]]) -> None:
        """Note that documents are copied with units of an attribute exchanged."""
        for unit, target in chosen:
            exchanges = [(place, target) for place in unit.place[1]]
            self.copies.setdefault(unit.place[0], []).append(Copy(name, target, exchanges))

    def swap(self, name: str, chosen: Sequence[tuple[Unit, str]]) -> None:
        """Note that each document of which a swapped copy is due gets one."""
        exchanges: dict[Spot, list[Exchange]] = {}
        for unit, target in chosen:
            spot, places = unit.place
            exchanges.setdefault(spot, []).extend((place, target) for place in places)
        for spot in self.pane.spots():
            if name in self.pane.document(spot, name).counts:
                due = Copy(name, SWAPPED, sorted(exchanges.get(spot, [])))
                self.copies.setdefault(spot, []).append(due)


def choose(annotator: Annotator, before: Figures, staged: Sequence[StagedBlock]) -> Choice:
    """Draw what changes in a pane, and have it judged.

    Attributes in mode substitute come first, in the lists' order, then those in mode augment. A
    later attribute does not change what an earlier one changed. Swapped copies (bias_score.mode
    augment; Dolci et al. 2023, section 4.2.2) have no plan: each document that is due gets one.
    """
    config = annotator.config
    out = Choice(StagedPane(staged, joined.field_names(config)))
    if annotator.proposer is None:
        return out
    names = annotator.proposer.attributes
    judge, asked = _judge(annotator, before.llm) if names else (None, None)
    # BaseCDA is as published: it knows no bar
    bar = registry.bar(annotator.lists) if names and config.repair.method == "gc" else None
    proposed = [each for each in annotator.attributes if each.name in names]
    lists = {each.attribute: each for each in annotator.lists}
    for name, groups, mode, target in sorted(
        [(each.name, each.groups, each.mode, each.target) for each in proposed],
        key=lambda each: each[2] == "augment",
    ):
        own = Exchanges(name, groups, config, out.pane, judge, out.edits, bar)
        out.exchanges[name] = own
        if config.swaps(name):
            out.swap(name, take_all(groups, own.units(), own.judge))
            continue
        counts = before.attributes[name].counts
        if config.repair.method == "base" and mode == "substitute":
            out.substitute(name, take_half(counts, groups, own.units(), own.judge))
            continue
        units, aimed = own.units(), list[tuple[Unit, str]]()
        if (share := config.repair.aim_share) and mode == "substitute":
            from evenflow.transforms.repair import aim

            leaning = aim.leanings(out.pane.sets(name), lists[name])
            aimed, units = take_both_ways(groups, units, own.judge, share, leaning)
            counts = moved(counts, aimed)
        drawn = draw(counts, target, groups, units, own.judge)
        out.plans[name] = drawn.plan
        (out.copy if mode == "augment" else out.substitute)(name, [*aimed, *drawn.chosen])
    if asked is not None:
        out.cost = {name: each.additive() for name, each in asked.stats.items()}
    return out


def _judge(
    annotator: Annotator, cost: Mapping[str, Any]
) -> tuple[ExchangeJudge | None, Counted | None]:
    """What judges drawn exchanges, and what counts the questions to a language model.

    None judges: the first stage decides.
    """
    config, tier = annotator.config, annotator.tier
    if tier is None or config.repair.method == "base" or config.llm.substitution == "embedded":
        return reading.judge_of(config, annotator.threads), None
    return tier.judge(reading.judge_of(config, alone=True) or ByFirstStage(), cost)


def _spot(chosen: tuple[Unit, str]) -> Spot:
    """The place of the document of a drawn unit."""
    return chosen[0].place[0]


def join(made: list[Edit], new: Sequence[Edit]) -> None:
    """Put edits among others, in order."""
    for edit in new:
        insort(made, edit)
