"""The whole configuration: its sections, and what holds between them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator

from evenflow.schemas import plugins
from evenflow.schemas.config.alerts import Alerts
from evenflow.schemas.config.attributes import AttributeSettings
from evenflow.schemas.config.bias_score import BiasScoreSettings
from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.schemas.config.fields import Fields
from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.schemas.config.gate import Gate
from evenflow.schemas.config.kafka import Kafka
from evenflow.schemas.config.llm import Llm
from evenflow.schemas.config.repair import JUDGES, PRECISION, Mode, RepairSettings
from evenflow.schemas.config.sections import (
    SHARES_TOLERANCE,
    CheckSettings,
    Duplicates,
    Measure,
    Metrics,
    PaneSettings,
    ReferenceSettings,
    Section,
    Shards,
    section,
)
from evenflow.schemas.config.stereotypes import Action, StereotypeSettings
from evenflow.schemas.config.triggers import RuleName, Trigger
from evenflow.schemas.messages import Problem, refuse
from evenflow.schemas.plugin_finder import found_by
from evenflow.wordlists import loader


class Config(Section):
    """The configuration: its sections, and the keys outside of sections.

    Plug-ins are names here. `loading.load` loads those that a user names.
    """

    fields: Fields = section(Fields, "The input's fields.")
    strict_input: bool = Field(
        default=False,
        exclude_if=lambda given: not given,
        description="Whether a file in the input that nothing reads is an error.",
    )
    pane: PaneSettings = section(
        PaneSettings, "Panes: slices of the input. Each pane is judged as a whole."
    )
    duplicates: Duplicates = section(Duplicates, "Documents with the same id.")
    attributes: dict[str, AttributeSettings] = Field(
        default_factory=lambda: {name: AttributeSettings() for name in loader.SHIPPED},
        description="The protected attributes that are measured, by the names of their word lists.",
    )
    gate: Gate = section(
        Gate, "When a pane gets a warning or is blocked. DR is 0 if even, and at most 1."
    )
    reference: ReferenceSettings = section(
        ReferenceSettings, "What the stream should be: each source as it was."
    )
    repair: RepairSettings = section(RepairSettings, "How uneven groups are made even.")
    stereotypes: StereotypeSettings = section(StereotypeSettings, "How stereotypes are treated.")
    bias_score: BiasScoreSettings = section(
        BiasScoreSettings,
        "The bias score: what the neutral words of a sentence lean to, 0 (nothing) to 1.",
    )
    coverage: CoverageSettings = section(
        CoverageSettings, "Intersections of attributes that are too rare."
    )
    measures: dict[str, dict[str, Any]] = Field(
        default_factory=dict[str, dict[str, Any]],
        description=(
            "Measures of panes that installed packages bring, by name, each with its settings;"
            " `evenflow doctor` lists them."
        ),
    )
    measure: Measure = section(Measure, "Settings of `evenflow measure` and of the report.")
    checks: CheckSettings = section(CheckSettings, "The checks of Great Expectations.")
    shards: Shards = section(Shards, "The output's files.")
    kafka: Kafka = section(Kafka, "How to reach a Kafka cluster; only for `evenflow stream`.")
    llm: Llm = section(Llm, "A language model that answers where the shipped models are unsure.")
    metrics: Metrics = section(Metrics, "What `evenflow run` serves to Prometheus.")
    finetune: FinetuneSettings = section(
        FinetuneSettings, "How `evenflow lab finetune` trains a model."
    )
    triggers: dict[RuleName, Trigger] = Field(
        default_factory=dict[str, Trigger],
        description="Rules that start an action when something is so, by name.",
    )
    alerts: Alerts = section(
        Alerts, "Thresholds of the alerts of deploy/prometheus; a run may go on with others."
    )
    max_text_mib: int = Field(
        default=10,
        ge=1,
        le=32,
        description=(
            "Most characters in a text, in units of 2**20. A longer text becomes a dead letter."
            " 10: longer than any book, so such a text is mostly a file that was not split into"
            " documents. With it, a run needs at most 700 MiB of memory."
        ),
    )

    @model_validator(mode="after")
    def _attributes_and_thresholds(self) -> Config:
        """Refuse a configuration without attributes, or with a block threshold below warn."""
        found: list[Problem] = []
        if not self.attributes:
            usual = ", ".join(loader.SHIPPED)
            found.append(
                Problem(
                    ("attributes",), f"at least one was expected; leave the key out for {usual}"
                )
            )
        warn, block = self.gate.warn, self.gate.block
        if warn is not None and block is not None and block < warn:
            found.append(Problem(("gate", "block"), f"block ({block}) is below warn ({warn})"))
        found += self._bias_problems()
        found += self._measure_problems()
        if self.measure.language_field is not None and not self.measure.by_language:
            text = "the language matters with measure.by_language alone; set it, or leave this out"
            found.append(Problem(("measure", "language_field"), text))
        if self.measure.languages is not None and self.measure.by_language:
            text = "with measure.by_language each text has its language; leave one of them out"
            found.append(Problem(("measure", "languages"), text))
        found += self._weight_problems()
        found += self._people_problems()
        found += self._trigger_problems()
        found += () if found else self._threshold_problems()
        refuse(found)
        return self

    def _bias_problems(self) -> Iterator[Problem]:
        """What is wrong with the bias score."""
        leaning = self.bias_score
        if leaning.block < leaning.warn:
            text = f"block ({leaning.block}) is below warn ({leaning.warn})"
            yield Problem(("bias_score", "block"), text)
        if leaning.mode != "off" and leaning.attribute not in self.attributes:
            text = f"{leaning.attribute!r} is not measured; {', '.join(self.attributes)} are"
            yield Problem(("bias_score", "attribute"), text)
        if leaning.mode != "off" and self._own(leaning.attribute).finder is not None:
            text = f"{leaning.attribute!r} has a finder, and no words whose vectors make an axis"
            yield Problem(("bias_score", "attribute"), text)
        if leaning.mode in ("subtract", "augment") and leaning.reference is None:
            text = f"{leaning.mode} needs one: evenflow lab bias-score CORPUS --reference makes it"
            yield Problem(("bias_score", "reference"), text)
        repaired = self._own(leaning.attribute).mode or self.repair.mode
        if leaning.mode == "augment" and repaired != ["measure"]:
            mode = ",".join(repaired)
            text = f"augment adds copies itself; {leaning.attribute} is in mode {mode} already"
            yield Problem(("bias_score", "mode"), text)
        if leaning.names and leaning.attribute != "gender":
            text = f"given names say nothing of {leaning.attribute}; only of gender"
            yield Problem(("bias_score", "names"), text)

    def _trigger_problems(self) -> Iterator[Problem]:
        """What is wrong with triggers."""
        for name, rule in self.triggers.items():
            if rule.after is not None and (rule.after == name or rule.after not in self.triggers):
                text = f"no other rule of this name: {rule.after!r}"
                yield Problem(("triggers", name, "after"), text)
            if rule.drift is not None and rule.drift.attribute not in self.attributes:
                text = f"{rule.drift.attribute!r} is not measured; {', '.join(self.attributes)} are"
                yield Problem(("triggers", name, "drift", "attribute"), text)

    def _threshold_problems(self) -> Iterator[Problem]:
        """Thresholds of attributes of which block is below warn."""
        for name, each in self.attributes.items():
            warn, block = self.thresholds(name)
            if warn is not None and block is not None and block < warn:
                which = "warn" if each.block is None else "block"
                both = each.warn is not None and each.block is not None
                hint = "" if both else "; one of them is the gate's"
                text = f"block ({block}) is below warn ({warn}){hint}"
                yield Problem(("attributes", name, which), text)

    def _measure_problems(self) -> Iterator[Problem]:
        """Measures of other packages whose names are taken."""
        for name in self.measures:
            if name in type(self).model_fields:
                yield Problem(("measures", name), f"{name} has a section of its own")

    @property
    def plugin_parts(self) -> dict[str, tuple[str, str]]:
        """The key and the name of each plug-in in the place of a shipped part, by its kind."""
        found: dict[str, tuple[str, str]] = {}
        if self.repair.judge not in JUDGES:
            found[plugins.JUDGES] = "repair.judge", self.repair.judge
        if self.stereotypes.detector is not None:
            found[plugins.DETECTORS] = "stereotypes.detector", self.stereotypes.detector
        return found

    @property
    def plugged_measures(self) -> tuple[str, ...]:
        """The names of the measures that other packages bring."""
        return tuple(self.measures)

    def _people_problems(self) -> Iterator[Problem]:
        """What cannot be asked beside counting people, or without it."""
        people = self.measure.count == "people"
        if people and self.has_weights:
            text = (
                "people was asked for beside weights, which make words even: people are known of a"
                " pane, not of each document; count words, or leave weight out of repair"
            )
            yield Problem(("measure", "count"), text)
        for name, each in self.attributes.items():
            if each.finder is not None and people:
                text = "people are counted by the words that name them; a finder has none"
                yield Problem(("attributes", name, "finder"), text)
            if each.target == "population" and not people:
                text = "population: its shares are compared with people; set measure.count: people"
                yield Problem(("attributes", name, "target"), text)

    def _weight_problems(self) -> Iterator[Problem]:
        """What weights are asked to keep and cannot, and what cannot be asked beside them."""
        if self.has_weights and self.gate.scope == "documents":
            text = "documents was asked for beside weights, which make panes even; give one of them"
            yield Problem(("gate", "scope"), text)
        for item in (each for each in self.repair.keep if "*" in each):
            for name in (part.strip() for part in item.split("*", 1)):
                if name not in self.attributes:
                    text = f"{item}: {name!r} is not measured; {', '.join(self.attributes)} are"
                    yield Problem(("repair", "keep"), text)
        for name, shares in self.repair.totals.items():
            total = math.fsum(shares.values())
            if total > 1 + self.repair.keep_within * max(len(shares), 1) + SHARES_TOLERANCE:
                text = f"the shares sum to {total:.9g}; 1 at most was expected"
                yield Problem(("repair", "totals", name), text)

    def thresholds(self, attribute: str) -> tuple[float, float] | tuple[None, None]:
        """Thresholds of warn and block for an attribute, its own or the gate's; None: none is set.

        Where block alone is set, warn is the same. Where warn alone is, DR cannot reach block.
        """
        own = self._own(attribute)
        warn = self.gate.warn if own.warn is None else own.warn
        block = self.gate.block if own.block is None else own.block
        if warn is None and block is None:
            return None, None
        if warn is None or (block is not None and own.warn is None and own.block is not None):
            warn = min(block or 0, 1 if warn is None else warn)
        return warn, 1.0 if block is None else block

    def mode(self, attribute: str) -> Mode:
        """How an attribute's text is repaired: by its own mode, or the general one.

        An attribute of which swapped copies are added (bias_score.mode) is in mode augment. One
        that only gets weights is in mode weight.
        """
        if self.swaps(attribute):
            return "augment"
        return (self._own(attribute).mode or self.repair.mode)[0]

    def weighs(self, attribute: str) -> bool:
        """Whether documents get weights for the sake of an attribute."""
        return "weight" in (self._own(attribute).mode or self.repair.mode)

    @property
    def has_weights(self) -> bool:
        """Whether documents get weights."""
        return any(map(self.weighs, self.attributes))

    def swaps(self, attribute: str) -> bool:
        """Whether copies with exchanged groups are added of documents with a high bias score."""
        return self.bias_score.mode == "augment" and self.bias_score.attribute == attribute

    def min_probability(self, attribute: str) -> float | None:
        """Least probability of being right that an attribute's exchanges need, if one is set."""
        own = self._own(attribute).min_probability
        every = self.repair.min_probability
        return every if own is None and not isinstance(every, str) else own

    def target_precision(self, attribute: str) -> float:
        """Share of an attribute's exchanges that are to be right."""
        own = self.repair.target_precision
        return own.get(attribute, PRECISION) if isinstance(own, dict) else own

    def action(self, attribute: str) -> Action:
        """What is done about stereotypes of an attribute's groups."""
        return self._own(attribute).stereotypes.action or self.stereotypes.action

    def stereotype_threshold(self, attribute: str) -> float:
        """Strength from which a stereotype of an attribute's groups is a strong one."""
        own = self._own(attribute).stereotypes.threshold
        return self.stereotypes.threshold if own is None else own

    def target(self, words: loader.WordList) -> list[float] | None:
        """Shares of an attribute's mentions that its groups should have.

        Returns:
            The configuration's shares, or else the list's, in the order of its groups (M,); None:
            equal shares.
        """
        own = self._own(words.attribute).target
        shares = words.population if own == "population" else own or words.target
        return [shares[group] for group in words.groups] if shares else None

    def word_list(self, attribute: str) -> loader.WordList:
        """The word list of a measured attribute.

        Raises:
            WordListError: The list cannot be read.
            PluginError: The plug-in that finds its mentions cannot be used.
        """
        own = self.attributes[attribute]
        if own.finder is not None:
            return found_by(attribute, own.finder)
        words = loader.load(own.wordlist or attribute)
        if not words.language:
            return words
        if self.measure.by_language:
            return replace(words, only=tuple(words.language.split()))
        among = self.measure.languages
        if among is not None and {"en", *words.language.split()}.issuperset(among):
            return words
        return replace(words, guess=tuple(among or ()))

    def word_lists(self) -> list[loader.WordList]:
        """The word lists of all measured attributes, in their order. Raises WordListError."""
        return [self.word_list(name) for name in self.attributes]

    def _own(self, attribute: str) -> AttributeSettings:
        """The settings of an attribute; the defaults if it has none."""
        return self.attributes.get(attribute, AttributeSettings())

    @property
    def has_sentence_table(self) -> bool:
        """Whether sentences are examined one by one, so that panes have a sentence table."""
        return self.changes_sentences or self.looks_for_stereotypes

    @property
    def changes_sentences(self) -> bool:
        """Whether sentences of some attribute may become counterfactuals."""
        return any(self.mode(name) in ("substitute", "augment") for name in self.attributes)

    @property
    def looks_for_stereotypes(self) -> bool:
        """Whether stereotypes of some attribute's groups are looked for."""
        return any(self.action(name) != "off" for name in self.attributes)
