"""Writes the records of plans for one corpus: what `evenflow coverage generate` does."""

from __future__ import annotations

import functools
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
from evenflow.transforms.lab.generation.support import Impossible
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter
from evenflow.transforms.lab.generation.writers import LlmWriter, Material, TemplateWriter, Writer
from evenflow.transforms.measures.coverage.knowledge import Knowledge
from evenflow.transforms.measures.stereotypes.bar import StereotypeBar
from evenflow.transforms.substitution import reading

# Candidates for each record. Those of a model cost; of exchanged labels few are right
BY_MODEL, BY_TEMPLATES = 5, 100


@dataclass(frozen=True)
class Written:
    """The records of a plan, with who wrote them.

    Attributes:
        plan: Id of the plan.
        wanted: Number of records that the plan asks for.
        model: Who wrote.
        prompt: Digest of the prompt; None: there was none.
        result: What was written.
        limits: By reason what the texts were not to be besides.
        likeness: How like the corpus the texts are; None without a text.
    """

    plan: str
    wanted: int
    model: str
    prompt: str | None
    result: Generated
    limits: Mapping[str, Mapping[str, object]]
    likeness: Mapping[str, Any] | None = None


class Session:
    """Writes records in the style of one corpus. What one plan got, another does not get again.

    Args:
        inputs: The corpus: paths, folders or globs.
        config: The configuration; with a language model, that model writes.
        attributes: The attributes of the plans.
        knowledge: Facts and values of entities; None: there are none.
        seed: Draws the order.
        perplexity_model: A causal model within whose band of the corpus' perplexities a text has to
            be: a folder, or a name in the local cache; None: perplexity is not looked at.
        impossible: Combinations that no text may have.

    Raises:
        InputError: The corpus cannot be read.
        WordListError: A word list cannot be used.
    """

    def __init__(
        self,
        inputs: Sequence[str],
        config: Config,
        attributes: Sequence[str],
        knowledge: Knowledge | None,
        seed: int = 0,
        perplexity_model: str | None = None,
        impossible: Sequence[Impossible] = (),
    ):
        self._config, self._knowledge, self._seed, self._items = config, knowledge, seed, 0
        self._impossible = impossible
        self._counter = GroupCounter(config, attributes)
        self._corpus = Corpus.read(inputs, config, self._counter)
        self._perplexity_model = perplexity_model

    def write(
        self,
        plan: Mapping[str, Any],
        tries: float | None = None,
        more: Mapping[str, str] | None = None,
    ) -> Written:
        """Write the records of a plan.

        Args:
            plan: What `coverage.planned.planned` returned.
            tries: Most candidates for each record; None: BY_MODEL or BY_TEMPLATES.
            more: Values that all records have.

        Returns:
            What was written.

        Raises:
            PlanError: It is no plan.
            ModelError: A shipped model cannot be used.
            LanguageModelError: The model of perplexity cannot be used.
        """
        asked, others = items(
            plan, self._counter.named, self._knowledge, more, self._items, self._impossible
        )
        self._items += len(asked)
        identity = plan_id({"plan": dict(plan), "more": dict(more or {})})
        names = self._config.fields
        marks = Marks(identity, names.text, names.id, self._knowledge)
        usual = BY_TEMPLATES if self._writer.prompt is None else BY_MODEL
        done = generate(asked, self._writer, self._checker, tries or usual, marks)
        done.left += others
        told = {each.reason: each.told for each in self._limits}
        wanted = sum(each.records for each in asked) + sum(each["records"] for each in others)
        like = likeness(
            [each.text for each in self._corpus.templates],
            [each[names.text] for each in done.records],
        )
        return Written(identity, wanted, self._writer.model, self._writer.prompt, done, told, like)

    @cached_property
    def _writer(self) -> Writer:
        config, has_model = self._config, self._config.llm.url is not None
        material = Material(self._corpus, self._knowledge, self._seed, again=has_model)
        if not has_model:
            bar = StereotypeBar(config.word_lists())
            return TemplateWriter(
                material,
                self._counter,
                functools.partial(reading.strictness, config),
                reading.DocumentJudge.shipped(),
                bar,
            )
        from evenflow.transforms.llm.worker import Tier

        return LlmWriter(material, self._counter, Tier(config).client, config.llm.model or "")

    @cached_property
    def _checker(self) -> Checker:
        against = Against(
            self._corpus, self._counter, self._knowledge, self._limits, self._impossible
        )
        return Checker(against, self._writer.prompt is not None)

    @cached_property
    def _limits(self) -> list[Limit]:
        """The limits that the configuration asks for; of a language model's texts all of them."""
        config, has_model = self._config, self._writer.prompt is not None
        texts = [each.text for each in self._corpus.templates]
        found = [limits.agreement(self._counter.finder.lists)] if has_model else list[Limit]()
        if has_model:
            found += limits.by_heads()
        if has_model and not config.looks_for_stereotypes:
            flagged = config.stereotypes.model_copy(update={"policy": "flag"})
            config = config.model_copy(update={"stereotypes": flagged})
        if config.looks_for_stereotypes:
            found.append(limits.stereotype(config))
        if self._perplexity_model is not None:
            scorer, name = limits.by_model(self._perplexity_model)
            found.append(limits.perplexity(scorer, texts, name))
        return found


def lines(written: Written) -> Iterator[bytes]:
    """The records as JSON lines."""
    return (orjson.dumps(each) + b"\n" for each in written.result.records)


def told(written: Written) -> dict[str, Any]:
    """What was written, without the records.

    Returns:
        `plan`, `model`, `prompt`, `wanted`, `written`, `asked` (candidates), `rejected` by reason,
        `left` (what could not be written, and why), `limits` by reason, and `likeness`.
    """
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
