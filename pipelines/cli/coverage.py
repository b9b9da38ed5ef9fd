"""`evenflow coverage`: gaps where attributes meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command

if TYPE_CHECKING:
    from evenflow.pipelines.corpus.coverage import Records

# Keys with an option in all commands of `coverage`
COUNTED = ("coverage.attributes", "coverage.tau", "coverage.by")


@dataclass(frozen=True, kw_only=True)
class Counting(options.Settings):
    """What is counted, and what is asked of a pattern; the attributes are options.

    Attributes:
        depth: Most attributes that meet in a pattern.  [default: all]
        exact: Compare the share itself with tau, not the upper bound of its interval.
        missing: A missing value is: open (not known), value (one of its own), drop (no record).
        table: All attributes are columns, no text is read.
        html: Also write a page with the share of each combination of two attributes, and of a plan
            with what it gains.
    """

    depth: options.Count | None = None
    exact: bool = False
    missing: Literal["open", "value", "drop"] = "open"
    table: bool = False
    html: Path | None = None

    def records(self, inputs: list[str]) -> Records:
        """The records of files under the options. Raises MissingParameter, ConfigError."""
        from evenflow.pipelines.corpus.coverage import Records

        config = self.configuration()
        for name in ("attributes", "tau"):
            if getattr(config.coverage, name) is None:
                raise click.MissingParameter(param_hint=f"'--{name}'", param_type="option")
        return Records(inputs, config, self.missing, self.exact, self.table)

    def draw(self, parts: Mapping[str | None, Mapping[str, Any]], things: Sequence[str]) -> None:
        """Write the page, if one is asked for."""
        if self.html is not None:
            from evenflow.pipelines.pages.report.report import template

            page = template("coverage_page.html.j2").render(parts=parts, things=things)
            options.write(self.html, page.encode("utf-8"))


def shown(
    parts: Mapping[str | None, dict[str, Any]], table: Callable[..., None], *things: Any
) -> options.Shown:
    """Results by value of `by`, or the one result of all records, and what draws them."""
    result = parts[None] if list(parts) == [None] else parts
    return options.Shown(result, lambda _: table(parts, *things))


@command(COUNTED, "coverage")
def coverage_gaps(
    inputs: list[str],
    *,
    counting: Counting,
    most: options.Count | None = None,
    as_json: bool = False,
) -> options.Shown:
    """List the intersections of attributes that are too rare, worst first.

    Attributes are columns of a table (.csv, .parquet, .jsonl), or attributes that a text names:
    «old women» is an intersection of age and gender.

    Args:
        most: Most gaps that are listed.  [default: 20; JSON: all]

    Examples:
        evenflow coverage gaps people.csv --attributes sex,race,age --tau 0.5%
        evenflow coverage gaps corpus/ --attributes gender,age --tau 0.01
        evenflow coverage gaps a.parquet --attributes gender,site --tau 30 --json
    """
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.measures.coverage.gaps import grids

    records = counting.records(inputs)
    things = records.things
    parts = records.summaries(counting.depth, most or (None if as_json else 20))
    shares = {name: {"now": grids(each)} for name, each in records.parts.items()}
    counting.draw({name: {**each, "shares": shares[name]} for name, each in parts.items()}, things)
    return shown(parts, coverage_tables.gaps, things)
