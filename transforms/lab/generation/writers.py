"""Has a language model write candidates, in the style of the corpus' sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice

from evenflow.prompts import loader
from evenflow.transforms.lab.generation.items import OBJECT, RELATION, SIDES, SUBJECT, Draft, Item
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter, Template
from evenflow.transforms.llm.questions import Asker, Question
from evenflow.transforms.measures.coverage.knowledge import Fact, Knowledge
from evenflow.transforms.substitution import roles
from evenflow.transforms.substitution.base_cda import draw

PROMPT = "generation"
NO_TEMPLATE = "no further sentence of the corpus has its form"
NO_FACT = "the knowledge base has no further fact for it"
NO_KNOWLEDGE = "subject and object need a knowledge base"


class Material:
    """Templates with facts for items. A fact is used once, a sentence once for an item.

    `knowledge`: The facts; None: there are none.
    """

    def __init__(self, corpus: Corpus, knowledge: Knowledge | None, seed: int):
        self.corpus, self._knowledge, self._seed = corpus, knowledge, seed
        self._under_way: dict[int, Iterator[tuple[Template, Fact | None]]] = {}
        self._passes = Counter[int]()
        self._ended: dict[int, str] = {}
        # What the corpus states needs no stating again
        self._used = {
            (
                each.text[slice(*each.spans[SUBJECT])],
                each.relation,
                each.text[slice(*each.spans[OBJECT])],
            )
            for each in corpus.templates
            if each.spans
        }

    def next(self, item: Item, number: int) -> list[tuple[Template, Fact | None]]:
        """The next templates for an item, at most so many."""
        taken: list[tuple[Template, Fact | None]] = []
        for _ in range(2):
            if item.number not in self._under_way:
                self._under_way[item.number] = self._pairs(item)
            taken = list(islice(self._under_way[item.number], number))
            if taken:
                break
            del self._under_way[item.number]
        return taken

    def give_back(self, fact: Fact | None) -> None:
        """Let a fact be used after all, with another template."""
        if fact is not None:
            self._used.discard(_key(fact))

    def ending(self, item: Item) -> str:
        """Why there is no more for an item."""
        return self._ended.get(item.number, "")

    def _pairs(self, item: Item) -> Iterator[tuple[Template, Fact | None]]:
        templates = self.corpus.fitting(item, self._seed)
        self._passes[item.number] += 1
        if not item.has_sides or not templates:
            self._ended[item.number] = NO_TEMPLATE
            yield from ((each, None) for each in templates)
        elif self._knowledge is None:
            self._ended[item.number] = NO_KNOWLEDGE
        else:
            self._ended[item.number] = NO_FACT
            yield from self._with_facts(item, templates, self._knowledge)

    def _with_facts(
        self, item: Item, templates: Sequence[Template], knowledge: Knowledge
    ) -> Iterator[tuple[Template, Fact]]:
        """Templates with the facts of their relation, the relations in turn."""
        by_relation: dict[str, list[Template]] = {}
        for each in templates:
            by_relation.setdefault(str(each.relation), []).append(each)
        facts = {
            relation: knowledge.collect(
                relation, item.sides[SUBJECT], item.sides[OBJECT], seed=str(self._seed)
            )
            for relation in by_relation
        }
        turn = self._passes[item.number]
        while facts:
            for relation in list(facts):
                fact = next(
                    (each for each in facts[relation] if _key(each) not in self._used), None
                )
                if fact is None:
                    del facts[relation]
                    continue
                self._used.add(_key(fact))
                own = by_relation[relation]
                yield own[turn % len(own)], fact
            turn += 1


class LlmWriter:
    """Asks for sentences, and reads the answers.

    Attributes:
        prompt: Digest of the prompt.
    """

    def __init__(self, material: Material, counter: GroupCounter, asker: Asker, model: str):
        self.material, self._counter, self._asker = material, counter, asker
        self.model = model
        self._template = loader.load(PROMPT)
        self.prompt = self._template.digest

    def write(self, item: Item, number: int, refused: Sequence[str]) -> list[Draft]:
        """Write candidates.

        Args:
            refused: Why earlier ones were rejected.

        Returns:
            At most that many, without a text where there was no answer. None at all: there will be
            no more.
        """
        pairs = self.material.next(item, number)
        words = [self._words(item, template) for template, _ in pairs]
        questions = [
            Question.of(
                self._template,
                template.text,
                {
                    SUBJECT: names(fact)[SUBJECT] if fact else "",
                    RELATION: fact.relation if fact else "",
                    OBJECT: names(fact)[OBJECT] if fact else "",
                    "words": own,
                    "refused": list(refused),
                },
            )
            for (template, fact), own in zip(pairs, words, strict=True)
        ]
        return [
            Draft(
                answer.value["text"] if answer.value else "",
                template.origin,
                fact,
                (answer.value["relation"] or "") if answer.value else "",
                asked=own,
            )
            for (template, fact), own, answer in zip(
                pairs, words, self._asker.ask(questions), strict=True
            )
        ]

    def _words(self, item: Item, template: Template) -> list[str]:
        """A noun of each group, drawn; from those of the corpus if it has some."""
        out: list[str] = []
        wanted = {} if item.has_sides else self._counter.wanted(item, template)
        for name, group in wanted.items():
            labels = self._labels[name, group]
            out.append(labels[draw(template.text, len(out), len(labels))])
        return out

    @cached_property
    def _labels(self) -> dict[tuple[str, str], list[str]]:
        finder = self._counter.finder
        seen = {
            each.label
            for template in self.material.corpus.templates
            for each in finder.find(template.text)
        }
        made: dict[tuple[str, str], list[str]] = {}
        for words in finder.lists:
            forms = roles.of(words).by_word
            for number, group in enumerate(words.groups):
                every = [label for label, at in words.labels.items() if at == number]
                # “her” is a label, and no word to ask a sentence about
                nouns = [
                    each
                    for each in every
                    if any(role.part == roles.NOUN for role in forms.get(each.casefold(), ()))
                ]
                own = nouns or every
                made[words.attribute, group] = [each for each in own if each in seen] or own
        return made


def names(fact: Fact) -> dict[str, str]:
    """The names of a fact's subject and object."""
    return dict(zip(SIDES, (fact.subject.name, fact.object_name), strict=True))


def _key(fact: Fact) -> tuple[str, str | None, str]:
    """What makes two facts the same."""
    return fact.subject.name, fact.relation, fact.object_name
