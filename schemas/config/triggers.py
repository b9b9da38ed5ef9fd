"""Section `triggers` of the configuration: rules that start an action when something is so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from cronsim import CronSim, CronSimError
from pydantic import Field, StringConstraints, model_validator

from evenflow.schemas.config.sections import Section, Share
from evenflow.schemas.messages import Problem, refuse
from evenflow.schemas.secrets import Address, CommandOrNone, SecretPlace

RuleName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
CONDITIONS = ("panes", "documents", "schedule", "verdict", "drift", "after")
ACTIONS = ("command", "webhook", "finetune", "benchmark", "experiment")


class Drift(Section):
    """Section `triggers.NAME.drift`."""

    attribute: str = Field(description="The attribute whose figure is watched.")
    figure: Literal["dr", "stereotypes"] = Field(
        default="dr",
        description=(
            "dr: the Demographic Representation score. stereotypes: the share of classified"
            " sentences that state a strong stereotype."
        ),
    )
    low: float | None = Field(
        default=None, description="It fires when the figure falls below this. dr: the rolling one."
    )
    high: float | None = Field(default=None, description="It fires when the figure rises above.")
    run_length: float | None = Field(
        default=None,
        ge=20,
        description=(
            "In place of a band: a change-point test (CUSUM) on the panes' own figures, with one"
            " false alarm in so many panes on average. That holds for normal figures that do not"
            " depend on each other."
        ),
    )

    @model_validator(mode="after")
    def _band_or_test(self) -> Drift:
        """Refuse a drift with neither a band nor a test, or with both."""
        if ((self.low, self.high) == (None, None)) == (self.run_length is None):
            refuse([Problem((), "either low and high or run_length was expected")])
        return self


class Webhook(Section):
    """Section `triggers.NAME.webhook`."""

    url: Address = Field(
        description=(
            "Address that gets a POST with rule, pane and reason as JSON, or where it is:"
            " {env: NAME} or {file: PATH}."
        )
    )
    key: SecretPlace = Field(
        default=None,
        description="Where the bearer token is: {env: NAME} or {file: PATH}. null: none is needed.",
    )


class Promotion(Section):
    """Section `triggers.NAME.finetune.promote`: benchmarks that decide on what was trained.

    It is compared, item by item, with the model as it is and with the last promoted one.
    """

    suites: list[str] = Field(
        min_length=1, description="Names of the benchmarks, of ability and of bias."
    )
    margin: Share = Field(
        default=0.05,
        description=(
            "By how much a figure may be worse: the 95 % interval of each paired difference must"
            " exclude more."
        ),
    )
    items: int | None = Field(default=None, ge=1, description="Most items of each. null: all.")
    data: str | None = Field(default=None, description="Folder of data that does not ship.")


class FinetuneAction(Section):
    """Section `triggers.NAME.finetune`: `evenflow lab finetune` on the panes accepted so far."""

    model: str = Field(description="Folder of the model.")
    warm: bool = Field(
        default=False,
        description=(
            "Whether training starts from the last model of this rule that was promoted (without"
            " promote: that was trained), in place of the model as it is."
        ),
    )
    promote: Promotion | None = Field(
        default=None,
        description="When what was trained is promoted; else it is kept aside. null: always.",
    )
    keep: int | None = Field(
        default=None,
        ge=1,
        description="Models that stay, the last promoted and the last kept aside. null: all.",
    )


class BenchmarkAction(Section):
    """Section `triggers.NAME.benchmark`: `evenflow lab benchmark`; after a rule, of its adapter."""

    model: str = Field(description="Folder of the model.")
    suites: list[str] = Field(min_length=1, description="Names of the benchmarks.")
    items: int | None = Field(default=None, ge=1, description="Most items of each. null: all.")
    data: str | None = Field(default=None, description="Folder of data that does not ship.")


class ExperimentAction(Section):
    """Section `triggers.NAME.experiment`: `evenflow lab paper` on what was accepted so far."""

    file: str = Field(
        description="The experiment's file; the accepted shards take the place of its input."
    )


class Trigger(Section):
    """Section `triggers.NAME`: at most one condition, and one action."""

    panes: int | None = Field(default=None, ge=1, description="It fires after every N panes.")
    documents: int | None = Field(
        default=None, ge=1, description="It fires after every N accepted documents."
    )
    schedule: str | None = Field(
        default=None,
        description=(
            "It fires at these times in UTC, as cron has them (0 3 * * *), once for a pane: not"
            " again before something new was committed."
        ),
    )
    verdict: Literal["warn", "block"] | None = Field(
        default=None,
        description="It fires on the first pane that is at least this; again after better ones.",
    )
    drift: Drift | None = Field(default=None, description="It fires when a figure drifts.")
    after: str | None = Field(
        default=None, description="It fires when this other rule's action is done."
    )
    command: CommandOrNone = Field(
        default=None,
        description=(
            "A program with its arguments; no shell reads them. An argument may be {env: NAME} or"
            " {file: PATH}. EVENFLOW_RULE, EVENFLOW_PANE and EVENFLOW_OUTPUT say what it is about."
        ),
    )
    webhook: Webhook | None = Field(default=None, description="An address that is told.")
    finetune: FinetuneAction | None = Field(default=None, description="A model that is trained.")
    benchmark: BenchmarkAction | None = Field(
        default=None, description="A model that is measured; gate.require reads the figures."
    )
    experiment: ExperimentAction | None = Field(
        default=None, description="Models that are trained and compared."
    )
    timeout: float = Field(
        default=3600.0, gt=0, description="Seconds that an attempt may take; then it is ended."
    )
    tries: int = Field(default=3, ge=1, le=20, description="Most attempts.")
    backoff: float = Field(
        default=30.0,
        ge=0,
        description="Seconds before the second attempt; twice as many before each further one.",
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Trigger:
        """Refuse several conditions, no action or several, and a schedule that cannot be read."""
        found: list[Problem] = []
        if len([name for name in CONDITIONS if getattr(self, name) is not None]) > 1:
            found.append(Problem((), f"one condition at most: {', '.join(CONDITIONS)}"))
        if len([name for name in ACTIONS if getattr(self, name) is not None]) != 1:
            found.append(Problem((), f"one action was expected: {', '.join(ACTIONS)}"))
        if self.schedule is not None:
            try:
                CronSim(self.schedule, datetime.now(UTC))
            except CronSimError as error:
                found.append(Problem(("schedule",), f"{self.schedule!r} is no cron times: {error}"))
        refuse(found)
        return self
