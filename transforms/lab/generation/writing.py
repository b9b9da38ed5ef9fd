"""Writes the records of plans for one corpus: what `evenflow coverage plan --write` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import limits
from evenflow.transforms.lab.generation.checks import Against, Checker
from evenflow.transforms.lab.generation.generate import Generated, Marks, generate, plan_id
from evenflow.transforms.lab.generation.items import items
from evenflow.transforms.lab.generation.likeness import likeness
from evenflow.transforms.lab.generation.limits import Limit
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter
from evenflow.transforms.lab.generation.writers import LlmWriter, Material
from evenflow.transforms.measures.coverage.knowledge import Knowledge

TRIES = 5  # candidates for each record


@dataclass(frozen=True)
class Written:
    """The records of a plan, with who wrote them.

    `prompt`: Digest of the prompt.
    """

    plan: str
    wanted: int
    model: str
    prompt: str
    result: Generated
    limits: Mapping[str, Mapping[str, object]]
    likeness: Mapping[str, Any] | None = None


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
        attributes: Sequence[str],
        knowledge: Knowledge | None,
        seed: int = 0,
        perplexity_model: str | None = None,
    ):
        self._config, self._knowledge, self._seed, self._items = config, knowledge, seed, 0
        self._counter = GroupCounter(config, attributes)
        self._corpus = Corpus.read(inputs, config, self._counter)
        self._perplexity_model = perplexity_model

    def write(
        self,
        plan: Mapping[str, Any],
        tries: float = TRIES,
        more: Mapping[str, str] | None = None,
    ) -> Written:
        """Write the records of a plan.

        `tries`: Most candidates for each record.
        """
        asked, others = items(plan, self._counter.named, self._knowledge, more, self._items)
        self._items += len(asked)
        identity = plan_id({"plan": dict(plan), "more": dict(more or {})})
        names = self._config.fields
        marks = Marks(identity, names.column, names.id, self._knowledge)
        done = generate(asked, self._writer, self._checker, tries, marks)
        done.left += others
        told = {each.reason: each.told for each in self._limits}
        wanted = sum(each.records for each in asked) + sum(each["records"] for each in others)
        like = likeness(
            [each.text for each in self._corpus.templates],
            [each[names.column] for each in done.records],
        )
        return Written(identity, wanted, self._writer.model, self._writer.prompt, done, told, like)

    @cached_property
    def _writer(self) -> LlmWriter:
        from evenflow.transforms.llm.worker import Tier

        material = Material(self._corpus, self._knowledge, self._seed)
        asker, model = Tier(self._config).client, self._config.llm.model
        return LlmWriter(material, self._counter, asker, model or "")

    @cached_property
    def _checker(self) -> Checker:
        against = Against(self._corpus, self._counter, self._knowledge, self._limits)
        return Checker(against)

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


def lines(written: Written) -> Iterator[bytes]:
    """The records as JSON lines."""
    return (orjson.dumps(each) + b"\n" for each in written.result.records)


def told(written: Written) -> dict[str, Any]:
    """What was written, without the records."""
    result = written.result
    return {
        "plan": written.plan,
        "model": written.model,
        "prompt": written.prompt,
        "wanted": written.wanted,
        "written": len(result.records),
        "asked": result.asked,
        "rejected": result.rejected,
        "left": result.left,
        "limits": written.limits,
        "likeness": written.likeness,
    }
