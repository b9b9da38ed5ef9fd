"""The report: report.html and report.json, from the ledger alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from evenflow.gates.ledger import atomic_write, canonical, read_entries
from evenflow.schemas.ledger import PaneEntry


def summary(entries: list[PaneEntry]) -> dict[str, Any]:
    """The run in figures, as in report.json."""
    last = entries[-1] if entries else None
    blocked = [entry for entry in entries if entry.folder == "quarantine"]
    return {
        "panes": len(entries),
        "documents": sum(entry.documents for entry in entries),
        "quarantined": sum(entry.documents for entry in blocked),
        "dead_letters": sum(entry.dead for entry in entries),
        "attributes": {
            name: {"cumulative": each.cumulative.model_dump(), "groups": each.groups, "target": each.target}
            for name, each in (last.attributes.items() if last else ())
        },
    }


def build(output: Path) -> Path:
    """Write report.json and report.html; the page's path. Raises LedgerError, OSError."""
    entries = read_entries(output)
    page = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True).get_template("report.html.j2")
    atomic_write(output / "report.json", canonical(summary(entries)))
    html = page.render(entries=entries, summary=summary(entries))
    atomic_write(output / "report.html", html.encode("utf-8", "backslashreplace"))
    return output / "report.html"
