"""The page that `evenflow coverage --page` writes: the report's section of coverage alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.pipelines.pages.report.report import template


def page(parts: Mapping[str | None, Mapping[str, Any]], things: Sequence[str]) -> str:
    """Render gaps as a page of its own.

    Args:
        parts: What `gaps.summary` returned, by value of the attribute that divides the records;
            None for all records.
        things: What a record is called, one and several.

    Returns:
        The HTML.
    """
    return template("coverage_page.html.j2").render(results=list(parts.items()), things=things)
