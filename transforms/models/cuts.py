"""What labelled exchanges show of the shipped reader: how often it is right, from a probability on.

The table stands in the reader's manifest, so that it is read without the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from evenflow.transforms import wilson
from evenflow.transforms.models import files

MANIFEST, FORMAT, VERSION = "reader.json", "evenflow-reader", 1  # of a reader


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


def is_labelled(attribute: str, standard: str) -> bool:
    """Whether an attribute has labelled data of its own."""
    return attribute in _about()["cuts"][standard]


@cache
def _about() -> dict[str, Any]:
    """The manifest of the shipped reader."""
    return files.about(files.SHIPPED / MANIFEST, FORMAT, VERSION)
