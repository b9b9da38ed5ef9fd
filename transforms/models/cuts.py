"""What labelled exchanges show of the shipped reader: how often it is right, from a probability on.

The table stands in the reader's manifest, so that it is read without the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, NonNegativeInt

from evenflow.schemas.config.sections import Share
from evenflow.transforms import wilson
from evenflow.transforms.models import files

MANIFEST, FORMAT, VERSION = "reader.json", "evenflow-reader", 1  # of a reader
REVIEWED = {"format": "evenflow-stereotype-calibration", "version": 1}  # of a user's own review
EXCHANGE = "exchange_of_"  # before an attribute, in such a review
MOST_BYTES = 1 << 20


class Cut(NamedTuple):
    """What labelled exchanges show, from a probability on.

    `right`: Those of the `made` that are right by the standard; `document`: by document.
    """

    probability: float
    made: int
    right: int
    document: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the share that is right (Wilson, 95 %)."""
        return wilson.interval(self.right / self.made, self.made)

    @property
    def share(self) -> str:
        """The share that is right, its interval, and of how many."""
        low, high = self.interval
        return f"{self.right / self.made:.2f} [{low:.2f}, {high:.2f}] of {self.made}"


def cuts(
    attribute: str, standard: str = "document", about: Mapping[str, Any] | None = None
) -> list[Cut]:
    """What labelled exchanges show, from ever higher probabilities on.

    Args:
        attribute: The attribute. One without labelled data has the table of all, if the standard
            has one.
        about: The manifest of a reader; None: of the shipped one.

    Returns:
        The cuts that raise the lower bound; empty where there are too few labels.

    Raises:
        ModelError: The manifest is missing, damaged or of another model.
    """
    tables = (about or _about())["cuts"][standard]
    return [Cut(*each) for each in tables.get(attribute, tables.get("all", []))]


def cut(
    attribute: str,
    precision: float,
    standard: str = "document",
    about: Mapping[str, Any] | None = None,
) -> Cut | None:
    """The first of `cuts` whose lower bound is a precision or more; None: none is."""
    known = cuts(attribute, standard, about)
    return next((each for each in known if each.interval[0] >= precision), None)


class Reviewed(BaseModel):
    """A user's own review of a run's sentences, see `lab.word_lists.flagged.calibration`."""

    format: Literal["evenflow-stereotype-calibration"]
    version: Literal[1]
    called: dict[str, list[tuple[Share, NonNegativeInt, NonNegativeInt]]]
    bounds: dict[str, list[tuple[Share, Share, Share, Share]]] = {}


def reviewed(path: Path, key: str = "stereotypes.remove_from") -> Reviewed:
    """The figures of a review of the user's own corpus.

    Args:
        key: The key of the configuration that names the file.

    Raises:
        ModelError: It is no such file.
    """
    try:
        with path.open("rb") as file:
            found = Reviewed.model_validate_json(file.read(MOST_BYTES))
        if any(right > read for steps in found.called.values() for _, read, right in steps):
            raise ValueError("more are right than were read")
        return found
    except OSError as error:
        raise files.ModelError(f"{key}: {path}: {error.strerror or error}") from error
    except ValueError as error:
        what = "no calibration by `evenflow words review`"
        raise files.ModelError(f"{key}: {path}: {what} ({' '.join(f'{error}'.split())})") from error


def is_labelled(attribute: str, standard: str) -> bool:
    """Whether an attribute has labelled data of its own."""
    return attribute in _about()["cuts"][standard]


@cache
def _about() -> dict[str, Any]:
    """The manifest of the shipped reader."""
    return files.about(files.SHIPPED / MANIFEST, FORMAT, VERSION)
