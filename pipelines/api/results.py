"""What the functions of the Python API return: figures with a readable form.

Each is also the dictionary that it was (`result["documents"]`); `to_dict` returns that alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self, cast

from evenflow.schemas.words import counted

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
SHOWN = ("dr", "low", "high", "mentions", "counts")  # of an attribute, in the table


class Result(dict[str, Any]):
    """The base of results. Keys are those that a command prints with --json."""

    @classmethod
    def of(cls, figures: Mapping[str, Any]) -> Self:
        """Make a result of what a command prints with --json."""
        made = cls(*(figures[each.name] for each in fields(cast(Any, cls))))
        made.update(figures)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as the command prints it with --json."""
        return dict(self)

    def title(self) -> str:
        """Say in a line what this is."""
        raise NotImplementedError

    def rows(self) -> list[Row]:
        """Return the rows of the table."""
        raise NotImplementedError

    def frame(self) -> pd.DataFrame:
        """Return the table as a pandas frame."""
        import pandas as pd  # an import of half a second, for those who ask for a frame

        return pd.DataFrame(self.rows())

    def __repr__(self) -> str:
        rows = [{key: _cell(value) for key, value in row.items()} for row in self.rows()]
        if not rows:
            return self.title()
        widths = {key: max(len(key), *(len(row[key]) for row in rows)) for key in rows[0]}
        lines = ["  ".join(key.ljust(width) for key, width in widths.items())]
        lines += ["  ".join(row[key].ljust(widths[key]) for key in widths) for row in rows]
        return "\n".join([self.title(), *(line.rstrip() for line in lines)])


def _cell(value: Any) -> str:
    """A value in a table."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(each)}" for key, each in value.items())
    return " ".join(str(value).split())


@dataclass(repr=False, eq=False)
class Measurement(Result):
    """What `measure` returns.

    Attributes:
        dead_letters: Number of records that are no documents.
        attributes: Score, counts, shares, target and convergence, by attribute.
    """

    documents: int
    dead_letters: int
    attributes: dict[str, dict[str, Any]]

    def title(self) -> str:
        """Say how much was measured."""
        dead = f", {counted(self.dead_letters, 'dead letter')}" if self.dead_letters else ""
        return f"{counted(self.documents, 'document')}{dead}"

    def rows(self) -> list[Row]:
        """Return a row for each attribute."""
        return [
            {"attribute": name, **{key: each[key] for key in SHOWN}}
            for name, each in self.attributes.items()
        ]


@dataclass(repr=False, eq=False)
class Explanation(Result):
    """What `explain` returns."""

    text: str
    sentences: list[dict[str, Any]]

    def title(self) -> str:
        """Say how many sentences there are."""
        named = sum(bool(row["labels"]) for row in self.sentences)
        return f"{counted(len(self.sentences), 'sentence')}, {named:,} with a label"

    def rows(self) -> list[Row]:
        """Return a row for each sentence."""
        return [
            {
                "sentence": row["sent_text"],
                "labels": ", ".join(
                    f"{row['sent_text'][each['start'] - row['start'] : each['end'] - row['start']]}"
                    f" ({each['group']})"
                    for each in row["labels"]
                ),
            }
            for row in self.sentences
        ]


@dataclass(repr=False, eq=False)
class Outcome(Result):
    """What `Gate.run` returns.

    Attributes:
        state: not_judged, open, warn or block.
        accepted: Number of those that were accepted.
        quarantined: Number of those that were not.
        dead_letters: Number of records that are no documents.
        attributes: Verdict and scores, by attribute.
    """

    state: str
    reason: str
    panes: int
    documents: int
    accepted: int
    quarantined: int
    dead_letters: int
    attributes: dict[str, dict[str, Any]]
    output: str
    report: str

    def title(self) -> str:
        """Say how the run ended."""
        train = self["train"]
        return (
            f"{train['said']} ({train['why']}): {counted(self.panes, 'pane')},"
            f" {self.accepted:,} of {counted(self.documents, 'document')} accepted,"
            f" report {self.report}"
        )

    def rows(self) -> list[Row]:
        """Return a row for each attribute."""
        return [
            {
                "attribute": name,
                "state": each["verdict"]["state"],
                "rolling_dr": each["rolling"]["dr"],
                "low": each["rolling"]["low"],
                "high": each["rolling"]["high"],
                "cumulative_dr": each["cumulative"]["dr"],
                "mentions": each["cumulative"]["mentions"],
            }
            for name, each in self.attributes.items()
        ]
