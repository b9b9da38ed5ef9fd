"""How often the shipped probabilities were right on labelled sentences.

The figures are kept by attribute and kind of text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.plugins import DETECTORS, PluginError, load
from evenflow.transforms import wilson
from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError

PATH = Path(__file__).with_name("calibration.json")
# Probability from which a sentence counts as a potential stereotype. It is recorded, and its
# indicators are computed. On documents that are neither learnt from nor reported, the mean of
# precision and recall (F1) is best here.
THRESHOLD = 0.3
UNSURE = (0.2, 0.8)  # between these a language model is worth asking
# Labelled sentences that the detector must have called stereotypes before the share of right ones
# means anything: in all, and of a kind of text that is checked by itself.
LEAST_CALLED, LEAST_OF_KIND = 20, 10
# Nothing is removed where the precision may be lower than this (bound of 95 %; Wilson, 1927)
LOWER = 0.7
POSTS, OTHER = "posts", "other"  # kinds of text: posts of a forum, and everything else
# Attribute → kind of text → steps; see `Calibration`
Called = dict[str, dict[str, list[tuple[float, int, int]]]]


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
        except OSError as error:
            raise ModelError(
                f"{path}: cannot be read ({error.strerror or error}); {files.REBUILD}"
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{path}: not a calibration of stereotypes ({error}); {files.REBUILD}"
            ) from error


def _called(stored: Any) -> Called:
    """Steps by attribute and kind of text, as they are stored."""
    return {
        attribute: {
            kind: [(float(p), int(n), int(right)) for p, n, right in steps]
            for kind, steps in kinds.items()
        }
        for attribute, kinds in stored.items()
    }


@cache
def shipped() -> Calibration:
    """The calibration of the shipped models."""
    return Calibration.load()


def of(config: Config) -> Calibration:
    """The figures of a configuration's detector.

    A plug-in may bring its own as `called` (see `Calibration`): those of sentences that it has not
    learnt from. Without them nothing is removed.

    Raises:
        ModelError: The shipped calibration is missing or damaged.
        PluginError: A plug-in, or its figures, cannot be used.
    """
    if config.stereotypes.detector is None:
        return shipped()
    plugin = load(DETECTORS, config.stereotypes.detector)
    try:
        return Calibration(0.0, {}, _called(getattr(plugin.part, "called", {})))
    except (ValueError, TypeError, AttributeError) as error:
        raise PluginError(
            f"{plugin}: called: steps by attribute and kind of text were expected"
        ) from error


def cut(
    attribute: str,
    precision: float,
    known: Calibration | None = None,
    kind: str | None = None,
    of_creed: bool = False,
) -> float | None:
    """The probability from which a stereotype of an attribute's groups may be removed.

    Args:
        precision: Share (0 to 1) of the removed sentences that should be stereotypes.
        known: Figures from labelled sentences; by default those of the shipped models.
        kind: The kind of text, POSTS or OTHER; None: unknown, so that all kinds count.
        of_creed: Whether the sentence is about a creed alone, and about no people.

    Returns:
        The lowest probability at and above which the share was reached, and is surely LOWER or
        more, over the kind of text; or over all kinds together, and over each with LEAST_OF_KIND
        calls or more.
        None if there is none, or if fewer than LEAST_CALLED sentences were called; stereotypes of
        the attribute are then only flagged.

    Raises:
        ModelError: The shipped calibration is missing or damaged.
    """
    figures = known or shipped()
    kinds = (figures.creeds if of_creed else figures.called).get(attribute, {})
    if kind is not None:
        kinds = {kind: kinds.get(kind, [])}
    for probability in sorted({step[0] for steps in kinds.values() for step in steps}):
        at = [(n, right) for steps in kinds.values() for p, n, right in steps if p == probability]
        called, right = sum(n for n, _ in at), sum(right for _, right in at)
        enough = [(called, right), *(one for one in at if one[0] >= LEAST_OF_KIND)]
        if called >= LEAST_CALLED and all(
            own >= precision * n and wilson.interval(own / n, n)[0] >= LOWER for n, own in enough
        ):
            return probability
    return None
