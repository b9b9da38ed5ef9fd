"""The section `alerts` of the configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evenflow.schemas.config.sections import Section, Share, section


class Budgets(Section):
    """Section `alerts.budgets`: the share in which an objective of the gate may be missed."""

    # From 1/14.4 on, an hour in which all is wrong would not burn fast enough for an alert
    lag: float = Field(
        default=0.01,
        gt=0,
        le=0.06,
        description="Share of the time in which the lag may be above alerts.lag_seconds.",
    )
    freshness: float = Field(
        default=0.01,
        gt=0,
        le=0.06,
        description="Share of the time in which records may wait for alerts.overdue_panes spans.",
    )
    dead_letters: float = Field(
        default=0.001,
        gt=0,
        le=0.06,
        description="Share of the records that may be unreadable in the long run.",
    )
    verdict: float = Field(
        default=0.01,
        gt=0,
        le=0.06,
        description="Share of the panes whose verdict may take longer than alerts.verdict_seconds.",
    )


class Alerts(Section):
    """Section `alerts`."""

    lag_seconds: float = Field(
        default=600.0,
        gt=0,
        description=(
            "An alert fires if the newest committed record of a topic is older than this, the lag"
            " grows, and there are records to commit. 600: ten panes of the usual minute."
        ),
    )
    overdue_panes: float = Field(
        default=5.0,
        gt=0,
        description=(
            "An alert fires if records wait for their commit for as many spans of a pane. 5: a"
            " pane is whole one span after it began, and a busy machine needs another."
        ),
    )
    dead_share: Share = Field(
        default=0.01,
        description=(
            "An alert fires if this share of an hour's records could not be read. 0.01: a fifth"
            " of gate.most_dead, at which a pane is blocked."
        ),
    )
    stereotype_jump: float = Field(
        default=3.0,
        gt=1,
        description=(
            "An alert fires if an hour's share of strong stereotypes is as many times the day's."
            " 3: a source of its own kind, not the sources' usual mix. 20 are needed at least."
        ),
    )
    tokens_a_day: int | None = Field(
        default=None,
        ge=1,
        description=(
            "An alert fires if the language model takes more tokens in 24 hours. null: no limit."
        ),
    )
    disk_free: Share = Field(
        default=0.1,
        description=(
            "An alert fires if less than this share of the output's disk is free. 0.1: time to"
            " make room before a run ends with a full disk."
        ),
    )
    blocked_share: float = Field(
        default=0.01,
        gt=0,
        le=1,
        description=(
            "Share of panes that may be blocked, in the long run. Burn is the blocked share of a"
            " day or a week, divided by this. 0.01: a blocked pane in a hundred is daily work."
        ),
    )
    verdict_seconds: Literal[1, 5, 10, 30, 60, 120, 300] = Field(
        default=60,
        description=(
            "A pane is late if it takes longer from its close to its ledger entry. It is a bound of"
            " the histogram evenflow_pane_commit_seconds. 60: a pane of a language model's answers."
        ),
    )
    budgets: Budgets = section(
        Budgets,
        "For which share of time, records or panes an objective of the gate may be missed in 30"
        " days. Alerts say when that is used up too fast.",
    )
    runbooks: str = Field(
        default="docs/pages/runbooks.md#{name}",
        pattern=r"\{name\}",
        description=(
            "Address of a runbook, which alerts show; {name} stands for the alert in small letters."
            " Give the one at which your documentation is served."
        ),
    )
