"""All measures. A new one is one line here, or an entry point of the group `evenflow.measures`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Measured, PaneEntry
from evenflow.transforms.measures.bias_score.measure import BiasScoreMeasure
from evenflow.transforms.measures.coverage.measure import CoverageMeasure
from evenflow.transforms.measures.measure import Counter, Measure
from evenflow.wordlists.loader import WordList

GROUP = "evenflow.measures"
SHIPPED: tuple[Measure[Any], ...] = (CoverageMeasure(), BiasScoreMeasure())


@cache
def measures() -> dict[str, Measure[Any]]:
    """All measures by name: those that ship, then those of installed packages."""
    plugged = (each.load()() for each in entry_points(group=GROUP))
    return {each.name: each for each in (*SHIPPED, *plugged)}


def counters(config: Config, lists: Sequence[WordList]) -> dict[str, Counter]:
    """What counts under a configuration, by the measure's name; none of a measure that is off."""
    found = {name: each.counter(config, lists) for name, each in measures().items()}
    return {name: each for name, each in found.items() if each is not None}


def look(config: Config, on_note: Callable[[str], None]) -> None:
    """Have measures look through what they read, before a run begins (see `Measure.look`)."""
    for each in measures().values():
        each.look(config, on_note)


def digests(config: Config) -> dict[str, Any]:
    """What a continued run must read too, by key of its settings (see `Measure.digests`)."""
    return {key: own for each in measures().values() for key, own in each.digests(config).items()}


def titled(records: Mapping[str, Measured | None]) -> dict[str, Measured]:
    """The records of measures that are on, by the measures' titles, in the registry's order."""
    found = {each.title: records.get(name) for name, each in measures().items()}
    return {title: each for title, each in found.items() if each is not None}


def read(entry: PaneEntry) -> PaneEntry:
    """Read the records of an entry that was parsed; one of a measure that is unknown stays.

    Args:
        entry: The entry; it is changed.

    Returns:
        The entry.

    Raises:
        ValidationError: A record is not of its measure.
    """
    for name, each in measures().items():
        found = entry.measures.get(name)
        if found is not None:
            entry.measures[name] = each.record.model_validate(found.model_dump())
    return entry
