"""Groups mentions of one person: chains of words that change together or not at all.

A pronoun refers to the nearest word for a person of its group, within three sentences. If a name of
that sex stands between, it refers to the named person instead. If one sentence has two people of
the group, both are joined. A set that is too large changes rightly or stays, but a set that is too
small leaves a person half changed. The method follows Lappin and Leass (1994), with recency alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.text import names

WINDOW = 3  # sentences back in which a pronoun's person is searched for
SAID_OF = re.compile(
    r"['’](?:s|re|m)\s"
    r"|\s*,?\s*\b(?:is|was|are|were|am|be|been|being|as|became|become|becomes|remains|remained)\b",
    re.IGNORECASE,
)
# Characters between a person and a noun that describes them: “she is a successful young actress”
LONGEST_SAID = 50
DEFINITE = re.compile(r"\b(?:the|this|that|these|those|said)\s+(?:[\w-]+\s+)?$", re.IGNORECASE)

SURNAME = re.compile(r"\.?\s+[A-Z][\w'’-]*")  # after a title

Chain = list[Item]


def find_chains(
    text: str,
    sentences: Sequence[tuple[int, int]],
    items: Sequence[Item],
    sexes: Mapping[str, str],
    caseless: bool,
) -> list[Chain]:
    """Group items to chains; each item is in one.

    Args:
        text: The document.
        sentences: (start, end) in order.
        items: Gendered words in the text's order.
        sexes: The sex (f, m) that the first names of a group's people have, by group.
        caseless: Whether the text is written without capitals.

    Returns:
        The chains, each in the text's order.
    """
    out: list[Chain] = []
    for group, sex in sexes.items():
        out += _Group(text, sentences, sex, caseless).find_chains(
            [item for item in items if item.group == group]
        )
    return out


class _Group:
    """Chains the items of one group."""

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], sex: str, caseless: bool):
        self._text, self._sentences, self._sex, self._caseless = text, sentences, sex, caseless

    def find_chains(self, items: Sequence[Item]) -> list[Chain]:
        """The chains of the group's items."""
        owner: dict[int, Chain] = {}
        recent: list[Item] = []  # persons so far: pronouns, singular nouns and titles
        for item in items:
            while recent and item.sentence - recent[0].sentence > WINDOW:
                del recent[0]
            before = [recent[-1]] if recent else []
            if item.kind == "pronoun":
                joined = self._antecedents(item, recent)
            elif item.kind == "noun" and before and self._is_said_of(before[0], item):
                joined = before
            elif item.kind in ("noun", "plural", "title"):
                joined = self._same(item, recent)
            else:
                joined = []
            chain = [item]
            for other in joined:
                if chain is not owner[id(other)]:
                    chain = (
                        owner[id(other)] + chain
                        if chain[0] is item
                        else _merge(owner[id(other)], chain)
                    )
                    for each in chain:
                        owner[id(each)] = chain
            owner[id(item)] = chain
            if item.kind in ("pronoun", "noun", "title", "plural"):
                recent.append(item)
        return list({id(chain): chain for chain in owner.values()}.values())

    def _antecedents(self, item: Item, recent: Sequence[Item]) -> list[Item]:
        """The nearest person that a pronoun refers to, and others of the group in that sentence."""
        singular = [each for each in recent if each.kind != "plural"]
        if not singular:
            return []
        nearest = singular[-1]
        starts = {each.start for each in singular if each.kind == "title"}
        at = self._sentences[nearest.sentence][0] if nearest.kind == "title" else nearest.end
        for name in names.find(self._text, at, item.start, self._caseless):
            if (
                name.sex in (self._sex, "e")
                and name.start not in starts
                and name.start >= nearest.start
            ):
                return []
        return [
            nearest,
            *(
                each
                for each in singular[:-1]
                if each.sentence == nearest.sentence and each.kind == "noun"
            ),
        ]

    def _is_said_of(self, person: Item, item: Item) -> bool:
        """Whether a noun describes a person before it: “she is a waitress”, “he was a waiter”."""
        between = self._text[person.end : item.start]
        return (
            person.sentence == item.sentence
            and person.kind != "plural"
            and len(between) <= LONGEST_SAID
            and SAID_OF.search(between) is not None
            and "," not in between.strip()
        )

    def _same(self, item: Item, recent: Sequence[Item]) -> list[Item]:
        """The same word before: “a man … the man”, “women … women”, “Mr. Lee … Mr. Lee”."""
        same = next((each for each in reversed(recent) if each.word == item.word), None)
        if item.kind == "title":
            surname = SURNAME.match(self._text, item.end)
            called = (
                [each for each in reversed(recent) if each.kind == "title"]
                if surname is not None
                else []
            )
            return [
                each
                for each in called
                if surname is not None and self._text.startswith(surname[0], each.end)
            ][:1]
        if same is None:
            return []
        definite = DEFINITE.search(self._text, max(0, item.start - 30), item.start) is not None
        return [same] if definite or item.kind == "plural" or item.sentence == same.sentence else []


def _merge(first: Chain, second: Chain) -> Chain:
    """The items of two chains in the text's order."""
    return sorted([*first, *second], key=lambda item: item.start)


def join_stories(text: str, items: Sequence[Item]) -> list[Chain]:
    """Group items of lists without pronouns to chains.

    A group's words in one sentence, or in neighbouring sentences of a line, are one story.

    Args:
        text: The document.
        items: Words of the groups, in the text's order.

    Returns:
        The chains, each in the text's order.
    """
    out: list[Chain] = []
    last: dict[str, Chain] = {}
    for item in items:
        chain = last.get(item.group)
        # A word that is no label (“mosque”) belongs to the faith named before it.
        reach = 2 if item.mention is None else 1
        if (
            chain is None
            or item.sentence - chain[-1].sentence > reach
            or "\n" in text[chain[-1].end : item.start]
        ):
            chain = last[item.group] = []
            out.append(chain)
        chain.append(item)
    return out
