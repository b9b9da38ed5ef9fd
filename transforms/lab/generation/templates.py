"""Templates: sentences of the corpus that name groups, or that state a relation.

A record of the corpus with the fields subject, relation and object is a template of its relation,
if its text has both names once. Any other text gives those of its sentences that name groups.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import orjson

from evenflow.schemas.config import Config
from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.transforms.io import documents
from evenflow.transforms.io.records import Documents
from evenflow.transforms.lab.generation.items import OBJECT, RELATION, SUBJECT, Item
from evenflow.transforms.lab.generation.support import WORD
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.labels.searched import by_sentence, sentence_starts
from evenflow.transforms.measures.coverage.named import Intersections, field_values
from evenflow.transforms.text.sentences import trimmed

LONGEST = 400  # characters of a template; longer ones are rarely one statement
MOST = 100_000  # templates that are kept, and compared with what is written
Span = tuple[int, int]


@dataclass(frozen=True)
class Template:
    """A sentence of the corpus.

    `relation`: The relation that it states; None: none is known.
    """

    text: str
    origin: str
    groups: Mapping[str, frozenset[str]]
    fields: Mapping[str, frozenset[str]]
    relation: str | None = None
    spans: Mapping[str, Span] | None = None

    @property
    def masked(self) -> str:
        """The text without the names of its subject and object."""
        return without(self.text, self.spans or {}, instead="_")


class GroupCounter:
    """Counts the groups that a text names, as the gate does for coverage."""

    def __init__(self, config: Config, attributes: Sequence[str]):
        lists = config.word_lists()
        named = [each for each in attributes if each in config.attributes]
        self.named = tuple(named)
        self.fields = tuple(each for each in attributes if each not in named)
        self.finder = LabelFinder(lists)
        settings = CoverageSettings(tau=1, attributes=named or None, unit=config.coverage.unit)
        self._intersections = Intersections(settings, lists)

    def records(self, text: str) -> list[dict[str, list[str]]]:
        """The records of a text: by attribute the groups that each names."""
        found = self.finder.find_all(text)
        starts = sentence_starts(text, found)
        counted = self._intersections.count({}, 0, [text], np.zeros(1, np.int64), found, starts)
        return [
            dict(zip(self._intersections.attributes, orjson.loads(key), strict=True))
            for key, number in counted["records"].items()
            for _ in range(number)
        ]

    def wanted(self, item: Item, template: Template) -> dict[str, str]:
        """The groups that a text for an item names."""
        if item.groups:
            return dict(item.groups)
        every = {each.attribute: each.groups for each in self.finder.lists}
        out: dict[str, str] = {}
        for name, (group,) in template.groups.items():
            other = (every[name].index(group) + 1) % len(every[name])
            out[name] = every[name][other]
        return out


class Corpus:
    """The templates of files."""

    def __init__(self, templates: Iterable[Template]):
        self.templates = list(islice(templates, MOST))

    @classmethod
    def read(cls, inputs: Sequence[str], config: Config, counter: GroupCounter) -> Corpus:
        """Read the templates of files."""
        blocks = documents.read(inputs, config, keep_fields=True)
        return cls(each for block in blocks for each in _templates(block, counter))

    def fitting(self, item: Item, seed: int) -> list[Template]:
        """The templates that an item's records can follow, in an order that is drawn."""
        if item.has_sides:
            relation = item.fields.get(RELATION)
            own = (
                each
                for each in self.templates
                if each.relation is not None and relation in (None, each.relation)
            )
        else:
            own = (
                each
                for each in self.templates
                if _names(each, item) or (item.groups and each.groups)
            )
        fields = {name: value for name, value in item.fields.items() if name != RELATION}
        own = (
            each
            for each in own
            if all(value in each.fields.get(name, ()) for name, value in fields.items())
        )
        keyed = [
            (
                not _names(each, item),
                hashlib.sha256(f"{seed}\0{item.number}\0{each.text}".encode()).digest(),
                each,
            )
            for each in own
        ]
        return [each for _, _, each in sorted(keyed, key=lambda one: one[:2])]

    def cues(self) -> dict[str, frozenset[str]]:
        """By relation the words that are more common in its sentences than in those of others."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        sizes = Counter[str]()
        for each in self.templates:
            if each.relation is not None:
                sizes[each.relation] += 1
                counts[each.relation].update(
                    {word.casefold() for word in WORD.findall(each.masked)}
                )
        every = sum(counts.values(), Counter[str]())
        total = sizes.total()
        return {
            relation: frozenset(
                word
                for word, number in own.items()
                if number > 1
                and number * (total - sizes[relation])
                >= 2 * (every[word] - number) * sizes[relation]
            )
            for relation, own in counts.items()
        }


def name_spans(text: str, named: Mapping[str, str]) -> dict[str, Span] | None:
    """Where the subject and the object are; None if one is not there once, or they overlap."""
    spans: dict[str, Span] = {}
    for side, name in named.items():
        found = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)) if name else []
        if len(found) != 1:
            return None
        spans[side] = found[0].span()
    first, second = sorted(spans.values())
    return spans if first[1] <= second[0] else None


def without(text: str, spans: Mapping[str, Span], instead: str = " ") -> str:
    """A text without its names."""
    for start, end in sorted(spans.values(), reverse=True):
        text = text[:start] + instead + text[end:]
    return text


def _names(template: Template, item: Item) -> bool:
    """Whether a sentence names one group of each attribute.

    An item without groups takes any sentence that names one.
    """
    asked = item.groups or template.groups
    return bool(asked) and all(len(template.groups.get(name, ())) == 1 for name in asked)


def _templates(found: Documents, counter: GroupCounter) -> Iterator[Template]:
    """The templates of documents."""
    columns = {each.name: (each, values) for each, values in found.fields.items()}
    triple = [columns[name][1] if name in columns else None for name in (SUBJECT, RELATION, OBJECT)]
    asked = {name: columns[name] for name in counter.fields if name in columns}
    for number, (identity, text) in enumerate(zip(found.ids, found.texts, strict=True)):
        fields = {
            name: frozenset(field_values(own[number].as_py(), field))
            for name, (field, own) in asked.items()
        }
        values = [None if each is None else each[number].as_py() for each in triple]
        if all(isinstance(each, str) and each for each in values):
            subject, relation, other = map(str, values)
            spans = name_spans(text, {SUBJECT: subject, OBJECT: other})
            if len(text) <= LONGEST and spans is not None:
                yield Template(text, identity, {}, fields, relation, spans)
            continue
        every = counter.finder.find_all(text)
        mentions = counter.finder.named(every)
        sentences = trimmed(text, sentence_starts(text, every).tolist())
        named = by_sentence(sentences, mentions)
        for place, (start, end) in enumerate(sentences):
            own = text[start:end]
            if end - start > LONGEST or "\n" in own:
                continue
            if place in named:
                groups = {
                    name: frozenset(each.group for each in found)
                    for name, found in named[place].items()
                }
                yield Template(own, identity, groups, fields)
