"""Arms of an experiment: the data that its models are trained on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from evenflow.schemas.config.sections import Section


class Mined(Section):
    """Section `arms.NAME.mined`: few sentences of the input (Thakur et al. 2023)."""

    top: int = Field(default=10, ge=1, description="Sentences for each pair of groups.")
    intervention: str | None = Field(
        default=None, description="Name of an intervention, as for `evenflow lab mine`. null: none."
    )
    random: bool = Field(
        default=False, description="Whether they are drawn; else those the model leans most in."
    )
    without: list[str] = Field(
        default_factory=list[str], description="Words that are left as they are."
    )
    seed: int = Field(
        default=0,
        ge=0,
        description="Seed of what is drawn. To random sentences the seed of the cell is added.",
    )


class Arm(Section):
    """Section `arms.NAME`: the data that a model is trained on."""

    title: str | None = Field(default=None, description="What it is called. null: its name.")
    trained: bool = Field(default=True, description="false: the model as it was pretrained.")
    gate: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        description="Keys of a gate's configuration, which makes the data of the input.",
    )
    data: str | None = Field(
        default=None, description="Output of a gate that exists, in place of one that is made."
    )
    mined: Mined | None = Field(
        default=None, description="The gate's input is what is mined of the input. null: all of it."
    )
    subset: Literal["all", "neutral", "relevant", "random"] = Field(
        default="all",
        description=(
            "Which documents are trained on. neutral: those that name no group of the attribute."
            " relevant: those that do. random: each with the probability share."
        ),
    )
    share: float = Field(default=0.5, gt=0, le=1, description="Share of a random subset.")
    finetune: dict[str, Any] = Field(
        default_factory=dict[str, Any],
        description="Keys of the section finetune that this arm has otherwise.",
    )


class Grid(Section):
    """An entry of the section `grid`: an arm of mined sentences for each meeting of its values."""

    interventions: list[str] = Field(
        min_length=1, description="Names of interventions, as for `evenflow lab mine`."
    )
    top: list[Annotated[int, Field(ge=1)]] = Field(
        default=[10, 50, 100], min_length=1, description="Sentences for each pair of groups."
    )
    random: list[bool] = Field(
        default=[False, True],
        min_length=1,
        description="false: the sentences that the model leans most in. true: drawn ones.",
    )

    def arms(self) -> dict[str, Arm]:
        """The arms: random-phrase-masking-10, random-phrase-masking-10-drawn, and so on."""
        return {
            f"{name}-{top}{'-drawn' * drawn}": Arm(
                title=f"{name}, {top} {'drawn' if drawn else 'mined'}",
                mined=Mined(top=top, intervention=name, random=drawn),
            )
            for name in self.interventions
            for top in self.top
            for drawn in self.random
        }


# The main paper's design (its baselines 1 to 3, then its two kinds of data), with a random subset
ARMS = {
    "pretrained": Arm(title="pretrained (baseline 1)", trained=False),
    "original": Arm(title="data as it came (baseline 2)"),
    "random": Arm(title="random half of it", subset="random"),
    "neutral": Arm(title="neutral documents of it (baseline 3)", subset="neutral"),
    "base_cda": Arm(title="BaseCDA", gate={"repair": {"mode": "substitute", "method": "base"}}),
    "gc_cda": Arm(title="GC-CDA", gate={"repair": {"mode": "substitute", "method": "gc"}}),
}
