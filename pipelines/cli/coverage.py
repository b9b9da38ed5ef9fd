"""`evenflow coverage`: gaps where attributes meet, and what would fill them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import examples, with_groups
from evenflow.pipelines.terminal.endings import printing

if TYPE_CHECKING:
    from evenflow.schemas.config import Config
    from evenflow.transforms.coverage.additions import Needs
    from evenflow.transforms.coverage.knowledge import Knowledge
    from evenflow.transforms.coverage.mups import Coverage
    from evenflow.transforms.coverage.table import Table

GAPS = "gaps"  # the command that `evenflow coverage INPUT…` stands for
HELP = """Meetings of attributes that are too rare, and a plan that fills the gaps.

`evenflow coverage INPUT…` stands for `evenflow coverage gaps INPUT…`.
"""
EXAMPLES = examples(
    "evenflow coverage gaps people.csv --attributes sex,race,age --tau 0.5%",
    "evenflow coverage gaps corpus/ --attributes gender,age --tau 0.01",
    "evenflow coverage gaps a.parquet --attributes gender,site --tau 30 --json",
)

PLAN_EXAMPLES = examples(
    "evenflow coverage plan people.csv --attributes sex,race --tau 2%",
    "evenflow coverage plan a.csv --attributes a,b --tau 5% --balance a:b=0.1",
    "evenflow coverage plan b/ --attributes gender,age --tau 30 --exchange gender",
)
GENERATE_EXAMPLES = examples(
    "evenflow coverage plan c/ --attributes gender --tau 30 --json > p.json",
    "evenflow coverage generate c/ --attributes gender --tau 30"
    " \\\n      --plan p.json --out a.jsonl",
)
DATA, PATTERNS, PLAN, CHECKS = options.DATA, "Patterns", "Plan", "Checks"


@dataclass(frozen=True, kw_only=True)
class Counting(options.Lists):
    """What is counted, and what is asked of a pattern; the attributes are options."""

    attributes: Annotated[
        str, typer.Option(metavar="A,B,…", help="Columns, or attributes that a text names.")
    ]
    tau: Annotated[
        str,
        typer.Option(
            metavar="T", help="Least coverage: a share (0.01 or 1%) or a number of records (30)."
        ),
    ]
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Most attributes that meet in a pattern.  [default: all]",
            rich_help_panel=PATTERNS,
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Look at each value of this attribute on its own, such as a relation.",
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
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT",
            help="A record of a text: sentence, referent or document.  [default: sentence]",
            rich_help_panel=PATTERNS,
        ),
    ] = None
    table: Annotated[
        bool,
        typer.Option(
            "--table", help="All attributes are columns, no text is read.", rich_help_panel=DATA
        ),
    ] = False
    entities: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Knowledge base (CSV, Wikidata's JSON lines); COLUMN.PROPERTY is looked up in it.",
            rich_help_panel=DATA,
        ),
    ] = None
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="NAME=PATH",
            help="A property's name here, such as gender=P21 or ancestry=P27/P30; repeatable.",
            rich_help_panel=DATA,
        ),
    ] = None
    text_field: options.TextFieldOption = None

    def settings(self, more: Mapping[str, object] | None = None) -> Config:
        """The configuration under the options, and further values by dotted key.

        Raises:
            ConfigError: The configuration is wrong.
            WordListError: A word list is wrong.
        """
        overrides = {
            "coverage.tau": self.tau,
            "coverage.attributes": [
                name.strip() for name in self.attributes.split(",") if name.strip()
            ],
            "coverage.by": self.by,
            "coverage.unit": self.unit,
            "coverage.entities": None if self.entities is None else str(self.entities),
            "coverage.properties": self._properties(),
            "fields.text": self.text_field,
            **(more or {}),
        }
        return self.configuration(overrides)

    def knowledge(self, config: Config) -> Knowledge | None:
        """The knowledge base; its contradictions are said on the standard error stream.

        Args:
            config: What `settings` returned.

        Raises:
            InputError: It cannot be read.
        """
        from evenflow.pipelines.terminal.lines import visible
        from evenflow.transforms.coverage import lookup

        settings = config.coverage
        known = lookup.knowledge(settings)
        if known is not None:
            asked = {name.rpartition(".")[2] for name in settings.named() if "." in name}
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
        from evenflow.transforms.coverage.mups import Coverage

        if self.missing not in ("open", "value", "drop"):
            raise typer.BadParameter(
                f"{self.missing!r} is none of open, value and drop", param_hint="'--missing'"
            )
        config = self.settings()
        whole = self._table(inputs, config)
        confidence = None if self.exact else config.gate.confidence
        threshold = Threshold.parse(self.tau)
        by = config.coverage.by
        parts = {None: whole} if by is None else whole.split(by)
        return {name: Coverage(each, threshold, confidence) for name, each in parts.items()}

    def _table(self, inputs: list[str], config: Config) -> Table:
        """The records of files."""
        from evenflow.pipelines.files.measure import measure
        from evenflow.schemas.documents import Figures
        from evenflow.transforms.coverage import columns
        from evenflow.transforms.coverage.named import Meetings
        from evenflow.transforms.io.files import InputError

        known = self.knowledge(config)
        if not self._of_text(inputs, config):
            missing: Any = self.missing
            return columns.read(inputs, config.coverage.named(), missing, known)
        total = Figures()
        for figures in measure(inputs, config):
            total.add(figures)
        if not total.documents and total.dead_reasons:
            raise InputError(
                f"no document could be read ({', '.join(total.dead_reasons)}); if the attributes"
                " are columns, say --table"
            )
        return Meetings(config.coverage, config.word_lists()).table(total.coverage)

    def _of_text(self, inputs: list[str], config: Config) -> bool:
        """Whether some attribute is named in a text."""
        from evenflow.transforms.coverage.columns import CSV
        from evenflow.transforms.coverage.lookup import is_of_text

        is_table = self.table or any(each.endswith(CSV) for each in inputs)
        return not is_table and any(
            name in config.attributes or is_of_text(name, config.coverage)
            for name in config.coverage.named()
        )

    def summaries(self, inputs: list[str], most: int | None) -> dict[str | None, dict[str, Any]]:
        """The gaps of files (`transforms.coverage.gaps.summary`), by value of `by`, or under None.

        Args:
            inputs: Paths, folders or globs.
            most: Most gaps that are listed; None: all.
        """
        from evenflow.transforms.coverage.gaps import summary

        confidence = self.settings().gate.confidence
        return {
            name: summary(each, confidence, self.depth, most)
            for name, each in self.parts(inputs).items()
        }

    def needs(self, inputs: list[str]) -> Needs:
        """What a record has a value of, so that `generate` can write it.

        A text names a group, and its fields are known. A triple has a relation or entities.
        """
        from evenflow.transforms.coverage.additions import Needs
        from evenflow.transforms.coverage.lookup import is_of_text
        from evenflow.transforms.generation.items import is_of_triple

        config = self.settings()
        names = config.coverage.named()
        if not self._of_text(inputs, config):
            return Needs(one=list(filter(is_of_triple, names)) or names)
        groups = [name for name in names if name in config.attributes]
        others = [name for name in names if name not in groups]
        return Needs([each for each in others if not is_of_text(each, config.coverage)], groups)

    def things(self, inputs: list[str]) -> tuple[str, str]:
        """What a record is called, one and several."""
        config = self.settings()
        if not self._of_text(inputs, config):
            return "record", "records"
        return config.coverage.unit, f"{config.coverage.unit}s"


class CoverageGroup(TyperGroup):
    """Commands of which one needs no name: what is no command is its first argument."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the usual command before arguments without one."""
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [GAPS, *args]
        return super().parse_args(ctx, args)


@with_groups
def gaps(
    inputs: options.InputsArgument,
    *,
    counting: Counting,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the gaps as an HTML page.")
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Most gaps that are listed.  [default: 20; JSON: all]"
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the meetings of attributes that are too rare, the largest gap first.

    Attributes are columns of a table (.csv, .parquet, .jsonl), or attributes that a text names:
    «old women» is a meeting of age and gender.
    """
    from evenflow.pipelines.terminal import coverage_tables

    parts = counting.summaries(inputs, most or (None if as_json else 20))
    things = counting.things(inputs)
    if page is not None:
        from evenflow.pipelines.report.coverage import page as drawn

        page.write_text(drawn(parts, things), encoding="utf-8")
    _print(parts, as_json, lambda: coverage_tables.gaps(parts, things))
    if page is not None:
        print(f"page: {page}", file=sys.stderr)


@with_groups
def plan(
    inputs: options.InputsArgument,
    *,
    counting: Counting,
    worst: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Fill only the largest gaps.  [default: all]",
            rich_help_panel=PLAN,
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=C",
            help="Cost of a record: synthetic, augmented, substituted, reweighted; repeatable.",
            rich_help_panel=PLAN,
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=N", help="Most records of a kind; repeatable.", rich_help_panel=PLAN
        ),
    ] = None,
    exchange: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="Attributes that can be exchanged in a record; such changes are then planned too.",
            rich_help_panel=PLAN,
        ),
    ] = "",
    balance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A:B=E",
            help="Shares of A's groups within E of even ones in each value of B; repeatable.",
            rich_help_panel=PLAN,
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Plan the fewest additions that fill the gaps, and say them in words.

    What is exchanged or copied costs half of what is generated, unless --cost says otherwise.
    """
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.coverage.planned import Wishes, planned

    things, needs = counting.things(inputs), counting.needs(inputs)
    wishes = Wishes.parse(cost or (), limit or (), exchange, balance or (), worst)
    parts = {
        name: planned(each, counting.depth, wishes, things, needs)
        for name, each in counting.parts(inputs).items()
    }
    _print(parts, as_json, lambda: coverage_tables.plans(parts, things))


@with_groups
def generate(
    inputs: options.InputsArgument,
    *,
    counting: Counting,
    llm: options.LlmOptions,
    plan_file: Annotated[
        Path,
        typer.Option("--plan", metavar="FILE", help="What `evenflow coverage plan --json` wrote."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="JSON lines of the new records.")],
    tries: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="X",
            help="Most candidates for each record.  [default: 5 of a language model, else 100]",
            rich_help_panel=PLAN,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Draws the order.", rich_help_panel=PLAN)
    ] = 0,
    describe: Annotated[
        bool,
        typer.Option(
            "--describe",
            help="Templates make “citizens” “female citizens” too; that may be false.",
            rich_help_panel=PLAN,
        ),
    ] = False,
    perplexity_model: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Causal model; a text's perplexity must be within 95 % of the input's sentences.",
            rich_help_panel=CHECKS,
        ),
    ] = None,
    bias_reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What `evenflow bias-score reference` wrote; a text's score must not be above it.",
            rich_help_panel=CHECKS,
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write the records of a plan, and check each of them.

    Without a language model, sentences of the input get other names and labels.
    """
    from evenflow.pipelines.cli.llm import configured
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.generation import writing

    try:
        plans = json.loads(plan_file.read_bytes())
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{plan_file}: {error}", param_hint="'--plan'") from error
    with configured(llm) as given:
        if bias_reference is not None:
            given["bias_score.reference"] = str(bias_reference.absolute())
            given["bias_score.mode"] = "measure"
        config = counting.settings(given)
        by, known = config.coverage.by, counting.knowledge(config)
        parts = plans if by is not None else {None: plans}
        session = writing.Session(
            inputs, config, config.coverage.named(), known, seed, perplexity_model, describe
        )
        results = {
            name: session.write(each, tries, {} if name is None else {str(by): name})
            for name, each in parts.items()
        }
    with out.open("wb") as file:
        for each in results.values():
            file.writelines(writing.lines(each))
    told = {name: writing.told(each) for name, each in results.items()}
    _print(told, as_json, lambda: coverage_tables.generated(told))


def _print(
    parts: Mapping[str | None, dict[str, Any]], as_json: bool, table: Callable[[], None]
) -> None:
    """Print results by value of `by`, or the one result of all records, as JSON or as a table."""
    with printing():
        if as_json:
            whole = parts[None] if list(parts) == [None] else parts
            print(json.dumps(whole, indent=1, ensure_ascii=False))
        else:
            table()
