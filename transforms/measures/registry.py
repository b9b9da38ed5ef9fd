"""All measures: those that ship, a line each, and those of other packages (schemas.plugins)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from evenflow.schemas import plugins
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Measured, PaneEntry
from evenflow.transforms.measures.bias_score.measure import BiasScoreMeasure
from evenflow.transforms.measures.coverage.measure import CoverageMeasure
from evenflow.transforms.measures.measure import Counter, Measure, Screen
from evenflow.transforms.measures.shift.measure import ShiftMeasure
from evenflow.transforms.measures.stereotypes.measure import StereotypeMeasure
from evenflow.transforms.substitution.judges import Bar
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.llm.worker import Tier

SHIPPED: dict[str, Measure[Any]] = {
    each.name: each
    for each in (ShiftMeasure(), StereotypeMeasure(), CoverageMeasure(), BiasScoreMeasure())
}


def measures(names: Iterable[str] = ()) -> dict[str, Measure[Any]]:
    """The measures that ship, and those that this process has loaded of others that are named.

    Args:
        names: Names that an entry or sums have: data, which loads nothing.
    """
    loaded = plugins.loaded_measures()
    return SHIPPED | {n: loaded[n].part for n in names if n in loaded and n not in SHIPPED}


def of(config: Config) -> dict[str, Measure[Any]]:
    """The measures of a configuration, on or off, by name; those of other packages are loaded.

    Raises:
        PluginError: A plug-in cannot be loaded.
    """
    named = {name: plugins.measure(name).part for name in config.plugged_measures}
    return SHIPPED | named


def counters(config: Config, lists: Sequence[WordList]) -> dict[str, Counter]:
    """What counts under a configuration, by the measure's name; none of a measure that is off."""
    found = {name: each.counter(config, lists) for name, each in of(config).items()}
    return {name: each for name, each in found.items() if each is not None}


def screen(config: Config, tier: Tier | None) -> Screen | None:
    """What looks through sentences under a configuration; None: nothing (see `Measure.screen`)."""
    found = (each.screen(config, tier) for each in of(config).values())
    return next((each for each in found if each is not None), None)


def bar(lists: Sequence[WordList]) -> Bar | None:
    """What bars exchanges in sentences; None: nothing (see `Measure.bar`)."""
    found = (each.bar(lists) for each in SHIPPED.values())
    return next((each for each in found if each is not None), None)


def look(config: Config, on_note: Callable[[str], None]) -> None:
    """Have measures look through what they read, before a run begins (see `Measure.look`)."""
    if config.changes_sentences and config.repair.device != "cpu":
        from evenflow.transforms.substitution import reading

        reading.judge_of(config)  # which loads the reader there
    for each in of(config).values():
        each.look(config, on_note)


def digests(config: Config) -> dict[str, Any]:
    """What a continued run must read too, by key of its settings (see `Measure.digests`)."""
    return {key: own for each in of(config).values() for key, own in each.digests(config).items()}


T = TypeVar("T")


def known(found: Mapping[str, T]) -> Iterator[tuple[str, Measure[Any], T]]:
    """Yield what there is of measures that are loaded: name, measure, and the value."""
    yield from (
        (name, each, found[name]) for name, each in measures(found).items() if name in found
    )


def titled(records: Mapping[str, Measured]) -> dict[str, Measured]:
    """The records of measures that are on, by the measures' titles, in the registry's order.

    A measure that is not loaded here has its name for a title.
    """
    found = {each.title: record for _, each, record in known(records)}
    return found | {name: each for name, each in records.items() if name not in measures(records)}


def read(entry: PaneEntry) -> PaneEntry:
    """Read the records of an entry that was parsed; one of a measure that is unknown stays.

    Raises:
        ValidationError: A record is not of its measure.
    """
    for name, each, found in known(entry.measures):
        entry.measures[name] = each.record.model_validate(found.model_dump())
    return entry
