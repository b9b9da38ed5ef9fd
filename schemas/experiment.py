"""The file of an experiment: one model, several arms of data, and what they are compared by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, ValidationError, model_validator

from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.schemas.config.loading import ConfigError
from evenflow.schemas.config.sections import Section
from evenflow.schemas.experiment_arms import ARMS, Arm, Grid
from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.messages import Problem, problems, refuse
from evenflow.schemas.yaml_file import SettingsError, read

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$")]


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

    model: str = Field(min_length=1, description="Folder of a model, or a name in build/models.")
    input: list[str] = Field(min_length=1, description="Paths, folders or globs of the text.")
    output: str = Field(description="Folder of the results, relative to this file's folder.")
    attribute: str = Field(default="gender", description="The attribute that is debiased.")
    seeds: list[int] = Field(default=[0, 1, 2], min_length=1, description="Seeds of the arms.")
    baseline: Name = Field(
        default="original", description="The arm that the others are compared with."
    )
    arms: dict[Name, Arm] = Field(
        default_factory=lambda: dict(ARMS),
        description="The arms, or the names of usual ones. Default: those of the papers.",
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

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, data: Any) -> Any:
        """Fill in the arms of the design, and those that are only named."""
        if not is_mapping(data):
            return data
        given = data.get("arms", list(ARMS))
        if is_list(given):
            lost = [each for each in given if each not in ARMS]
            text = f"{lost[:1]}: it is none of the usual arms {', '.join(ARMS)}"
            refuse([Problem(("arms",), text)] if lost else [])
            given = {name: ARMS[name] for name in given}
        return {**data, "arms": given}

    @model_validator(mode="after")
    def _consistent(self) -> Experiment:
        """Add the grid's arms; refuse a baseline that is no arm, and what arms cannot have."""
        found = list[Problem]()
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

        Raises:
            ValidationError: The arm has settings that cannot be used.
        """
        own = {**self.finetune.model_dump(), **arm.finetune, "seed": seed}
        return FinetuneSettings.model_validate(own)


def load(path: Path) -> Experiment:
    """Read the file of an experiment.

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
    found.benchmark.data = resolved(found.benchmark.data) if found.benchmark.data else None
    for arm in found.arms.values():
        arm.data = resolved(arm.data) if arm.data else None
    return found
