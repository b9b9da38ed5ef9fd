"""A reference corpus' percentiles, which a pane's scores are compared with: a file of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenflow.schemas.errors import UsageError
from evenflow.transforms.measures.bias_score.records import BiasSums
from evenflow.transforms.measures.bias_score.summary import summarise

FORMAT, VERSION = "evenflow-bias-reference", 1


class BiasReferenceError(UsageError):
    """A reference that cannot be used; the message says why."""


def content(attribute: str, made_with: Mapping[str, str], sums: BiasSums) -> dict[str, Any]:
    """What a reference's file holds.

    Args:
        attribute: The attribute whose groups words lean to.
        made_with: Digests of what the scores come from, by name.

    Returns:
        The content, with the percentiles and their 95 % intervals.
    """
    summary = summarise(sums, judged=False, confidence=0.95).model_dump(exclude={"above"})
    return {
        "format": FORMAT,
        "version": VERSION,
        "attribute": attribute,
        "made_with": dict(made_with),
        **summary,
    }


def threshold(path: Path, attribute: str, made_with: Mapping[str, str], percentile: int) -> float:
    """Read the score above which a sentence's score is high."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        form = (read["format"], read["version"])
        own, score = read["made_with"], float(read["percentiles"][str(percentile)]["value"])
    except (ValueError, KeyError, TypeError) as error:
        raise BiasReferenceError(f"{path}: no reference of the bias score ({error!r})") from error
    if form != (FORMAT, VERSION):
        raise BiasReferenceError(
            f"{path}: a reference of version {VERSION} was expected, not {form}"
        )
    if read["attribute"] != attribute:
        raise BiasReferenceError(f"{path}: a reference of {read['attribute']!r}, not {attribute!r}")
    if other := [name for name in made_with if own.get(name) != made_with[name]]:
        raise BiasReferenceError(
            f"{path}: made with other {' and '.join(other)}; make it again with: evenflow"
            " bias-score CORPUS --reference FILE"
        )
    return score
