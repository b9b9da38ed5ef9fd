"""Options that the commands of `evenflow coverage` share, and how their results are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.keys import DATA, PATTERNS
from evenflow.pipelines.terminal.endings import printing

if TYPE_CHECKING:
    from evenflow.schemas.config import Config
    from evenflow.transforms.measures.coverage.knowledge import Knowledge
    from evenflow.transforms.measures.coverage.mups import Coverage
    from evenflow.transforms.measures.coverage.table import Table

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
        typer.Option(
            min=1,
            metavar="N",
            help="Most attributes that meet in a pattern.  [default: all]",
            rich_help_panel=PATTERNS,
        ),
    ] = None
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Compare the share itself with tau, not the upper bound of its interval.",
            rich_help_panel=PATTERNS,
        ),
    ] = False
    missing: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="A missing value is: open (not known), value (one of its own), drop (no record).",
            rich_help_panel=PATTERNS,
        ),
    ] = "open"
    table: Annotated[
        bool,
        typer.Option(
            "--table", help="All attributes are columns, no text is read.", rich_help_panel=DATA
        ),
    ] = False
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="NAME=PATH",
            help="A property's name here, such as gender=P21 or ancestry=P27/P30; repeatable.",
            rich_help_panel=DATA,
        ),
    ] = None

    def settings(self, more: Mapping[str, object] | None = None) -> Config:
        """The configuration under the options, and further values by dotted key.

        Raises:
            ConfigError: The configuration is wrong.
            WordListError: A word list is wrong.
        """
        return self.configuration({"coverage.properties": self._properties(), **(more or {})})

    @cached_property
    def resolved(self) -> Config:
        """The configuration under the options. Raises as `settings`."""
        return self.settings()

    def knowledge(self, config: Config) -> Knowledge | None:
        """The knowledge base; its contradictions are said on the standard error stream.

        Args:
            config: What `settings` returned.

        Raises:
            InputError: It cannot be read.
        """
        from evenflow.pipelines.terminal.lines import visible
        from evenflow.transforms.measures.coverage import lookup

        settings = config.coverage
        known = lookup.knowledge(settings)
        if known is not None:
            asked = lookup.asked(settings, known)
            lookup.tell(known, asked, lambda line: print(visible(line), file=sys.stderr))
        return known

    def _properties(self) -> dict[str, str] | None:
        """The properties' names and paths; None: none is given."""
        pairs = [each.partition("=") for each in self.properties or ()]
        if bad := [name for name, _, path in pairs if not name or not path]:
            raise typer.BadParameter(f"{bad[0]!r}: NAME=PATH expected", param_hint="'--property'")
        return {name: path for name, _, path in pairs} or None

    def parts(self, inputs: list[str]) -> dict[str | None, Coverage]:
        """Count the records of files, and find their gaps.

        Args:
            inputs: Paths, folders or globs.

        Returns:
            The coverage of all records, under None, or of those of each value of `by`.

        Raises:
            InputError: A file cannot be read as what it should be.
            ConfigError: An option cannot be used.
            WordListError: A word list cannot be used.
        """
        from evenflow.schemas.threshold import Threshold
        from evenflow.transforms.measures.coverage.mups import Coverage

        if self.missing not in ("open", "value", "drop"):
            raise typer.BadParameter(
                f"{self.missing!r} is none of open, value and drop", param_hint="'--missing'"
            )
        config = self.resolved
        whole = self._table(inputs, config)
        confidence = None if self.exact else config.gate.confidence
        threshold = Threshold.parse(str(config.coverage.tau))
        by = config.coverage.by
        parts = {None: whole} if by is None else whole.split(by)
        return {name: Coverage(each, threshold, confidence) for name, each in parts.items()}

    def _table(self, inputs: list[str], config: Config) -> Table:
        """The records of files."""
        from evenflow.pipelines.engine.files.measure import measure
        from evenflow.schemas.documents import Figures
        from evenflow.transforms.io.files import InputError
        from evenflow.transforms.io.first_records import FieldError
        from evenflow.transforms.measures.coverage import columns
        from evenflow.transforms.measures.coverage.named import Meetings

        known = self.knowledge(config)
        if not self.of_text(inputs, config):
            missing: Any = self.missing
            return columns.read(inputs, config.coverage.named(), missing, known)
        total = Figures()
        try:
            for figures in measure(inputs, config):
                total.add(figures)
        except FieldError as error:
            raise InputError(f"{error}; if the attributes are columns, say --table") from None
        if not total.documents and total.dead_reasons:
            raise InputError(
                f"no document could be read ({', '.join(total.dead_reasons)}); if the attributes"
                " are columns, say --table"
            )
        return Meetings(config.coverage, config.word_lists()).table(total.measures["coverage"])

    def of_text(self, inputs: list[str], config: Config) -> bool:
        """Whether some attribute is named in a text."""
        from evenflow.transforms.measures.coverage.columns import CSV
        from evenflow.transforms.measures.coverage.lookup import is_of_text

        is_table = self.table or any(each.endswith(CSV) for each in inputs)
        return not is_table and any(
            name in config.attributes or is_of_text(name, config.coverage)
            for name in config.coverage.named()
        )

    def summaries(self, inputs: list[str], most: int | None) -> dict[str | None, dict[str, Any]]:
        """The gaps of files (`coverage.gaps.summary`), by value of `by`, or under None.

        Args:
            inputs: Paths, folders or globs.
            most: Most gaps that are listed; None: all.
        """
        from evenflow.transforms.measures.coverage.gaps import summary

        confidence = self.resolved.gate.confidence
        return {
            name: summary(each, confidence, self.depth, most)
            for name, each in self.parts(inputs).items()
        }

    def things(self, inputs: list[str]) -> tuple[str, str]:
        """What a record is called, one and several."""
        config = self.resolved
        if not self.of_text(inputs, config):
            return "record", "records"
        return config.coverage.unit, f"{config.coverage.unit}s"


def print_parts(
    parts: Mapping[str | None, dict[str, Any]], as_json: bool, table: Callable[[], None]
) -> None:
    """Print results by value of `by`, or the one result of all records, as JSON or as a table."""
    with printing():
        if as_json:
            whole = parts[None] if list(parts) == [None] else parts
            print(json.dumps(whole, indent=1, ensure_ascii=False))
        else:
            table()
