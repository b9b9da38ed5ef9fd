"""The configuration of a run: its keys, their defaults and the reasons for them.

Sources of a value, the later winning: defaults here, the --config file (YAML), options of the
command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from evenflow.schemas import commented as yaml_form
from evenflow.schemas.messages import Problem, nearest, problems, refuse
from evenflow.schemas.sections import (
    AttributeSettings,
    CheckSettings,
    Duplicates,
    Fields,
    Gate,
    Kafka,
    Llm,
    Measure,
    Metrics,
    Mode,
    PaneSettings,
    Policy,
    RepairSettings,
    Section,
    Shards,
    StereotypeSettings,
)
from evenflow.schemas.yaml_file import SettingsError, YamlSettings, read
from evenflow.wordlists import loader


class ConfigError(ValueError):
    """A configuration that cannot be used; a line for each mistake: file, line, key, what was
    expected, what is there.
    """


class Config(Section):
    fields: Fields = Field(default_factory=Fields, description="The input's fields.")
    pane: PaneSettings = Field(
        default_factory=PaneSettings,
        description="The slices of the input that are judged, each as a whole.",
    )
    duplicates: Duplicates = Field(
        default_factory=Duplicates, description="Documents with the same id."
    )
    attributes: dict[str, AttributeSettings] = Field(
        default_factory=lambda: {name: AttributeSettings() for name in loader.SHIPPED},
        description="The protected attributes that are measured, by the names of their word lists.",
    )
    gate: Gate = Field(
        default_factory=Gate,
        description="When a pane is warned of or blocked, by DR: 0 is even, 1 the most.",
    )
    repair: RepairSettings = Field(
        default_factory=RepairSettings, description="What is done to make uneven groups even."
    )
    stereotypes: StereotypeSettings = Field(
        default_factory=StereotypeSettings, description="What is done about stereotypes."
    )
    measure: Measure = Field(
        default_factory=Measure, description="What `evenflow measure` answers."
    )
    checks: CheckSettings = Field(
        default_factory=CheckSettings, description="The checks of Great Expectations."
    )
    shards: Shards = Field(default_factory=Shards, description="The output's files.")
    kafka: Kafka = Field(
        default_factory=Kafka, description="How to reach a Kafka cluster; only for `evenflow stream`."
    )
    llm: Llm = Field(
        default_factory=Llm,
        description="A language model that answers what the shipped models are unsure of.",
    )
    metrics: Metrics = Field(
        default_factory=Metrics, description="What `evenflow run` tells Prometheus, while it runs."
    )
    max_text_mib: int = Field(
        default=10,
        ge=1,
        le=32,
        description=(
            "Million characters of a text at most (of 2**20); a longer one goes to the dead"
            " letters. 10: longer than any book, so mostly a file that was not split into"
            " documents. A run holds to 700 MiB of memory with it."
        ),
    )

    @model_validator(mode="after")
    def _attributes_and_thresholds(self) -> Config:
        found: list[Problem] = []
        if not self.attributes:
            usual = ", ".join(loader.SHIPPED)
            found.append(
                Problem(
                    ("attributes",), f"at least one was expected; leave the key out for {usual}"
                )
            )
        if self.gate.block < self.gate.warn:
            found.append(
                Problem(
                    ("gate", "block"), f"block ({self.gate.block}) is below warn ({self.gate.warn})"
                )
            )
        for name, each in self.attributes.items() if not found else ():
            warn, block = self.thresholds(name)
            if block < warn:
                which = "warn" if each.block is None else "block"
                said = (
                    ""
                    if each.warn is not None and each.block is not None
                    else "; one of them is the gate's"
                )
                found.append(
                    Problem(
                        ("attributes", name, which), f"block ({block}) is below warn ({warn}){said}"
                    )
                )
        refuse(found)
        return self

    def thresholds(self, attribute: str) -> tuple[float, float]:
        """Warn and block of an attribute: its own, or the gate's."""
        own = self.attributes.get(attribute, AttributeSettings())
        return (
            self.gate.warn if own.warn is None else own.warn,
            self.gate.block if own.block is None else own.block,
        )

    def mode(self, attribute: str) -> Mode:
        """How an attribute is repaired: as it says itself, or as all are."""
        return self.attributes.get(attribute, AttributeSettings()).mode or self.repair.mode

    def strictness(self, attribute: str) -> float:
        """The least probability of being right of an attribute's substitutions."""
        own = self.attributes.get(attribute, AttributeSettings()).strictness
        return self.repair.strictness if own is None else own

    def policy(self, attribute: str) -> Policy:
        """What is done about stereotypes of an attribute's groups."""
        return (
            self.attributes.get(attribute, AttributeSettings()).stereotypes.policy
            or self.stereotypes.policy
        )

    @property
    def tells_sentences(self) -> bool:
        """Whether sentences are looked at one by one, so that there is a table of them."""
        return self.changes_sentences or self.looks_for_stereotypes

    @property
    def changes_sentences(self) -> bool:
        """Whether sentences of some attribute may become counterfactuals."""
        return any(self.mode(name) in ("substitute", "augment") for name in self.attributes)

    @property
    def looks_for_stereotypes(self) -> bool:
        """Whether stereotypes of some attribute's groups are looked for."""
        return any(self.policy(name) != "off" for name in self.attributes)

    def stereotype_threshold(self, attribute: str) -> float:
        """score_scsc from which a stereotype of an attribute's groups is a strong one."""
        own = self.attributes.get(attribute, AttributeSettings()).stereotypes.threshold
        return self.stereotypes.threshold if own is None else own


def load(
    path: Path | None,
    overrides: Mapping[str, Any] | None = None,
    only: Sequence[str] = (),
    own_lists: Sequence[str] = (),
) -> Config:
    """The effective configuration: a YAML file (or none) under overrides, a mapping of dotted keys
    to values.

    only: the attributes to measure, where not all. own_lists: paths of word lists whose attributes
    are measured too. Raises ConfigError with every mistake, WordListError.
    """
    try:
        settings = read(path) if path else YamlSettings({})
    except SettingsError as error:
        raise ConfigError(str(error)) from error
    data = _filled(settings.data)
    for key, value in (overrides or {}).items():
        *above, last = key.split(".")
        section: Any = data
        for each in above:
            section = section.setdefault(each, {}) if isinstance(section, dict) else None
        if isinstance(section, dict):  # anything else is reported below
            section[last] = value
    _choose(data, only, own_lists)
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise _error(problems(error, Config), settings, path) from error
    if path:
        _locate(config, path.parent)
    found: list[Problem] = []
    for name, each in config.attributes.items():
        if each.wordlist is None and name not in loader.SHIPPED:
            said = (
                f"no list of that name is shipped{_meant(name)}; give the path of one as wordlist"
            )
            found.append(Problem(("attributes", name), said))
        else:
            found += mismatches(name, each, loader.load(each.wordlist or name))
    if found:
        raise _error(found, settings, path)
    return config


def mismatches(name: str, attribute: AttributeSettings, words: loader.WordList) -> list[Problem]:
    """Where an attribute's settings do not fit its word list: another name, or a target for other
    groups than the list's.
    """
    key = ("attributes", name)
    if words.attribute != name:
        return [
            Problem(
                key,
                f"the list {words.path} is of the attribute {words.attribute!r}; give it that name"
                " here",
            )
        ]
    target = attribute.target or {}
    found = []
    for group in target:
        if group not in words.groups:
            near = nearest(group, words.groups)
            said = (
                f"did you mean {near!r}?" if near else f"the groups are {', '.join(words.groups)}"
            )
            found.append(Problem((*key, "target", group), f"no group of {words.path}; {said}"))
    if target and (missing := [group for group in words.groups if group not in target]):
        found.append(
            Problem(
                (*key, "target"),
                f"a share is missing for {', '.join(missing)} (0 where none is wanted)",
            )
        )
    return found


def commented(config: Config) -> str:
    """The configuration as YAML, with the meaning of each key and the reason of its default; loads
    back as the same.
    """
    return yaml_form.commented(config)


def _filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """Sections without any key (all of them commented out, say) as empty ones, at both levels."""
    scalars = {"max_text_mib"}
    out = {
        key: {} if value is None and key not in scalars else value for key, value in data.items()
    }
    if isinstance(attributes := out.get("attributes"), dict):
        out["attributes"] = {
            name: {} if each is None else each for name, each in attributes.items()
        }
    return out


def _choose(data: dict[str, Any], only: Sequence[str], own_lists: Sequence[str]) -> None:
    """Add the attributes of a user's lists, then keep those that were asked for. Raises
    WordListError.
    """
    attributes = data.get("attributes", {name: {} for name in loader.SHIPPED})
    if not isinstance(attributes, dict):
        return
    for path in own_lists:
        name = loader.load(path).attribute
        own = attributes.get(name, {})
        attributes = {
            **attributes,
            name: {**own, "wordlist": path} if isinstance(own, dict) else own,
        }
    data["attributes"] = {name: attributes.get(name, {}) for name in only} if only else attributes


def _locate(config: Config, folder: Path) -> None:
    """Paths in a file are seen from its folder; where nothing is there, from the working directory."""
    owners = [(each, "wordlist") for each in config.attributes.values()]
    for owner, name in [*owners, (config.checks, "suite")]:
        value = getattr(owner, name)
        if value and value not in loader.SHIPPED and (folder / value).exists():
            setattr(owner, name, str(folder / value))


def _meant(name: str) -> str:
    near = nearest(name, loader.SHIPPED)
    return f" (did you mean {near!r}?)" if near else f" ({', '.join(loader.SHIPPED)} are)"


def _error(found: Iterable[Problem], settings: YamlSettings, path: Path | None) -> ConfigError:
    """One error of all problems, in the order of the file's lines; what no line stands for came
    with an option.
    """
    lines = []
    for each in found:
        line = settings.line(each.key)
        lines.append(
            (line or 0, f"{path}:{line}: {each}" if line else f"{path or 'options'}: {each}")
        )
    return ConfigError("\n".join(text for _, text in sorted(lines, key=lambda item: item[0])))
