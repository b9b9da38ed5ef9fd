"""How often the shipped probabilities were right on labelled sentences, by attribute."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evenflow.schemas.config import Config
from evenflow.schemas.config.stereotypes import Action, StereotypeSettings
from evenflow.schemas.plugins import DETECTORS, PluginError, load
from evenflow.transforms.measures.stereotypes.masking import unlisted
from evenflow.transforms.models import cuts as cuts_of
from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError

PATH = Path(__file__).with_name("calibration.json")
# Probability from which a sentence counts as a potential stereotype. It is recorded, and its
# indicators are computed. On documents that are neither learnt from nor reported, the mean of
# precision and recall (F1) is best here.
THRESHOLD = 0.3
UNSURE = (0.2, 0.8)  # between these a language model is worth asking
# Labelled sentences that the detector called stereotypes, without which no precision is known
LEAST_READ = 20
# Strength from which a drawn sentence counts as flagged: the default of stereotypes.threshold
STRONG_FROM = StereotypeSettings().threshold
# Attribute → steps: a probability, how many sentences have it or a higher one, how many of these
# are stereotypes
Called = dict[str, list[tuple[float, int, int]]]


@dataclass(frozen=True)
class Calibration:
    """Figures from labelled sentences that no model learnt from.

    `tests/benchmarks/stereotype_calibration.py` writes them.
    """

    cleared: float
    weights: dict[str, float]
    called: Called
    scale: tuple[float, float] = (1.0, 0.0)
    creeds: Called = field(default_factory=dict[str, Any])

    @classmethod
    def load(cls, path: Path = PATH) -> Calibration:
        """Reads a calibration."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            called, creeds = _called(stored["called"]), _called(stored.get("creeds", {}))
            weights = {name: float(value) for name, value in stored["weights"].items()}
            slope, shift = stored.get("scale", (1.0, 0.0))
            scale = float(slope), float(shift)
            return cls(float(stored["cleared"]), weights, called, scale, creeds)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{path}: not a calibration of stereotypes ({error}); {files.REBUILD}"
            ) from error


def _called(stored: Any) -> Called:
    """Steps by attribute, as they are stored."""
    return {
        attribute: sorted((float(p), int(n), int(right)) for p, n, right in steps)
        for attribute, steps in stored.items()
    }


@cache
def shipped() -> Calibration:
    """The calibration of the shipped models."""
    return Calibration.load()


def of(config: Config) -> Calibration:
    """The figures of a configuration's detector.

    Those of the user's own review take the place of an attribute's.

    A plug-in may bring its own as `called` (see `Calibration`): those of sentences that it has not
    learnt from. Without them only `stereotypes.remove_from` removes.

    Raises:
        ModelError: The shipped calibration, or that of a review, is missing or damaged.
        PluginError: A plug-in, or its figures, cannot be used.
    """
    known, least = _of_detector(config), config.stereotypes.remove_from
    if not isinstance(least, str):
        return known
    return replace(known, called=known.called | _called(cuts_of.reviewed(Path(least)).called))


def _of_detector(config: Config) -> Calibration:
    """The figures that a detector comes with."""
    if config.stereotypes.detector is None:
        return shipped()
    plugin = load(DETECTORS, config.stereotypes.detector)
    try:
        return Calibration(0.0, {}, _called(getattr(plugin.part, "called", {})))
    except (ValueError, TypeError, AttributeError) as error:
        raise PluginError(f"{plugin}: called: steps by attribute were expected") from error


Acting = Literal["flag", "remove", "quarantine"]  # every action but off


class Cut(NamedTuple):
    """Where removal begins, and how often labelled sentences from there on were right.

    `probability`: None: nothing is removed. `read`: Labelled sentences from there on, or from the
    lowest probability that has figures where nothing is removed.
    """

    probability: float | None
    read: int = 0
    right: int = 0


def cut(
    settings: StereotypeSettings,
    attribute: str,
    known: Calibration | None = None,
    of_creed: bool = False,
) -> Cut:
    """The probability from which a stereotype of an attribute's groups is removed.

    It is `remove_from` if that is a number. Else it is the lowest one at and above which the share
    of right sentences is `target_precision` or more. That needs LEAST_READ sentences of the
    attribute.

    Args:
        settings: The user's cut.
        known: Figures from labelled sentences; by default those of the shipped models.
        of_creed: Whether the sentence is about a creed alone, and about no people.

    Raises:
        ModelError: The shipped calibration is missing or damaged.
    """
    figures = known or shipped()
    steps = (figures.creeds if of_creed else figures.called).get(attribute, [])
    least = settings.remove_from
    if isinstance(least, float):
        below = [step for step in steps if step[0] <= least][-1:]
        return Cut(least, *(each for step in below for each in step[1:]))
    for probability, read, right in steps:
        if steps[0][1] >= LEAST_READ and read and right >= settings.target_precision * read:
            return Cut(probability, read, right)
    return Cut(None, *(each for step in steps[:1] for each in step[1:]))


def actions(config: Config) -> dict[str, Acting]:
    """What is done about stereotypes, by attribute, where something is.

    Groups that no word list has follow `stereotypes.action`.
    """
    found: dict[str, Action] = {name: config.action(name) for name in config.attributes}
    others = (words.attribute for words in unlisted(config.attributes))
    found |= dict.fromkeys(others, config.stereotypes.action)
    return {name: action for name, action in found.items() if action != "off"}


def cuts(config: Config, known: Calibration | None = None) -> dict[str, Cut]:
    """The cuts of the attributes whose stereotypes are removed, or set their documents aside."""
    figures = known or of(config)
    return {
        name: cut(config.stereotypes, name, figures)
        for name, action in actions(config).items()
        if action != "flag"
    }


def removed(config: Config) -> dict[str, tuple[float, float]]:
    """The least strength and probability of a stereotype that is removed, by attribute."""
    return {
        name: (config.stereotype_threshold(name), at.probability)
        for name, at in cuts(config).items()
        if name in config.attributes and at.probability is not None
    }


def acting(config: Config) -> frozenset[str]:
    """The attributes of which something is removed or set aside; empty: all are flagged."""
    return frozenset(name for name, at in cuts(config).items() if at.probability is not None)
