"""Section `gate`: when a pane gets a warning or is blocked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evenflow.schemas.config.sections import Section, Share, section


class Requirement(Section):
    """Section `gate.require.SUITE`."""

    low: float | None = Field(default=None, description="The figure must be at least this.")
    high: float | None = Field(default=None, description="The figure must be at most this.")
    state: Literal["warn", "block"] = Field(
        default="block",
        description="State of a pane while the figure's whole interval is outside.",
    )


class Shift(Section):
    """Section `gate.shift`."""

    warn: Share = Field(
        default=0.01,
        description=(
            "A pane gets a warning if its shares have surely shifted by at least this from those"
            " of its own sources (section `reference`). 0.01: one point of a share, surely."
        ),
    )
    block: Share | None = Field(
        default=None,
        description=(
            "Shift from which a source is blocked. null: 0.02 where `reference.file` is given;"
            " without it nothing is blocked. 0.02: in streams without a defect, fewer than 1 of"
            " 1,000 panes reaches it."
        ),
    )
    mentions: float = Field(
        default=0.3,
        gt=0,
        lt=1,
        description=(
            "Share of the mentions per document that must surely be lost, or gained as much, until"
            " a source is off. It is blocked where a shift may block. 0.3: a parser that drops"
            " words of all groups, or text in another language."
        ),
    )


class Gate(Section):
    """Section `gate`."""

    warn: Share | None = Field(
        default=None,
        description=(
            "Lower bound of a pane's rolling DR from which it gets a warning. The bound is compared"
            " and not the score, so that chance alone raises no warning. null: that of block;"
            " without either DR is measured, and not judged, for hardly any text"
            " names groups as often as a target asks. The published rule is warn 0.25, block 0.45."
        ),
    )
    block: Share | None = Field(
        default=None,
        description=(
            "Lower bound of a pane's rolling DR from which it is blocked. null: none is."
            " 0.45: of two groups, one has nineteen twentieths of the mentions."
        ),
    )
    min_mentions: int = Field(
        default=200,
        ge=0,
        description=(
            "Least number of mentions in the rolling panes for a verdict. 200: mentions of one"
            " document go together and are worth half as much as independent ones. DR is then"
            " known to about 0.1, half the way from warn to block."
        ),
    )
    few: Literal["open", "warn", "block"] = Field(
        default="open",
        description=(
            "State of a pane whose attribute has a threshold, and too few mentions in all accepted"
            " panes to be judged. open: it is let through, as “not judged”."
        ),
    )
    hysteresis: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description=(
            "How far the bound must fall below its threshold to end warn or block. It is never"
            " more than half the threshold. 0.02: a stream near a threshold does not change its"
            " state with every pane, and a stream that got better is accepted again."
        ),
    )
    most_dead: Share = Field(
        default=0.05,
        description=(
            "Largest share of a pane's records that may become dead letters. A pane with more is"
            " blocked, and so is a pane with a file that could not be read to its end. 1: no pane"
            " is blocked for this. 0.05: a single broken record is normal, but one in twenty is"
            " another defect (such as a wrong fields.text), and such a pane should not count as"
            " even."
        ),
    )
    scope: Literal["source", "pane", "documents"] = Field(
        default="source",
        description=(
            "What is set aside. source: the documents of a source that has shifted; for another"
            " reason, and with weights, the whole pane. pane: the whole pane. documents: where a"
            " score of DR blocks, the documents"
            " with the fewest tokens in all without which the pane is not blocked; the rest of it"
            " is accepted. If more than half of the pane would have to go, all of it does. Not"
            " with weights."
        ),
    )
    shift: Shift = section(Shift, "When a stream is not what its sources were.")
    on_block: Literal["quarantine", "halt"] = Field(
        default="quarantine",
        description=(
            "What happens after a blocked pane. quarantine: the pane goes to quarantine/, the run"
            " goes on, and the pane's text does not count in later verdicts. halt: a run on files"
            " stops and a run on a topic waits until a person releases the gate."
        ),
    )
    confidence: float = Field(
        default=0.95,
        gt=0.5,
        lt=1,
        description="Confidence level of the intervals. 0.95: the usual one.",
    )
    require: dict[str, Requirement] = Field(
        default_factory=dict[str, Requirement],
        description=(
            "Limits of the last model's benchmark figures, by suite; a trigger measures them. The"
            " verdict then depends on when the benchmark was done."
        ),
    )
