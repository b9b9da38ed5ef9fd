"""Writes a word list as the YAML that the loader reads."""

from __future__ import annotations

from typing import Any

import yaml

from evenflow.wordlists.loader import WordList

WIDTH = 120  # columns of a line


def content(words: WordList) -> str:
    """Write a list as YAML.

    Args:
        words: The list; its path is not used.

    Returns:
        The file's text.
    """
    data: dict[str, Any] = {"attribute": words.attribute}
    data |= {
        key: value for key in ("source", "licence", "review") if (value := getattr(words, key))
    }
    data["groups"] = {
        group: [
            {"label": label, "case": "exact"} if label in words.exact else label
            for label, own in words.labels.items()
            if own == number
        ]
        for number, group in enumerate(words.groups)
    }
    if words.pairs:
        data["pairs"] = [list(pair) for pair in words.pairs]
    if words.provenance:
        data["provenance"] = dict(words.provenance)
    return yaml.safe_dump(
        data, allow_unicode=True, sort_keys=False, width=WIDTH, default_flow_style=None
    )
