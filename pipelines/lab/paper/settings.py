"""The file of `evenflow lab paper`: one corpus, one learner, and the arms that are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.schemas.config.loading import ConfigError
from evenflow.schemas.config.sections import Section
from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.messages import Problem, problems, refuse
from evenflow.schemas.yaml_file import SettingsError, read

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$")]
Text = Literal["original", "copies", "exchanged", "half", "relevant", "gate"]
Part = Literal["all", "selected", "others"]
VECTORS = "vectors"  # the learner that is no language model
MANY, FEW = 10, 3  # seeds by default, of word vectors and of a language model
PILOT = range(10_000, 10_005)  # seeds of the draws that say the power before the run


class Mined(Section):
    """Section `arms.NAME.mined`: few sentences of the input (Thakur et al. 2023)."""

    top: int = Field(default=10, ge=1, description="Sentences for each pair of groups.")
    intervention: str | None = Field(
        default=None, description="Name of an intervention, as for `evenflow lab mine`. null: none."
    )
    random: bool = Field(
        default=False, description="Whether they are drawn; else those the model leans most in."
    )
    without: list[str] = Field(default=[], description="Words that are left as they are.")
    seed: int = Field(default=0, ge=0, description="Seed of the draw; the cell's is added to it.")


class Arm(Section):
    """Section `arms.NAME`: what a learner reads."""

    title: str | None = Field(default=None, description="What it is called. null: its name.")
    control: Name | None = Field(
        default=None, description="The arm that it is compared with. null: the baseline."
    )
    trained: bool = Field(default=True, description="false: the model as it was pretrained.")
    gate: dict[str, Any] = Field(
        default={}, description="Keys of the configuration of the gate that makes the text `gate`."
    )
    read: dict[Text, Part] = Field(
        default={},
        description=(
            "Which texts are read, of which documents. original: as they came; copies: once more;"
            " exchanged: every sentence that names a group exchanged; half: half of these;"
            " relevant: only these sentences; gate: as the gate leaves them. {}: gate of all, or"
            " original of all."
        ),
    )
    select: Literal["random", "neutral", "relevant", "high", "weights", "telling"] | None = Field(
        default=None,
        description=(
            "Which documents are selected; the others are the rest. random: a share. neutral,"
            " relevant: those that name no group, or one. high: a tenth of the highest bias scores."
            " weights: all, by their weights. telling: as many as high that say most of what is"
            " measured (vectors)."
        ),
    )
    share: float = Field(default=0.5, gt=0, le=1, description="Share of a random selection.")
    drawn: bool = Field(
        default=False, description="Whether the selection is dealt to other documents: a control."
    )
    mined: Mined | None = Field(default=None, description="Sentences that are mined of the input.")
    finetune: dict[str, Any] = Field(
        default={}, description="Keys of the section finetune that this arm has otherwise."
    )

    @property
    def texts(self) -> dict[Text, Part]:
        """Which texts are read, of which documents."""
        return self.read or ({"gate": "all"} if self.gate else {"original": "all"})


class Grid(Section):
    """An entry of the section `grid`: an arm of mined sentences for each meeting of its values."""

    interventions: list[str] = Field(min_length=1, description="Names of interventions.")
    top: list[int] = Field(default=[10, 50, 100], description="Sentences for each pair of groups.")
    random: list[bool] = Field(default=[False, True], description="Whether they are drawn.")

    def arms(self) -> dict[str, Any]:
        """The arms: random-phrase-masking-10, random-phrase-masking-10-drawn, and so on."""
        return {
            f"{name}-{top}{'-drawn' * drawn}": {
                "title": f"{name}, {top} {'drawn' if drawn else 'mined'}",
                "mined": {"top": top, "intervention": name, "random": drawn},
            }
            for name in self.interventions
            for top in self.top
            for drawn in self.random
        }


ARMS: dict[str, dict[str, Any]] = read(Path(__file__).with_name("arms.yaml")).data
# No arm of word vectors by default: none is pretrained, neutral ones have no word of a group, and
# the reader reads for an hour
NOT_VECTORS = ("pretrained", "neutral", "gc_cda")
# The papers' arms, for a language model
USUAL = ("pretrained", "original", "neutral", "base_cda", "gc_cda")


class Suites(Section):
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

    @property
    def folder(self) -> Path | None:
        """The folder of benchmark data."""
        return Path(self.data) if self.data else None


class Paper(Section):
    """The file of an experiment."""

    model: str = Field(
        min_length=1, description="vectors, folder of a model, or a name in build/models."
    )
    input: list[str] = Field(min_length=1, description="Paths, folders or globs of the text.")
    output: str = Field(description="Folder of the results, relative to this file's folder.")
    attributes: list[str] = Field(
        default=["gender"],
        min_length=1,
        description="The attributes that are debiased. Texts that no gate makes are of the first.",
    )
    seeds: list[int] = Field(
        default=[], description="Seeds, or how many. []: 10 for vectors, 3 for a model."
    )
    baseline: Name = Field(
        default="original", description="The arm that arms without a control are compared with."
    )
    arms: dict[Name, Arm] = Field(
        description="The arms, or the names of usual ones. Default: those of the papers."
    )
    grid: list[Grid] = Field(default=[], description="More arms, of mined sentences.")
    finetune: FinetuneSettings | None = Field(
        default=None, description="How all arms of a language model are trained."
    )
    keep_models: bool = Field(
        default=True, description="false: a model's weights are removed once it is measured."
    )
    benchmark: Suites | None = Field(
        default=None, description="What all language models are measured by."
    )

    @property
    def is_vectors(self) -> bool:
        """Whether word vectors learn."""
        return self.model == VECTORS

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, data: Any) -> Any:
        """Fill in the usual arms and seeds."""
        if not is_mapping(data):
            return data
        vectors = data.get("model") == VECTORS
        every = [name for name in ARMS if name not in NOT_VECTORS]
        arms: Any = data.get("arms", every if vectors else list(USUAL))
        if is_list(arms):
            lost = [each for each in arms if each not in ARMS]
            text = f"{lost[:1]}: it is none of the usual arms {', '.join(ARMS)}"
            refuse([Problem(("arms",), text)] if lost else [])
            arms = {str(name): ARMS[str(name)] for name in arms}
        seeds: Any = data.get("seeds") or (MANY if vectors else FEW)
        if isinstance(seeds, int) and 0 < seeds <= 1000:
            seeds = list(range(seeds))
        return {**data, "arms": arms, "seeds": seeds}

    @model_validator(mode="after")
    def _consistent(self) -> Paper:
        """Add the grid's arms, and refuse what makes no experiment."""
        for grid in self.grid:
            self.arms |= {name: Arm.model_validate(each) for name, each in grid.arms().items()}
        found = [*self._learner(), *(each for name in self.arms for each in self._wrong(name))]
        if self.baseline not in self.arms:
            found.append(Problem(("baseline",), f"no arm of this name: {', '.join(self.arms)}"))
        if len(set(self.seeds)) < len(self.seeds) or min(self.seeds) < 0:
            found.append(Problem(("seeds",), "different whole numbers from 0 on were expected"))
        refuse(found)
        return self

    def _learner(self) -> list[Problem]:
        """What does not fit the learner."""
        own = {"finetune": self.finetune, "benchmark": self.benchmark, "grid": self.grid or None}
        if self.is_vectors:
            found = [
                Problem((key,), "word vectors have none; name a language model in `model`")
                for key, each in own.items()
                if each is not None
            ]
            if len(self.seeds) < FEW or max(self.seeds) >= PILOT[0]:
                text = f"at least {FEW} seeds below {PILOT[0]:,} were expected"
                found.append(Problem(("seeds",), text))
            return found
        if self.finetune is None or self.finetune.steps is None:
            text = "a number was expected: all arms take as many steps"
            return [Problem(("finetune", "steps"), text)]
        if self.benchmark is None:
            return [Problem(("benchmark",), "suites were expected, such as {hellaswag: 1000}")]
        known = self.benchmark.suites
        if "parts" not in self.benchmark.model_fields_set:
            return []
        lost = [each for each in self.benchmark.parts if each.split("/")[0] not in known]
        return [Problem(("benchmark", "parts"), f"no suite of {each!r}") for each in lost]

    def _wrong(self, name: str) -> list[Problem]:
        """What is wrong with an arm."""
        arm, at = self.arms[name], ("arms", name)
        found: list[Problem] = []
        if arm.control is not None and arm.control not in self.arms:
            found.append(Problem((*at, "control"), f"no arm of this name: {arm.control}"))
        if {*arm.texts.values()} != {"all"} and arm.select is None:
            found.append(Problem((*at, "select"), "it was expected, to say which are selected"))
        if "gate" in arm.read and not arm.gate:
            found.append(Problem((*at, "gate"), "it was expected, since its text is read"))
        if self.is_vectors and (arm.mined or arm.finetune or not arm.trained):
            found.append(Problem(at, "word vectors learn no such arm"))
        if not self.is_vectors and arm.select == "telling":
            found.append(Problem((*at, "select"), "telling: for word vectors alone"))
        if "seed" in arm.finetune:
            found.append(Problem((*at, "finetune", "seed"), "it is that of the cell"))
        elif self.finetune is not None:
            try:
                self.finetuning(arm, 0)
            except ValidationError as error:
                found += [
                    Problem((*at, "finetune", *each.key), each.text)
                    for each in problems(error, FinetuneSettings)
                ]
        return found

    def finetuning(self, arm: Arm, seed: int) -> FinetuneSettings:
        """How a cell is trained. Raises ValidationError."""
        assert self.finetune is not None
        own = {**self.finetune.model_dump(), **arm.finetune, "seed": seed}
        return FinetuneSettings.model_validate(own)

    def control(self, name: str) -> str:
        """The arm that an arm is compared with; the baseline's is itself."""
        return self.arms[name].control or self.baseline


def load(path: Path, output: Path | None = None, inputs: list[str] | None = None) -> Paper:
    """Read the file of an experiment.

    Args:
        output: In place of the file's.
        inputs: In place of the file's.

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
        found = Paper.model_validate(settings.data)
    except ValidationError as error:
        lines = [
            f"{path}:{settings.line(each.key) or 1}: {each}" for each in problems(error, Paper)
        ]
        raise ConfigError("\n".join(lines)) from error

    def resolved(place: str) -> str:
        return str(path.parent / place) if (path.parent / place).exists() else place

    found.input = inputs or [resolved(each) for each in found.input]
    if not found.is_vectors:
        found.model = resolved(found.model)
    found.output = str(output or path.parent / found.output)
    if found.benchmark is not None and found.benchmark.data is not None:
        found.benchmark.data = resolved(found.benchmark.data)
    return found
