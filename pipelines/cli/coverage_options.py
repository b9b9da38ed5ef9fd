"""Options that the commands of `evenflow coverage` share, and how their results are printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import flag, one_of, option
from evenflow.pipelines.cli.keys import DATA, PATTERNS
from evenflow.pipelines.terminal.endings import show

if TYPE_CHECKING:
    from evenflow.pipelines.engine.files.coverage import Records
    from evenflow.schemas.config import Config

PLAN = "Plan"
# Keys with an option in all commands of `coverage`
COUNTED = (
    *("coverage.attributes", "coverage.tau", "coverage.by", "coverage.unit"),
    *("coverage.entities", "fields.text"),
)


@dataclass(frozen=True, kw_only=True)
class Counting(options.Lists):
    """What is counted, and what is asked of a pattern; the attributes are options."""

    depth: Annotated[
        int | None,
        option(
            "N", "Most attributes that meet in a pattern.  [default: all]", panel=PATTERNS, min=1
        ),
    ] = None
    exact: Annotated[
        bool,
        flag(
            "Compare the share itself with tau, not the upper bound of its interval.",
            panel=PATTERNS,
        ),
    ] = False
    missing: Annotated[
        str,
        option(
            "WHAT",
            "A missing value is: open (not known), value (one of its own), drop (no record).",
            panel=PATTERNS,
        ),
    ] = "open"
    table: Annotated[bool, flag("All attributes are columns, no text is read.", panel=DATA)] = False
    properties: Annotated[
        list[str] | None,
        option(
            "NAME=PATH",
            "A property's name here, such as gender=P21 or ancestry=P27/P30; repeatable.",
            "--property",
            panel=DATA,
        ),
    ] = None

    def settings(self, more: Mapping[str, object] | None = None) -> Config:
        """The configuration under the options, and further values by dotted key.

        Raises:
            ConfigError: The configuration is wrong.
            WordListError: A word list is wrong.
        """
        return self.configuration({"coverage.properties": self._properties(), **(more or {})})

    def _properties(self) -> dict[str, str] | None:
        """The properties' names and paths; None: none is given."""
        pairs = [each.partition("=") for each in self.properties or ()]
        if bad := [name for name, _, path in pairs if not name or not path]:
            raise typer.BadParameter(f"{bad[0]!r}: NAME=PATH expected", param_hint="'--property'")
        return {name: path for name, _, path in pairs} or None

    def records(self, inputs: list[str]) -> Records:
        """The records of files under the options. Raises ConfigError, WordListError."""
        from evenflow.pipelines.engine.files.coverage import MISSING, Records

        one_of(self.missing, MISSING, "--missing")
        return Records(inputs, self.settings(), self.missing, self.exact, self.table)


def print_parts(
    parts: Mapping[str | None, dict[str, Any]], as_json: bool, table: Callable[[], None]
) -> None:
    """Print results by value of `by`, or the one result of all records, as JSON or as a table."""
    show(parts[None] if list(parts) == [None] else parts, as_json, lambda _: table())
