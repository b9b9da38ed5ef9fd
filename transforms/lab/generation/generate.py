"""Writes the records of a plan: candidates, checks, and others for those that are rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.lab.generation.checks import REASONS, Checker
from evenflow.transforms.lab.generation.items import OBJECT, RELATION, SIDES, SUBJECT, Draft, Item
from evenflow.transforms.lab.generation.writers import LlmWriter
from evenflow.transforms.measures.coverage.gaps import words
from evenflow.transforms.measures.coverage.knowledge import Knowledge

BATCH = 64  # candidates that are asked for at once
SPENT = "the budget is spent"


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
