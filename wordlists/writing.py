"""Writes a word list as the YAML that the loader reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from evenflow.wordlists.loader import WordList
from evenflow.wordlists.parsing import WORDS
from evenflow.wordlists.spelling import LongestMatch

WIDTH = 120  # columns of a line


def content(words: WordList) -> str:
    """Write a list as YAML.

    Args:
        words: The list; its path is not used.
    """
    data: dict[str, Any] = {"attribute": words.attribute}
    about = ("source", "licence", "review", "language")
    data |= {key: value for key in about if (value := getattr(words, key))}
    data["groups"] = {
        group: [
            {"label": label, "case": "exact"} if label in words.exact else label
            for label, own in words.labels.items()
            if own == number
        ]
        for number, group in enumerate(words.groups)
    }
    if words.target:
        data["target"] = dict(words.target)
    if words.population:
        data["population"] = dict(words.population)
        data["population_source"] = words.population_source
    if words.pairs:
        data["pairs"] = [list(pair) for pair in words.pairs]
    if words.provenance:
        data["provenance"] = dict(words.provenance)
    if isinstance(words.finder, LongestMatch) and words.finder.particles:
        listed = zip(WORDS, words.finder.particles, strict=True)
        data |= {key: list(each) for key, each in listed if each}
    return _yaml(data)


def roles(words: WordList, entries: Sequence[Mapping[str, Any]]) -> str:
    """Write a role map as YAML.

    Returns:
        The text of the file `roles_NAME.yaml` beside the list.
    """
    about = {key: value for key in ("source", "licence") if (value := getattr(words, key))}
    return _yaml({"attribute": words.attribute, **about, "roles": [dict(each) for each in entries]})


def _yaml(data: Mapping[str, Any]) -> str:
    """Data as YAML, keys in their order."""
    return yaml.safe_dump(
        data, allow_unicode=True, sort_keys=False, width=WIDTH, default_flow_style=None
    )
