"""Groups mentions of one person: chains of words that change together or not at all.

A pronoun refers to the nearest word for a person of its group, within three sentences. If a name of
that sex stands between, it refers to the named person instead. If one sentence has two people of
the group, both are joined. In forum posts each line names other people: where the judge joins those
of several lines, a chain has one line. The method follows Lappin and Leass (1994), with recency
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.text import names

WINDOW = 3  # sentences back in which a pronoun's person is searched for
SAID_OF = re.compile(
    r"['’](?:s|re|m)\s"
    r"|\s*,?\s*\b(?:is|was|are|were|am|be|been|being|as|became|become|becomes|remains|remained)\b",
    re.IGNORECASE,
)
LONGEST_NAME = 200  # characters before a title that may belong to its name
# Characters between a person and a noun that describes them: “she is a successful young actress”
LONGEST_SAID = 50
DEFINITE = re.compile(r"\b(?:the|this|that|these|those|said)\s+(?:[\w-]+\s+)?$", re.IGNORECASE)

# After a title, without “’s”
SURNAME = re.compile(r"\.?\s+([A-Z][\w'’-]*?)(?:['’]s?)?(?![\w'’-])")

Chain = list[Item]
Spans = Sequence[tuple[int, int]]


def find_chains(
    text: str,
    sentences: Sequence[tuple[int, int]],
    items: Sequence[Item],
    sexes: Mapping[str, str],
    caseless: bool,
    by_line: bool,
) -> list[Chain]:
    """Group items to chains; each item is in one.

    `sexes`: The sex (f, m) that the first names of a group's people have, by group. `by_line`:
    Whether a chain has one line.
    """
    out: list[Chain] = []
    for group, sex in sexes.items():
        out += _Group(text, sentences, sex, caseless, by_line).find_chains(
            [item for item in items if item.group == group]
        )
    return out


class _Group:
    """Chains the items of one group, in time that grows with their number alone."""

    def __init__(self, text: str, sentences: Spans, sex: str, caseless: bool, by_line: bool):
        self._text, self._sentences, self._sex, self._caseless = text, sentences, sex, caseless
        gaps = (text[end:start] for (_, end), (start, _) in pairwise(sentences))
        self._lines = list(accumulate((by_line and "\n" in gap for gap in gaps), initial=0))
        self._last: Item | None = None  # the last person
        self._nearest: Item | None = None  # the last one that is no plural
        self._nouns: list[Item] = []  # nouns of its sentence; one for those that are joined
        self._by_word: dict[str, Item] = {}  # the last person of each word
        self._by_surname: dict[str, Item] = {}  # the last title of each surname

    def find_chains(self, items: Sequence[Item]) -> list[Chain]:
        """The chains of the group's items."""
        owner: dict[int, Chain] = {}
        for item in items:
            last = self._last
            if item.kind == "pronoun":
                joined = self._antecedents(item)
            elif item.kind == "noun" and last is not None and self._is_said_of(last, item):
                joined = [last]
            elif item.kind in ("noun", "plural", "title"):
                joined = self._same(item)
            else:
                joined = []
            chain: Chain = []
            for other in joined:
                found = owner[id(other)]
                if found is not chain:  # the smaller one goes into the larger one
                    small, chain = sorted((chain, found), key=len)
                    chain += small
                    owner.update((id(each), chain) for each in small)
            chain.append(item)
            owner[id(item)] = chain
            if item.kind in ("pronoun", "noun", "title", "plural"):
                self._add(item)
        chains = {id(chain): chain for chain in owner.values()}.values()
        return [sorted(chain, key=lambda item: item.start) for chain in chains]

    def _add(self, item: Item) -> None:
        """Keep a person for those that come after."""
        self._last = self._by_word[item.word] = item
        if item.kind == "title" and (surname := self._surname(item)):
            self._by_surname[surname] = item
        if item.kind != "plural":
            if self._nearest is None or self._nearest.sentence != item.sentence:
                self._nouns = []
            self._nearest = item
            if item.kind == "noun":
                self._nouns.append(item)

    def _antecedents(self, item: Item) -> list[Item]:
        """The nearest person that a pronoun refers to, and others of the group in that sentence."""
        nearest = self._nearest
        if nearest is None or not self._is_near(nearest, item):
            return []
        at = nearest.end
        if nearest.kind == "title":  # its own name is found whole only from before it
            at = max(self._sentences[nearest.sentence][0], nearest.start - LONGEST_NAME)
        for name in find_names(self._text, at, item.start, self._sex, self._caseless):
            titled = nearest.kind == "title" and name.start == nearest.start
            if name.start >= nearest.start and not titled:
                return []
        joined = [nearest, *(each for each in self._nouns if each is not nearest)]
        del self._nouns[1:]
        return joined

    def _is_said_of(self, person: Item, item: Item) -> bool:
        """Whether a noun describes a person before it: “she is a waitress”, “he was a waiter”.

        A pronoun without a label, as in “hes the kind of guy”, goes with its sentence's next noun.
        """
        if person.sentence != item.sentence or person.kind == "plural":
            return False
        if person.mention is None and person.kind == "pronoun":
            return True
        between = self._text[person.end : item.start]
        near = len(between) <= LONGEST_SAID and "," not in between.strip()
        return near and SAID_OF.search(between) is not None

    def _same(self, item: Item) -> list[Item]:
        """The same word before: “a man … the man”, “women … women”, “Mr. Lee … Mr. Lee”."""
        if item.kind == "title":
            titled = self._by_surname.get(self._surname(item))
            return [titled] if titled is not None and self._is_near(titled, item) else []
        same = self._by_word.get(item.word)
        if same is None or not self._is_near(same, item):
            return []
        definite = is_definite(self._text, item)
        return [same] if definite or item.kind == "plural" or item.sentence == same.sentence else []

    def _is_near(self, person: Item, item: Item) -> bool:
        """Whether a person stands near enough for an item to refer to it."""
        near = item.sentence - person.sentence <= WINDOW
        return near and self._lines[person.sentence] == self._lines[item.sentence]

    def _surname(self, title: Item) -> str:
        """The name behind a title, empty where there is none."""
        match = SURNAME.match(self._text, title.end)
        return match[1] if match else ""


def is_definite(text: str, item: Item) -> bool:
    """Whether “the” or the like stands before a word."""
    return DEFINITE.search(text, max(0, item.start - 30), item.start) is not None


def find_names(
    text: str, start: int, end: int, sex: str, caseless: bool = False
) -> Iterator[names.NameSpan]:
    """Find the names in text[start:end] that people of a sex (f, m) may have; see `names.find`."""
    return (each for each in names.find(text, start, end, caseless) if each.sex in (sex, "e"))


def join_stories(text: str, items: Sequence[Item]) -> list[Chain]:
    """Group items of lists without pronouns to chains.

    A group's words in one sentence, or in neighbouring sentences of a line, are one story.
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
