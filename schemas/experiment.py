"""The file of an experiment: one model, several arms of data, and what they are compared by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from evenflow.schemas.config import ConfigError
from evenflow.schemas.finetune_section import FinetuneSettings
from evenflow.schemas.messages import Problem, problems, refuse
from evenflow.schemas.sections import Section
from evenflow.schemas.yaml_file import SettingsError, read

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$")]


class Mined(Section):
    """Section `arms.NAME.mined`: few sentences of the input (Thakur et al. 2023)."""

    top: int = Field(default=10, ge=1, description="Sentences for each pair of groups.")
    intervention: str | None = Field(
        default=None, description="Name of an intervention, as for `evenflow mine`. null: none."
    )
    random: bool = Field(
        default=False, description="Whether they are drawn; else those the model leans most in."
    )
    names: bool = Field(default=False, description="Whether first names become “person” too.")
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
        min_length=1, description="Names of interventions, as for `evenflow mine`."
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


class BenchmarkSettings(Section):
    """Section `benchmark`."""

    suites: dict[str, int | None] = Field(
        min_length=1, description="Benchmarks, each with its most items; null: all."
    )
    parts: list[str] = Field(
        default=["soct/female", "soct/male"],
        description="Parts of these that are compared too, as SUITE/PART.",
    )
    batch: int = Field(default=16, ge=1, description="Items that are asked at once.")
    data: str | None = Field(
        default=None, description="Folder of benchmark data that does not ship."
    )


class Experiment(Section):
    """The file of an experiment."""

    model: str = Field(description="Folder of a model, or a name in build/models.")
    input: list[str] = Field(min_length=1, description="Paths, folders or globs of the text.")
    output: str = Field(description="Folder of the results, relative to this file's folder.")
    attribute: str = Field(default="gender", description="The attribute that is debiased.")
    seeds: list[int] = Field(default=[0, 1, 2], min_length=1, description="Seeds of the arms.")
    baseline: Name = Field(
        default="original", description="The arm that the others are compared with."
    )
    arms: dict[Name, Arm] = Field(
        default_factory=lambda: dict(ARMS), description="The arms. Default: the main paper's."
    )
    grid: list[Grid] = Field(
        default_factory=list[Grid], description="More arms, of mined sentences."
    )
    finetune: FinetuneSettings = Field(
        default_factory=FinetuneSettings, description="How all arms are trained."
    )
    keep_models: bool = Field(
        default=True,
        description=(
            "Whether trained models stay. false: a model's weights are removed once it is measured."
        ),
    )
    benchmark: BenchmarkSettings = Field(description="What all models are measured by.")

    @model_validator(mode="after")
    def _consistent(self) -> Experiment:
        """Add the grid's arms; refuse a baseline that is no arm, and what arms cannot have."""
        found: list[Problem] = []
        for grid in self.grid:
            self.arms |= grid.arms()
        for name, arm in self.arms.items():
            try:
                self.finetuning(arm, 0)
            except ValidationError as error:
                found += [
                    Problem(("arms", name, "finetune", *each.key), each.text)
                    for each in problems(error, FinetuneSettings)
                ]
            if "seed" in arm.finetune:
                found.append(Problem(("arms", name, "finetune", "seed"), "it is that of the cell"))
        if self.baseline not in self.arms:
            found.append(Problem(("baseline",), f"no arm of this name: {', '.join(self.arms)}"))
        if self.finetune.steps is None:
            found.append(
                Problem(("finetune", "steps"), "a number was expected: all arms take as many steps")
            )
        if len(set(self.seeds)) < len(self.seeds):
            found.append(Problem(("seeds",), "a seed is named twice"))
        known = self.benchmark.suites
        if "parts" in self.benchmark.model_fields_set:
            lost = [each for each in self.benchmark.parts if each.split("/")[0] not in known]
            found += [Problem(("benchmark", "parts"), f"no suite of {each!r}") for each in lost]
        refuse(found)
        return self

    def finetuning(self, arm: Arm, seed: int) -> FinetuneSettings:
        """How a cell is trained.

        Args:
            arm: Its arm.
            seed: Its seed.

        Returns:
            The settings.

        Raises:
            ValidationError: The arm has settings that cannot be used.
        """
        own = {**self.finetune.model_dump(), **arm.finetune, "seed": seed}
        return FinetuneSettings.model_validate(own)


def load(path: Path) -> Experiment:
    """Read the file of an experiment.

    Args:
        path: The YAML file.

    Returns:
        The experiment; its paths are resolved against the file's folder where something is there.

    Raises:
        ConfigError: It cannot be used; every mistake is named.
    """
    try:
        settings = read(path)
    except SettingsError as error:
        raise ConfigError(str(error)) from error
    try:
        found = Experiment.model_validate(settings.data)
    except ValidationError as error:
        lines = [
            f"{path}:{settings.line(each.key) or 1}: {each}" for each in problems(error, Experiment)
        ]
        raise ConfigError("\n".join(lines)) from error

    def resolved(place: str) -> str:
        return str(path.parent / place) if (path.parent / place).exists() else place

    found.input = [resolved(each) for each in found.input]
    found.model = resolved(found.model)
    found.output = str(path.parent / found.output)
    for arm in found.arms.values():
        arm.data = resolved(arm.data) if arm.data else None
    return found
