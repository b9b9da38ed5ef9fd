"""Entries of a ledger for tests that ask about one of their fields."""

from __future__ import annotations

from typing import Any

from evenflow.schemas.ledger import AttributeEntry, Checks, PaneEntry, Score, Sums, Verdict


def pane_entry(pane: int, **fields: Any) -> PaneEntry:
    """An open pane without documents, but for these fields."""
    empty: dict[str, Any] = {
        "source": [],
        "input_bytes": 0,
        "text_bytes": 0,
        "documents": 0,
        "dead": 0,
        "dead_reasons": {},
        "sentences": 0,
        "attributes": {},
        "shards": [],
        "dead_letters": None,
        "checks": Checks(success=True, evaluated=0, failures=[]),
        "verdict": Verdict(state="open", reason=""),
        "folder": "accepted",
    }
    return PaneEntry(pane=pane, **(empty | fields))


def attribute_entry(sums: Sums, score: Score, **fields: Any) -> AttributeEntry:
    """The figures of an attribute that is even where it is open, but for these fields."""
    empty: dict[str, Any] = {
        "groups": ["female", "male"],
        "target": [0.5, 0.5],
        **dict.fromkeys(("pane", "rolling", "cumulative"), score),
        "verdict": Verdict(state="open", reason=""),
        "relevant_sentences": 0,
        "labels": {},
        "heavy": [],
    }
    return AttributeEntry(sums=sums, **(empty | fields))
