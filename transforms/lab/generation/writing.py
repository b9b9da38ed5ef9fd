"""Writes the records of plans for one corpus: what `evenflow coverage plan --write` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from evenflow.prompts.loader import json_digest
from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import limits
from evenflow.transforms.lab.generation.checks import Checker
from evenflow.transforms.lab.generation.generate import Marks, generate
from evenflow.transforms.lab.generation.items import items
from evenflow.transforms.lab.generation.likeness import likeness
from evenflow.transforms.lab.generation.limits import Limit
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter
from evenflow.transforms.lab.generation.writers import LlmWriter, Material
from evenflow.transforms.measures.coverage.knowledge import Knowledge


class Session:
    """Writes records in the style of one corpus. What one plan got, another does not get again.

    `knowledge`: Facts and values of entities; None: there are none. `perplexity_model`: A causal
    model within whose band of the corpus' perplexities a text has to be: a folder, or a name in the
    local cache; None: perplexity is not looked at.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        config: Config,
        knowledge: Knowledge | None,
        seed: int,
        perplexity_model: str | None,
    ):
        self._config, self._knowledge, self._seed, self._items = config, knowledge, seed, 0
        self._counter = GroupCounter(config, config.coverage.named())
        self._corpus = Corpus.read(inputs, config, self._counter)
        self._perplexity_model = perplexity_model

    def write(
        self, plan: Mapping[str, Any], tries: float, more: Mapping[str, str]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Write the records of a plan.

        `tries`: Most candidates for each record.

        Returns the records, and what is said of their making.
        """
        asked, others = items(plan, self._counter.named, self._knowledge, more, self._items)
        self._items += len(asked)
        identity = json_digest({"plan": dict(plan), "more": dict(more)}).hex()[:16]
        names = self._config.fields
        marks = Marks(identity, names.column, names.id, self._knowledge)
        done = generate(asked, self._writer, self._checker, tries, marks)
        done.left += others
        wanted = sum(each.records for each in asked) + sum(each["records"] for each in others)
        before = [each.text for each in self._corpus.templates]
        return done.records, {
            "plan": identity,
            "model": self._writer.model,
            "prompt": self._writer.prompt,
            "wanted": wanted,
            "written": len(done.records),
            "asked": done.asked,
            "rejected": done.rejected,
            "left": done.left,
            "limits": {each.reason: each.told for each in self._limits},
            "likeness": likeness(before, [each[names.column] for each in done.records]),
        }

    @cached_property
    def _writer(self) -> LlmWriter:
        from evenflow.transforms.llm.worker import Tier

        material = Material(self._corpus, self._knowledge, self._seed)
        asker, model = Tier(self._config).client, self._config.llm.model
        return LlmWriter(material, self._counter, asker, model or "")

    @cached_property
    def _checker(self) -> Checker:
        return Checker(self._corpus, self._counter, self._knowledge, self._limits)

    @cached_property
    def _limits(self) -> list[Limit]:
        """No stereotype, and with a model of perplexity a text like the corpus."""
        config = self._config
        if not config.looks_for_stereotypes:
            flagged = config.stereotypes.model_copy(update={"action": "flag"})
            config = config.model_copy(update={"stereotypes": flagged})
        found = [limits.stereotype(config)]
        if self._perplexity_model is not None:
            scorer, name = limits.by_model(self._perplexity_model)
            texts = [each.text for each in self._corpus.templates]
            found.append(limits.perplexity(scorer, texts, name))
        return found
