"""What a knowledge base says of people and things: an extract in a file; no network is used.

After IntersectionRE, sections 3.1 and 3.4. An extract is

- a CSV file with the columns id and name. Every other column is a property. An entity may have
  several rows, one for each further value;
- Wikidata's JSON, one entity a line, as in its dumps: the preferred claims of a property, else its
  normal ones.

A property is both what an attribute is looked up in (gender) and a relation (employer). Nothing is
guessed: a name whose bearers differ in a property has no value there.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO, cast

import orjson

from evenflow.transforms.io.files import InputError
from evenflow.transforms.measures.coverage.columns import CSV

ID, NAME = "id", "name"
RANKS = ("preferred", "normal")  # Wikidata's; what is deprecated is left out
STEP = "/"  # between the properties of a path


@dataclass
class Entity:
    """An entity of the extract."""

    id: str
    names: dict[str, str] = field(default_factory=dict[str, str])
    claims: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @property
    def name(self) -> str:
        """Its first name; its id if it has none."""
        return next(iter(self.names), self.id)

    def add(self, name: str, value: str, place: str) -> None:
        """Add a value of a property, or a name."""
        own = self.names if name == NAME else self.claims.setdefault(name, {})
        own.setdefault(value, place)


@dataclass(frozen=True)
class Fact:
    """A relation between two entities, or an entity and a text.

    Attributes:
        object: The object's id, or a text.
        object_name: The object's name, or the same text.
        place: Where the extract says so, as "file:line".
    """

    subject: Entity
    relation: str
    object: str
    object_name: str
    place: str


class Knowledge:
    """An extract of a knowledge base.

    Args:
        properties: Paths of properties by the name that they go by here: `{"ancestry": "P27/P30"}`
            is the continent of the citizenship. A property without an entry goes by its own name.
    """

    def __init__(self, entities: Iterable[Entity], properties: Mapping[str, str] | None = None):
        self.entities = {each.id: each for each in entities}
        self._paths = {name: path.split(STEP) for name, path in (properties or {}).items()}

    @classmethod
    def read(cls, path: Path, properties: Mapping[str, str] | None = None) -> Knowledge:
        """Read an extract.

        Args:
            path: A CSV file, or JSON lines of Wikidata; either may be compressed by gzip.

        Raises:
            InputError: The file cannot be read as its kind.
        """
        rows = _csv if path.name.endswith(CSV) else _wikidata
        entities: dict[str, Entity] = {}
        try:
            with _opened(path) as lines:
                for identity, name, value, place in rows(lines, path.name):
                    entity = entities.setdefault(identity, Entity(identity))
                    if name:
                        entity.add(name, value, place)
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: no knowledge base: {error}") from error
        return cls(entities.values(), properties)

    def values(self, entity: Entity, name: str) -> dict[str, str]:
        """The values of an entity's property, by name, with where each is said.

        Returns:
            Names of entities, or texts; "file:line" of each.
        """
        places = {entity.id: ""}
        for step in self._paths.get(name, [name]):
            found: dict[str, str] = {}
            for one, before in places.items():
                known = self.entities.get(one)
                for value, place in (known.claims.get(step, {}) if known else {}).items():
                    found.setdefault(value, f"{before}, {place}" if before else place)
            places = found
        return {self.name(value): place for value, place in sorted(places.items())}

    def value(self, who: str, name: str) -> str | None:
        """Look up a property of whom an id or a name means.

        Args:
            who: An id, or else a name.

        Returns:
            Its value; None if it is not known, or if the extract has different ones.
        """
        bearers = [self.entities[who]] if who in self.entities else self._named.get(who, [])
        found = [self.values(each, name) for each in bearers]
        every = {value for each in found for value in each}
        return every.pop() if len(every) == 1 and all(found) else None

    @property
    def names(self) -> Iterable[str]:
        """The names of all entities."""
        return self._named

    def name(self, value: str) -> str:
        """The name of a claim's value: of an entity, or the text itself."""
        return self.entities[value].name if value in self.entities else value

    def is_property(self, name: str) -> bool:
        """Whether some entity has the property."""
        return self._paths.get(name, [name])[0] in self._properties

    def domain(self, name: str) -> frozenset[str]:
        """The values that a property has in the extract; contradictory ones do not count."""
        if name not in self._domains:
            found = (self.values(each, name) for each in self.entities.values())
            own = frozenset(value for each in found if len(each) == 1 for value in each)
            self._domains[name] = own
        return self._domains[name]

    def facts(self, relation: str) -> list[Fact]:
        """The facts of a relation, by subject and object.

        Args:
            relation: The property; of a path the first step.
        """
        step = self._paths.get(relation, [relation])[0]
        return [
            Fact(entity, relation, value, self.name(value), place)
            for _, entity in sorted(self.entities.items())
            for value, place in sorted(entity.claims.get(step, {}).items())
        ]

    def collect(
        self,
        relation: str,
        subject: Mapping[str, str],
        other: Mapping[str, str],
        known: Iterable[tuple[str, str]] = (),
        seed: str = "",
    ) -> Iterator[Fact]:
        """Collect facts whose entities have given values, each fact once.

        An entity whose values contradict each other has none. A subject comes again only after all
        others have come, so that a few well-known ones do not stand for their group.

        Args:
            subject: Values of the subject by property.
            other: Values of the object by property.
            known: Names of subjects and objects that are not wanted again.
        """
        seen, turns = set(known), Counter[str]()
        found: list[tuple[int, bytes, Fact]] = []
        drawn = [
            (hashlib.sha256(f"{seed}\0{each.subject.id}\0{each.object}".encode()).digest(), each)
            for each in self.facts(relation)
        ]
        for key, each in sorted(drawn, key=lambda pair: pair[0]):
            pair = each.subject.name, each.object_name
            if pair in seen or not self._fits(each.subject.name, subject):
                continue
            if not self._fits(each.object_name, other):
                continue
            seen.add(pair)
            found.append((turns[each.subject.id], key, each))
            turns[each.subject.id] += 1
        yield from (each for _, _, each in sorted(found, key=lambda one: one[:2]))

    def holds(self, subject: str, relation: str, other: str) -> bool:
        """Whether the extract has a fact, by the names of its subject and object."""
        return other in self._objects(relation).get(subject, ())

    def objects(self, relation: str) -> frozenset[str]:
        """The names of all objects of a relation."""
        return frozenset(name for each in self._objects(relation).values() for name in each)

    def contradictions(self, names: Sequence[str]) -> list[str]:
        """Where entities have several values of a property that should have one."""
        out: list[str] = []
        for identity, entity in sorted(self.entities.items()):
            known = {name: self.values(entity, name) for name in names} | {NAME: entity.names}
            for name, values in known.items():
                if len(values) > 1:
                    told = " and ".join(f"{value} ({place})" for value, place in values.items())
                    out.append(f"{identity} ({entity.name}): {name} is {told}")
        return out

    def _fits(self, who: str, values: Mapping[str, str]) -> bool:
        return all(self.value(who, name) == value for name, value in values.items())

    def _objects(self, relation: str) -> dict[str, set[str]]:
        """Names of objects by names of subjects."""
        if relation not in self._related:
            made: dict[str, set[str]] = defaultdict(set)
            for each in self.facts(relation):
                for name in each.subject.names or (each.subject.id,):
                    made[name].add(each.object_name)
            self._related[relation] = made
        return self._related[relation]

    @cached_property
    def _domains(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _related(self) -> dict[str, dict[str, set[str]]]:
        return {}

    @cached_property
    def _named(self) -> dict[str, list[Entity]]:
        """Entities by each of their names."""
        named: dict[str, list[Entity]] = defaultdict(list)
        for entity in self.entities.values():
            for name in entity.names:
                named[name].append(entity)
        return named

    @cached_property
    def _properties(self) -> frozenset[str]:
        return frozenset(name for each in self.entities.values() for name in each.claims)


def _opened(path: Path) -> TextIO:
    """A text file, decompressed."""
    if path.name.endswith(".gz"):
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8", newline=""))
    return path.open(encoding="utf-8", newline="")


def _csv(lines: TextIO, file: str) -> Iterator[tuple[str, str, str, str]]:
    """Id, property, value and place of each field that is not empty. Raises ValueError."""
    reader = csv.DictReader(lines, strict=True)
    if not {ID, NAME} <= set(reader.fieldnames or ()):
        raise ValueError("the columns id and name were expected")
    try:
        for row in reader:
            if None in row:
                raise ValueError(f"line {reader.line_num} has more fields than the first")
            identity = row.pop(ID)
            for name, value in row.items():
                if identity and value:
                    yield identity, name, value, f"{file}:{reader.line_num}"
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error


def _wikidata(lines: TextIO, file: str) -> Iterator[tuple[str, str, str, str]]:
    """Id, property, value and place of each claim; a dump's brackets and commas are skipped."""
    for number, line in enumerate(lines, 1):
        text = line.strip().rstrip(",")
        if text in ("", "[", "]"):
            continue
        data: Mapping[str, Any] = orjson.loads(text)
        place = f"{file}:{number}"
        labels: Mapping[str, Any] = data.get("labels") or {}
        label = next((labels[each] for each in ("en", "mul", *labels) if each in labels), None)
        # An entity without name and claims is one too
        yield data[ID], NAME if label else "", label["value"] if label else "", place
        for name, claims in (data.get("claims") or {}).items():
            for value in _ranked(claims):
                yield data[ID], name, value, place


def _ranked(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """The values of a property's claims of the best rank that there is."""
    for rank in RANKS:
        values = [
            value
            for claim in claims
            if claim.get("rank", "normal") == rank
            and (value := _value(claim["mainsnak"].get("datavalue", {}).get("value"))) is not None
        ]
        if values:
            return values
    return []


def _value(value: Any) -> str | None:
    """A claim's value: an entity's id, or a text; None for what is neither."""
    if isinstance(value, Mapping):
        given = cast(Mapping[str, Any], value)
        value = given.get(ID) or given.get("text") or given.get("time")
    return value if isinstance(value, str) else None
