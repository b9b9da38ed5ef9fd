"""Section `gate`: when a pane gets a warning or is blocked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evenflow.schemas.config.section import Section, Share
from evenflow.schemas.hidden import AddressOrNone, SecretPlace


class Requirement(Section):
    """Section `gate.require.SUITE`."""

    low: float | None = Field(default=None, description="The figure must be at least this.")
    high: float | None = Field(default=None, description="The figure must be at most this.")
    state: Literal["warn", "block"] = Field(
        default="block",
        description="State of a pane while the figure's whole interval is outside.",
    )


class Notify(Section):
    """Section `gate.notify`."""

    url: AddressOrNone = Field(
        default=None,
        description=(
            "Address that gets an HTTP POST for each blocked pane, for those without Prometheus,"
            " or where it is: {env: NAME} or {file: PATH}. null: nobody is told."
        ),
    )
    secret: SecretPlace = Field(
        default=None,
        description=(
            "Where the secret is that signs the message: {env: NAME} or {file: PATH}, never the"
            " secret itself. null: the message is not signed."
        ),
    )
    timeout: float = Field(
        default=5.0,
        gt=0,
        description="Seconds for an answer. The gate never waits for it. 5: for a busy server.",
    )
    patience: float = Field(
        default=10.0,
        ge=0,
        description=(
            "Seconds at the end of a run in which what is left is sent; the next run sends the"
            " rest. 10: well below the 30 s that a cluster gives a gate to stop."
        ),
    )


class Gate(Section):
    """Section `gate`."""

    warn: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description=(
            "A pane gets a warning if the lower bound of its rolling DR is at least this. The"
            " bound is compared and not the score, so that chance alone raises no warning. 0.25:"
            " of two groups, one has three quarters of the mentions, three times the other's."
        ),
    )
    block: float = Field(
        default=0.45,
        ge=0,
        le=1,
        description=(
            "A pane is blocked if the lower bound of its rolling DR is at least this. 0.45: of two"
            " groups, one has nineteen twentieths of the mentions and the other hardly occurs."
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
    scope: Literal["pane", "documents"] = Field(
        default="pane",
        description=(
            "What a score that blocks sets aside. pane: the whole pane. documents: the documents"
            " with the fewest tokens in all without which the pane is not blocked; the rest of it"
            " is accepted. If more than half of the pane would have to go, all of it does. Not"
            " with weights."
        ),
    )
    policy: Literal["quarantine", "halt"] = Field(
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
    notify: Notify = Field(default_factory=Notify, description="Who is told of a blocked pane.")
