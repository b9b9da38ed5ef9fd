"""Items of lists that have “she” and “he” among their labels, with their replacements."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.substitution import agreement, base_cda, persons, sets
from evenflow.transforms.substitution.persons import Chain
from evenflow.transforms.substitution.roles import Companions, RoleMap
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.text import english, pronouns
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

SMALL_SHARE = 0.002  # share of capitals among letters at which a text is written without them
HEAD = 4000  # characters read to decide that
NAMED_BEFORE = 4000  # characters before a noun in which a name may be its person's
NO_CAPITAL = bytes(code for code in range(256) if not chr(code).isupper() or code > 127)
NO_LETTER = bytes(code for code in range(256) if not chr(code).isalpha() or code > 127)


def is_gendered(words: WordList) -> bool:
    """Whether a list has two groups, with “she” and “he” in different ones."""
    return len(words.groups) == 2 and words.labels.get("she", 0) != words.labels.get("he", 0)


def is_caseless(text: str) -> bool:
    """Whether a text is written without capitals or all in capitals, as its beginning shows."""
    head = text[:HEAD].encode("ascii", "ignore")
    capitals = len(head.translate(None, NO_CAPITAL))
    letters = len(head.translate(None, NO_LETTER)) or 1
    return not SMALL_SHARE * letters < capitals <= letters / 2


class Gendered:
    """Finds the items of a list that has pronouns.

    Args:
        roles: Its role map, which may be empty.
        draws: Whether one of several words that are as good is drawn; see `Substituter`.
        by_line: Whether a chain has one line; see `Substituter`.
    """

    def __init__(self, words: WordList, roles: RoleMap, draws: bool = False, by_line: bool = False):
        self.words, self.roles = words, roles
        self._draws, self._by_line = draws, by_line
        self.female = words.groups[words.labels["she"]]
        self.male = words.groups[words.labels["he"]]
        self._sexes = {self.female: "f", self.male: "m"}
        self._pair: dict[str, str] = {}
        for label in words.labels:
            key = spelling.fold(label)
            others = words.counterparts.get(label, ())
            other = roles.prefer[key] if key in roles.prefer else others[0] if others else ""
            self._pair[key] = "" if spelling.fold(other) == key else other
        self._words = {label: spelling.fold(label) for label in words.labels}
        self._companion = Companions(roles)

    def find_chains(
        self, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention]
    ) -> list[Chain]:
        """Find the items of a text and group those of one person.

        Pronouns have no replacements yet, see `replace_pronoun`.

        Args:
            sentences: (start, end) in order.

        Returns:
            Chains of items that change together.
        """
        items = sets.place_mentions(sentences, mentions, self._words)
        near: set[int] = set()
        for item in items:
            item.kind = kind_of(item.word)
            # “The saleswoman showed us two. She …”, and “… The saleswoman left.”
            near.update(range(item.sentence - 1, item.sentence + 1 + persons.WINDOW))
        places = sorted(place for place in near if 0 <= place < len(sentences))
        beside = list(self._companion.find_beside(text, sentences, places, items))
        for item, role in beside:
            item.kind = "adjective" if role.part == "adjective" else kind_of(item.word)
            items.append(item)
        if beside:
            items.sort(key=lambda item: item.start)
        number = base_cda.draw_for(text) if items and self._draws else 0
        for item in items:
            if item.kind != "pronoun":
                self._replace(text, item, number)
        refuse_pairs(text, items, self._pair)
        refuse_taken(text, items)
        caseless = is_caseless(text)
        chains = persons.find_chains(text, sentences, items, self._sexes, caseless, self._by_line)
        if beside:
            refuse_halves(text, chains)
        for chain in chains:
            refuse_named(text, chain, self._sexes[chain[0].group], caseless)
        return chains

    def other_group(self, group: str) -> str:
        """The other group of the two."""
        return self.male if group == self.female else self.female

    def replace_pronoun(self, text: str, item: Item) -> None:
        """Set a pronoun's replacement, which depends on the words around it."""
        word, _ = pronouns.find_counterpart(text, item.start, item.end, item.word)
        original = text[item.start : item.end]
        item.replacements[self.other_group(item.group)] = agreement.recase(
            original, original.lower(), word
        )

    def _replace(self, text: str, item: Item, number: int) -> None:
        """Set the replacement of a word that is no pronoun.

        Where its pair is one of several words of a role that are as good, a number chooses.
        """
        original = text[item.start : item.end]
        label = item.word if item.mention is None else self._words[item.mention.label]
        word = self._pair.get(label) or ""
        other = self.other_group(item.group)
        for role in self.roles.by_word.get(label, ())[:1]:
            if not word or word in role.put_in.get(other, ()):
                word = role.target(other, number) or ""
        if not word:
            item.refuse(sets.NO_COUNTERPART)
            return
        item.replacements[other] = agreement.recase(original, original.lower(), word)


TITLES = frozenset(("mr", "mrs", "ms"))
ADJECTIVES = frozenset(("female", "male", "feminine", "masculine"))
ABSTRACT = english.words("abstract")
# Words that are singular though they end in s
SINGULAR_S = frozenset(("alumnus", "sis", "mrs", "ms", "hers", "his"))
PLURALS = frozenset(("men", "women", "alumni", "alumnae"))
IN_LAWS = re.compile(r"\w+s-in-law")


@lru_cache(1 << 12)
def kind_of(word: str) -> str:
    """Find the kind of a label, as `sets.Item` has it."""
    if word in pronouns.PRONOUNS:
        return "pronoun"
    if word in TITLES:
        return "title"
    if word in ADJECTIVES:
        return "adjective"
    if word in ABSTRACT:
        return "other"
    last = word.split(" ")[-1]
    if word in SINGULAR_S or last.endswith("ss"):
        return "noun"
    if last in PLURALS or last.endswith(("men", "s")) or IN_LAWS.match(last):
        return "plural"
    return "noun"


def refuse_halves(text: str, chains: Sequence[Chain]) -> None:
    """Refuse a person that a noun without a label names, where the text has the noun elsewhere too.

    “A saleswoman met us. … The saleswoman left.”: only words near a label are found, so the same
    person would change here and stay there.
    """

    @cache
    def count(word: str) -> int:
        return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))

    for chain in chains:
        words = [text[item.start : item.end].lower() for item in chain]
        own = Counter(words)
        for item, word in zip(chain, words, strict=True):
            if item.mention is None and item.kind == "noun" and count(word) > own[word]:
                item.refuse(sets.HALF)


def refuse_named(text: str, chain: Chain, sex: str, caseless: bool) -> None:
    """Refuse a person whom “the” and a noun bring in, where a name before may be that person's.

    “Walter Prescott called. … The policeman left.”: a judge hardly sees a name some sentences back.
    """
    first, end = chain[0], chain[0].start
    if first.kind == "noun" and persons.is_definite(text, first):
        before = persons.find_names(text, max(0, end - NAMED_BEFORE), end, sex, caseless)
        if next(before, None) is not None:
            first.refuse(sets.NAMED)


SOLE = english.words("sole_kin")  # of whom one has one
SPEAKS = re.compile(r"(?<!\n)\n(?!\n)")  # behind a single line break somebody else speaks
OWNERS = "my|your|his|her|our|their"
OWNER = re.compile(rf"(?<![\w'’-])(?:{OWNERS}) $", re.IGNORECASE)
BETWEEN = rf"(?:(?!(?:{OWNERS}|and|or|step)\b)[\w-]+,? ){{0,3}}"  # “my dear old dad”


def refuse_taken(text: str, items: Sequence[Item]) -> None:
    """Refuse kin whose counterpart the text names too: “My mom called. … My dad was out.”.

    A child who has a mother and a father would have two fathers.
    """

    @cache
    def names(begin: int, end: int, owner: str, other: str) -> bool:
        taken = rf"(?<![\w'’-]){owner}{BETWEEN}{re.escape(other)}(?![\w-]| in law)"
        return re.compile(taken, re.IGNORECASE).search(text, begin, end) is not None

    kin = [item for item in items if item.word in SOLE]
    edges = [0, *(each.start() for each in SPEAKS.finditer(text)), len(text)] if kin else []
    for item in kin:
        if owner := OWNER.search(text, max(0, item.start - 7), item.start):
            at = bisect_right(edges, item.start)
            for other in item.replacements.values():
                if names(edges[at - 1], edges[at], owner[0].lower(), other.lower()):
                    item.refuse(sets.EVEN)


LONGEST = 40  # characters between two linked words
COORDINATED = re.compile(
    r"\.?\s*(?:(?:,|\()?\s*(?:and/or|and|or|nor|&|\+|vs\.?|versus)\s+|\s?/\s?|,\s*)"
    r"(?:[\w%'-]+\s+){0,2}",
    re.IGNORECASE,
)
# Linked words of one of these kinds are a pair, also with different roles.
KINDS = ("pronoun", "plural", "title")


def refuse_pairs(text: str, items: Sequence[Item], pair: Mapping[str, str]) -> None:
    """Refuse the words that name both sides together."""
    for first, second in pairwise(items):
        near = first.group != second.group and first.sentence == second.sentence
        if not near or second.start - first.end > LONGEST:
            continue
        counterparts = (
            (first.kind == second.kind and first.kind in KINDS)
            or spelling.fold(pair.get(first.word, "")) == second.word
            or spelling.fold(pair.get(second.word, "")) == first.word
        )
        if counterparts and COORDINATED.fullmatch(text, first.end, second.start) is not None:
            first.refuse(sets.EVEN)
            second.refuse(sets.EVEN)
