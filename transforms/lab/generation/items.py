"""What is asked for, and what is written: items of a plan, facts and drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenflow.schemas.config import Config
from evenflow.transforms.lab.coverage.additions import Needs
from evenflow.transforms.measures.coverage import lookup
from evenflow.transforms.measures.coverage.knowledge import Fact, Knowledge

SUBJECT, RELATION, OBJECT = "subject", "relation", "object"
SIDES = (SUBJECT, OBJECT)


@dataclass(frozen=True)
class Item:
    """Records of a plan that have the same values."""

    number: int
    records: int
    target: Mapping[str, str]
    groups: Mapping[str, str]
    sides: Mapping[str, Mapping[str, str]]
    fields: Mapping[str, str]

    @property
    def has_sides(self) -> bool:
        """Whether its records are triples of a subject, a relation and an object."""
        return any(self.sides.values()) or RELATION in self.fields


@dataclass(frozen=True)
class Draft:
    """A candidate for a record.

    `fact`: Subject, relation and object; None: the text has none. `evidence`: The words that state
    the relation, as the writer says; None: the template's.
    """

    text: str
    origin: str
    fact: Fact | None = None
    evidence: str | None = None
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    asked: Sequence[str] = ()
    checks: Mapping[str, float | bool] = field(default_factory=dict[str, float | bool])


def items(
    plan: Mapping[str, Any],
    named: Sequence[str],
    knowledge: Knowledge | None,
    more: Mapping[str, str] | None = None,
    first: int = 0,
) -> tuple[list[Item], list[dict[str, Any]]]:
    """Read the additions of a plan.

    `knowledge`: Knows the properties of subjects and objects; None: nothing is known of them.
    """
    made: list[Item] = []
    others: list[dict[str, Any]] = []
    for addition, told in zip(plan["additions"], plan["words"], strict=True):
        records, target = addition["records"], {**addition["target"], **(more or {})}
        of_text = (name for name in target if name.startswith(f"{lookup.TEXT}."))
        if any(name not in named for name in of_text):
            why = "values of names in a text are not written"
            others.append({"words": told, "records": records, "why": why})
            continue
        made.append(_item(first + len(made), records, target, named, knowledge))
    return made, others


def is_of_triple(attribute: str) -> bool:
    """Whether an attribute is a relation, or a property of its subject or object."""
    side, _, own = attribute.partition(".")
    return attribute == RELATION or (side in SIDES and bool(own))


def _item(
    number: int,
    records: int,
    target: Mapping[str, str],
    named: Sequence[str],
    knowledge: Knowledge | None,
) -> Item:
    """An addition, its values divided by where they stand."""
    groups: dict[str, str] = {}
    sides: dict[str, dict[str, str]] = {side: {} for side in SIDES}
    fields: dict[str, str] = {}
    for name, value in target.items():
        side, _, own = name.partition(".")
        if name in named:
            groups[name] = value
        elif side in SIDES and own and knowledge is not None:
            sides[side][own] = value
        else:
            fields[name] = value
    return Item(number, records, target, groups, sides, fields)


def needs_of(config: Config, of_text: bool) -> Needs:
    """What a record must have a value of, so that it can be written.

    A text names a group, and its fields are known. A triple has a relation or entities.
    """
    names = config.coverage.named()
    if not of_text:
        return Needs(one=list(filter(is_of_triple, names)) or names)
    fields = [
        name
        for name in names
        if name not in config.attributes and not lookup.is_of_text(name, config.coverage)
    ]
    return Needs(fields, [name for name in names if name in config.attributes])
