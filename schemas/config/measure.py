"""Section `measure`: what is counted, and when a figure has converged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evenflow.schemas.config.section import Section


class Measure(Section):
    """Section `measure`."""

    count: Literal["words", "people"] = Field(
        default="words",
        description=(
            "What is counted and judged: words, or mentions that name people of their group."
            " words: each mention of a label, as the score is published."
            " people: mentions that name a person or people of the group, not “ancient craft” or"
            " “minor damage”: a first stage over all mentions, and a reader over a sample, see the"
            " page “Statistics”. The words' figures are shown beside. Not with weights, which make"
            " words even. words is the default because of what reading costs."
        ),
    )
    passages: int = Field(
        default=64,
        ge=0,
        le=4096,
        description=(
            "Most passages of a pane and attribute that the reader reads to count people; fewer"
            " where the interval lies on one side of the thresholds before. A passage takes some"
            " 0.05 s. 0: none; the first stage alone is then believed."
        ),
    )
    by_language: bool = Field(
        default=False,
        description=(
            "Whether a word list that names its language is searched in texts of this language"
            " alone; the extra `languages` detects it. Texts that are not English are then neither"
            " repaired nor searched for stereotypes; the column language_detected says so of each."
        ),
    )
    language_field: str | None = Field(
        default=None,
        description=(
            "Field of a record that says its language for by_language, as en, en-GB or pt_BR. Where"
            " it says none, the language is detected. null: it is detected of every text."
        ),
    )
    epsilon: float = Field(
        default=0.02,
        gt=0,
        lt=1,
        description=(
            "DR has converged when its interval is narrower than plus or minus epsilon. 0.02: the"
            " gate's hysteresis, so that the remaining chance does not change a verdict."
        ),
    )
