"""Writes the records of plans for one corpus: what `evenflow coverage plan --write` does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evenflow.prompts.loader import json_digest
from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import limits
from evenflow.transforms.lab.generation.checks import REASONS, Checker
from evenflow.transforms.lab.generation.items import (
    OBJECT,
    RELATION,
    SIDES,
    SUBJECT,
    Draft,
    Item,
    items,
)
from evenflow.transforms.lab.generation.likeness import likeness
from evenflow.transforms.lab.generation.limits import Limit
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter
from evenflow.transforms.lab.generation.writers import LlmWriter, Material
from evenflow.transforms.measures.coverage.gaps import words
from evenflow.transforms.measures.coverage.knowledge import Knowledge

BATCH = 64  # candidates that are asked for at once
SPENT = "the budget is spent"


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


@dataclass
class Generated:
    """What was written."""

    records: list[dict[str, Any]]
    asked: int
    rejected: dict[str, int]
    left: list[dict[str, Any]]


@dataclass(frozen=True)
class Marks:
    """What each record says of its making.

    `knowledge`: Tells where the values of entities are from; None: there are none.
    """

    plan: str
    text_name: str
    id_name: str
    knowledge: Knowledge | None = None


def generate(
    items: Sequence[Item], writer: LlmWriter, checker: Checker, tries: float, marks: Marks
) -> Generated:
    """Write the records of a plan."""
    out = Generated([], 0, {}, [])
    rejected = Counter[str]()
    for item in items:
        missing, budget = item.records, round(item.records * tries)
        refused: list[str] = []
        why = ""
        while missing and not why:
            if not budget:
                why = SPENT
                break
            wanted = writer.write(item, min(missing, budget, BATCH), refused)
            if not wanted:
                why = writer.material.ending(item)
            budget -= len(wanted)
            out.asked += len(wanted)
            for draft in wanted:
                kept, reason = checker.check(draft, item)
                if kept is not None:
                    missing -= 1
                    out.records.append(_record(kept, item, writer, marks, len(out.records)))
                    continue
                writer.material.give_back(draft.fact)
                reason = reason or ""
                rejected[reason] += 1
                if REASONS[reason] not in refused:
                    refused.append(REASONS[reason])
        if missing:
            out.left.append({"words": words(item.target), "records": missing, "why": why})
    out.rejected = {reason: rejected[reason] for reason in REASONS if rejected[reason]}
    return out


def _record(
    draft: Draft, item: Item, writer: LlmWriter, marks: Marks, number: int
) -> dict[str, Any]:
    """The record of an accepted candidate, marked as made."""
    record: dict[str, Any] = {
        marks.id_name: f"{marks.plan}-{number:06d}",
        marks.text_name: draft.text,
        **item.fields,
    }
    if draft.fact is not None:
        record |= {SUBJECT: draft.fact.subject.name, RELATION: draft.fact.relation}
        record[OBJECT] = draft.fact.object_name
        for side in SIDES:
            record[f"{side}_start"], record[f"{side}_end"] = draft.spans[side]
        record["provenance"] = _provenance(draft, item, marks)
    return record | {
        "synthetic": True,
        "model": writer.model,
        "prompt": writer.prompt,
        "plan": marks.plan,
        "template": draft.origin,
        "asked_for": dict(item.target),
        "checks": dict(draft.checks),
    }


def _provenance(draft: Draft, item: Item, marks: Marks) -> dict[str, str]:
    """Where the knowledge base has the fact, and the values that were asked for."""
    fact, knowledge = draft.fact, marks.knowledge
    if fact is None or knowledge is None:
        return {}
    out = {RELATION: fact.place}
    for side, identity in zip(SIDES, (fact.subject.id, fact.object), strict=True):
        if (entity := knowledge.entities.get(identity)) is not None:
            for name, value in item.sides[side].items():
                out[f"{side}.{name}"] = knowledge.values(entity, name).get(value, "")
    return out
