"""Builds report.json and report.html, which are pure functions of the ledger.

The page is one file that needs no network.
"""

from __future__ import annotations

import math
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Template
from jinja2.bccache import Bucket

from evenflow.gates import facts, hold, sheet
from evenflow.gates import why as reasons
from evenflow.gates.ledger import spans
from evenflow.gates.ledger.files import canonical, read_meta
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.spans import Span
from evenflow.pipelines.pages.report import charts, text, view
from evenflow.pipelines.pages.report.diff import diff
from evenflow.pipelines.pages.report.figures import figures
from evenflow.pipelines.pages.report.why import Why, why
from evenflow.schemas.config import Config, recorded
from evenflow.schemas.ledger import STATES
from evenflow.schemas.words import counted, interval, said
from evenflow.transforms.io import files
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, Storage, at

MOST_ROWS = 40  # of a table that reads as text; the rest is in report.json
# Most panes that are drawn and listed one by one, since reading an entry takes 2 ms. More panes are
# merged by the hour
MOST_SINGLE = 2000
MOST_PANES = 100  # rows of the tables of panes and shards: the page stays light, the ledger has all
MOST_TRIGGERS = 20  # rows of the table of actions, the last ones
MOST_FILES = 4  # links a reason of dead letters
# A page has no script, loads nothing, and no style but its own
POLICY = "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"


def build(output: Place) -> str:
    """Write report.json and report.html.

    Raises:
        LedgerError: The ledger is damaged.
        OSError: A file cannot be read or written.
    """
    storage = at(output)
    meta = read_meta(storage)
    config = recorded(meta)
    history = History(storage, config)
    held = hold.held_reason(storage, history.totals, config)
    if len(history) <= MOST_SINGLE:
        entries = list(history)
        panes = [spans.from_entry(entry) for entry in entries]
    else:  # by hours, or by days where these are many
        entries, panes = history[-MOST_PANES:], history.spans()
        panes = panes if len(panes) <= MOST_SINGLE else spans.grouped(panes, spans.DAY)
    groups = panes if len(panes) < len(history) else []
    events = hold.read_events(storage)
    found = figures(history.totals, entries, meta, held, events, groups, history.decisions)
    found["triggers"] = _fired(storage)
    rows = [spans.from_entry(entry) for entry in entries[-MOST_PANES:]]
    last = history.totals.blocked
    blocked = why(storage, history, config, last[-1]) if last and config else None
    html = render(panes, found, meta or {}, rows, blocked)
    del found["said"]
    storage.write("report.json", canonical(found))
    storage.write("report.html", html.encode("utf-8"))
    return storage.address("report.html")


def _fired(storage: Storage) -> list[dict[str, Any]]:
    """What triggers did, of an output that has any."""
    if not any(storage.tree("triggers")):
        return []
    from evenflow.gates import triggers

    return triggers.records(storage)


def render(
    panes: Sequence[Span],
    found: dict[str, Any],
    meta: Mapping[str, Any],
    rows: Sequence[Span],
    blocked: Why | None = None,
) -> str:
    """Render the page."""
    shards = [(row["folder"], shard) for row in found["by_pane"] for shard in row["shards"]]
    return template("report.html.j2").render(
        **context(panes, found, meta, rows),
        w=blocked,
        href=None,
        document=None,
        letters=_letters,
        shards=shards[-MOST_PANES:],
        shard_count=len(shards),
        triggers=found.get("triggers", [])[-MOST_TRIGGERS:],
    )


def context(
    panes: Sequence[Span], found: dict[str, Any], meta: Mapping[str, Any], rows: Sequence[Span]
) -> dict[str, Any]:
    """Collect what the sections show; the report and the board share them."""
    config = recorded(dict(meta))
    settings = found["configuration"]
    strip = charts.columns(panes, view.MOST_TILES)
    return {
        "figures": found,
        "headline": said(found["train"]["word"]).capitalize() if found["panes"] else "Empty",
        "sign": {"held": "block"}.get(found["train"]["word"], found["train"]["word"]),
        "sentences": found["said"],
        "source": _source(found, meta),
        "attributes": [
            attribute_view(i, name, each, panes, config)
            for i, (name, each) in enumerate(found["attributes"].items())
        ],
        "strip": strip,
        "large": len(strip) <= view.LARGE_TILES,
        "merged": math.ceil(view.drawn(panes) / max(len(strip), 1)),
        "strip_label": view.strip_label(panes),
        "spells": view.spells(panes),
        "confidence": config.gate.confidence if config else None,
        "rolling": config.pane.rolling if config else None,
        "few": config.gate.min_mentions if config else 0,
        "streamed": any(row.time is not None for row in rows),
        "rows": rows,
        "settings": yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
        if settings
        else "",
        "most_rows": MOST_ROWS,
        "most_files": MOST_FILES,
    }


class Compiled(FileSystemBytecodeCache):
    """Keeps compiled templates where Python keeps those of this module.

    To compile them takes a tenth of a short run.
    """

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, where that folder is there and may be written."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)


@cache
def environment(*folders: Path) -> Environment:
    """The templates of the report, with its filters and with escaping.

    Args:
        *folders: Folders of further templates, which are looked into first.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent, sheet.FOLDER]),
        autoescape=True,
        finalize=text.shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=Compiled(str(Path(__file__).parent / "__pycache__")),
    )
    made.filters.update(text.FILTERS, diff=diff)
    made.globals |= {"STATES": STATES, "known": registry.known, "reasons": reasons}
    made.globals |= {"tile_title": view.tile_title, "interval": interval}
    digest = sha256(made.get_template("style.css.j2").render().encode()).digest()
    made.globals["POLICY"] = POLICY.format(style=b64encode(digest).decode())
    return made


def template(name: str) -> Template:
    """A template of the report."""
    return environment().get_template(name)


def attribute_view(
    number: int, name: str, each: dict[str, Any], panes: Sequence[Span], config: Config | None
) -> dict[str, Any]:
    """Collect what the section of an attribute shows.

    `config`: The configuration; None: not known.
    """
    limits = each["thresholds"]
    several = each["mentions"] and len(panes) > 1
    return {
        "name": name,
        "anchor": f"attribute-{number}",
        "figures": each,
        "drawn": view.drawn(panes),
        "convergence": [(row, facts.convergence(row)) for row in each["convergence"]],
        "chart": charts.dr_chart(panes, name, limits["warn"], limits["block"]) if several else None,
        "labels": view.labels(name, each, config),
    }


def _letters(rows: Sequence[dict[str, int]]) -> list[tuple[str, str]]:
    """Relative URL and name of the dead-letter files of some panes."""
    names = [f"part-{row['pane']:08d}.jsonl" for row in rows]
    return [(f"dead-letter/{name}", name) for name in names]


def _source(found: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    """What was read: the name of the only file, or the number of files; documents and panes."""
    size = f"{counted(found['documents'], 'document')} in {counted(found['panes'], 'pane')}"
    names = (meta.get("settings") or {}).get("input")
    if not isinstance(names, dict) or not names:
        return size
    read = PurePosixPath(next(iter(names))).name if len(names) == 1 else f"{len(names):,} files"
    unread = found.get("left_out")
    rest = f"; {files.unread(unread)}" if unread else ""
    return f"{read[: text.LONG]}, {size}{rest}"
