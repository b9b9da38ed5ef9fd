"""Builds report.json and report.html from the ledger, and from gate/timings.jsonl for speed.

The page is one file that needs no network.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from evenflow.gates import hold, sheet, triggers
from evenflow.gates.ledger import spans
from evenflow.gates.ledger.files import canonical, read_meta
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.spans import Span
from evenflow.pipelines.pages.report import charts, text, timings, view, words
from evenflow.pipelines.pages.report.diff import diff
from evenflow.pipelines.pages.report.figures import configuration, figures
from evenflow.pipelines.pages.report.why import why
from evenflow.pipelines.terminal.summaries import opening
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import STATES
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, Storage, at

MOST_ROWS = 40  # of a table that reads as text; the rest is in report.json
# Most panes that are drawn and listed one by one, since reading an entry takes 2 ms. More panes are
# merged by the hour
MOST_SINGLE = 2000
MOST_PANES = 100  # rows of the tables of panes and shards: the page stays light, the ledger has all
MOST_TRIGGERS = 20  # rows of the table of actions, the last ones
MOST_FILES = 4  # links a reason of dead letters
RATE_WINDOW = 5  # panes that a rate is averaged over
# A page has no script, loads nothing, and no style but its own
POLICY = "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
DOCS = ("checks/data_docs/index.html", "checks/gx/uncommitted/data_docs/local_site/index.html")


@dataclass(frozen=True)
class AttributeView:
    """An attribute as its section of the page shows it.

    Attributes:
        name: The attribute.
        anchor: The section's anchor.
        figures: Its figures, as in report.json.
        sentence: How often each group is named; empty without a mention.
        description: What the chart shows, for readers who cannot see it.
        drawn: Number of panes in the chart.
        convergence: Items of its convergence, each with a sentence.
        chart: DR over panes; None for a single pane.
        labels: The labels that were mentioned most, by group.
        top: The highest DR that its target allows.
    """

    name: str
    anchor: str
    figures: dict[str, Any]
    sentence: str
    description: str
    drawn: int
    convergence: list[tuple[dict[str, Any], str]]
    chart: charts.Chart | None
    labels: list[view.LabelGroup]
    top: float


def build(output: Place) -> str:
    """Write report.json and report.html.

    Args:
        output: The output.

    Returns:
        The page's address.

    Raises:
        LedgerError: The ledger is damaged.
        OSError: A file cannot be read or written.
    """
    storage = at(output)
    meta = read_meta(storage)
    config = configuration(meta)
    history = History(storage, config)
    held = hold.held_reason(storage, history.totals, config.gate.policy if config else "")
    if len(history) <= MOST_SINGLE:
        entries = list(history)
        panes = [spans.from_entry(entry) for entry in entries]
    else:  # by hours, or by days where these are many
        entries, panes = history[-MOST_PANES:], history.spans()
        panes = panes if len(panes) <= MOST_SINGLE else spans.grouped(panes, spans.DAY)
    groups = panes if len(panes) < len(history) else []
    events = hold.read_events(storage)
    found = figures(history.totals, entries, meta, held, events, groups, history.decisions)
    found["triggers"] = triggers.records(storage)
    timed = timings.read_timings(storage, len(history))
    docs = next(filter(storage.exists, DOCS), None)
    rows = [spans.from_entry(entry) for entry in entries[-MOST_PANES:]]
    html = render(
        panes, found, meta or {}, timed, docs, rows, _last_blocked(storage, history, config)
    )
    storage.write("report.json", canonical(found))
    storage.write("report.html", html.encode("utf-8"))
    return storage.address("report.html")


def _last_blocked(storage: Storage, history: History, config: Config | None) -> Any:
    """Why the last blocked pane was blocked; None if none was."""
    blocked = history.totals.blocked
    return why(storage, history, config, blocked[-1]) if blocked and config else None


def render(
    panes: Sequence[Span],
    found: dict[str, Any],
    meta: Mapping[str, Any],
    timed: dict[int, timings.Timing],
    docs: str | None,
    rows: Sequence[Span],
    blocked: dict[str, Any] | None = None,
) -> str:
    """Render the page.

    Args:
        panes: The panes that are drawn, or groups of them.
        found: The figures of report.json.
        meta: What ledger/meta.json holds.
        timed: Timings by pane.
        docs: Relative path of the data docs of the checks; None without.
        rows: The panes that are listed.
        blocked: Why the last blocked pane was blocked (why.why); None without.

    Returns:
        The HTML.
    """
    shards = [(row["folder"], shard) for row in found["by_pane"] for shard in row["shards"]]
    return template("report.html.j2").render(
        **context(panes, found, meta, timed, rows),
        w=blocked,
        href=None,
        document=None,
        letters=_letters,
        docs=docs,
        shards=shards[-MOST_PANES:],
        shard_count=len(shards),
        triggers=found.get("triggers", [])[-MOST_TRIGGERS:],
    )


def context(
    panes: Sequence[Span],
    found: dict[str, Any],
    meta: Mapping[str, Any],
    timed: dict[int, timings.Timing],
    rows: Sequence[Span],
) -> dict[str, Any]:
    """Collect what the sections show; the report and the board share them.

    Args:
        panes: The panes that are drawn, or groups of them.
        found: The figures of report.json.
        meta: What ledger/meta.json holds.
        timed: Timings by pane.
        rows: The panes that are listed.

    Returns:
        The variables of the templates, without links.
    """
    config = configuration(dict(meta))
    speed = timings.throughput(timed.values())
    settings = found["configuration"]
    strip = view.tiles(panes)
    return {
        "figures": found,
        "headline": words.headline(found),
        "sentences": words.run_sentences(found),
        "source": _source(found, meta),
        "attributes": [
            attribute_view(i, name, each, panes, found["panes"], config)
            for i, (name, each) in enumerate(found["attributes"].items())
        ],
        "tens": view.tens(strip),
        "large": len(strip) <= view.LARGE_TILES,
        "merged": math.ceil(view.drawn(panes) / max(len(strip), 1)),
        "strip_label": view.strip_label(panes),
        "spells": view.spells(panes),
        "spell_name": view.spell_name,
        "interval": text.interval,
        "confidence": config.gate.confidence if config else None,
        "rolling": config.pane.rolling if config else None,
        "few": config.gate.min_mentions if config else 0,
        "speed": speed,
        "checks_share": speed.share("checks") if speed else None,
        "rates": _rates(timed),
        "ticks": charts.pane_ticks(len(timed), first=min(timed)) if timed else (),
        "streamed": any(row.time is not None for row in rows),
        "rows": rows,
        "settings": yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
        if settings
        else "",
        "most_rows": MOST_ROWS,
        "most_files": MOST_FILES,
    }


@cache
def environment(*folders: Path) -> Environment:
    """The templates of the report, with its filters and with escaping.

    Args:
        *folders: Folders of further templates, which are looked into first.

    Returns:
        The environment.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent, sheet.FOLDER]),
        autoescape=True,
        finalize=text.shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(text.FILTERS, diff=diff)
    made.globals |= {"STATES": STATES, "opening": opening, "sections": registry.sections}
    digest = sha256(made.get_template("style.css.j2").render().encode()).digest()
    made.globals["POLICY"] = POLICY.format(style=b64encode(digest).decode())
    return made


def template(name: str) -> Template:
    """A template of the report."""
    return environment().get_template(name)


def attribute_view(
    number: int,
    name: str,
    each: dict[str, Any],
    panes: Sequence[Span],
    judged: int,
    config: Config | None,
) -> AttributeView:
    """Collect what the section of an attribute shows.

    Args:
        number: The section's number, for its anchor: a name may hold any character.
        name: The attribute.
        each: Its figures, as in report.json.
        panes: The panes that are drawn, or groups of them.
        judged: Number of all panes.
        config: The configuration; None: not known.

    Returns:
        The attribute's section.
    """
    limits = each["thresholds"]
    several = each["mentions"] and len(panes) > 1
    return AttributeView(
        name=name,
        anchor=f"attribute-{number}",
        figures=each,
        sentence=words.attribute_sentence(each, judged) if each["mentions"] else "",
        description=words.chart_description(name, each, panes),
        drawn=view.drawn(panes),
        convergence=[(row, words.convergence_sentence(row)) for row in each["convergence"]],
        chart=charts.dr_chart(panes, name, limits["warn"], limits["block"]) if several else None,
        labels=view.label_groups(name, each, config),
        top=max(1 - min(row["target"] for row in each["groups"]), 1e-9),
    )


def _rates(timed: dict[int, timings.Timing]) -> list[tuple[str, Any]]:
    """The charts of speed over panes, each with a title; none for a single pane."""
    if len(timed) < 2:
        return []
    rates = timings.rates(timed, range(min(timed), max(timed) + 1), RATE_WINDOW)
    return [
        (
            f"{unit}, mean of {RATE_WINDOW} panes",
            charts.series_chart([None if rate is None else rate[i] for rate in rates]),
        )
        for i, unit in enumerate(("MB a second", "Documents a second"))
    ]


def _letters(rows: Sequence[dict[str, int]]) -> list[tuple[str, str]]:
    """Relative URL and name of the dead-letter files of some panes."""
    names = [f"part-{row['pane']:08d}.jsonl" for row in rows]
    return [(f"dead-letter/{name}", name) for name in names]


def _source(found: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    """What was read: the name of the only file, or the number of files; documents and panes."""
    counted = (
        f"{text.counted(found['documents'], 'document')} in {text.counted(found['panes'], 'pane')}"
    )
    names = (meta.get("settings") or {}).get("input")
    if not isinstance(names, dict) or not names:
        return counted
    read = PurePosixPath(next(iter(names))).name if len(names) == 1 else f"{len(names):,} files"
    return f"{read[: text.LONG]}, {counted}"
