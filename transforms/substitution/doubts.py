"""What is doubted of chains after all are made: whom a named person owns, who stands beside one, whose name is hidden.

A text without capitals does not show its names: where it may have some, only those change who come in as nobody named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from evenflow.transforms import english, people
from evenflow.transforms.substitution import comments, sets
from evenflow.transforms.substitution.binding import SURELY
from evenflow.transforms.substitution.chains import Chain
from evenflow.transforms.substitution.filmed import is_minor
from evenflow.transforms.substitution.introducing import is_own, may_be_the_same
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

LONG_CASELESS = 150  # characters of a text without capitals from which names may be hidden in it
LEFT = 0.4  # confidence that is left to whoever may be named
SPOUSES = english.words("spouses")
POSSESSED_NOUN = re.compile(r"\s+(?:(?!(?:and|or|but|to|of|in|on|for|with|that|who)\b)[\w'’-]+,?\s+){0,3}(?:\w+-)?$")
HAS_A = re.compile(r"\s*(?:['’]s got|has|had|has got)\s+an?\s+(?:(?!(?:and|or|but|to|of|that|who)\b)[\w'’-]+\s+){0,3}(?:\w+-)?$")
KIN = SPOUSES | {"sister", "brother", "daughter", "son", "mother", "father", "uncle", "aunt", "fiance", "fiancee"}


class Doubts:
    """The doubts of one text.

    sentences: (start, end) in order. words: of the sentences. sexes: group -> the sex of its people. of_work: whether it has
    no capitals and tells of a work. hidden: whether it has no capitals and may have names.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], words: WordSets, sexes: Mapping[str, str]):
        self._text = text
        self._sentences = sentences
        self._words = words
        self._sexes = sexes
        self._caseless = words.caseless
        long = self._caseless and len(text) > LONG_CASELESS
        self.of_work = long and words.of_work
        self.hidden = self.of_work or (long and people.may_name_somebody(words.whole))

    def lower(self, items: Sequence[Item], chains: list[Chain]) -> None:
        """Lower the confidence of the chains of all items, which are in the text's order; those of comments may be parted."""
        chain_of = {id(item): chain for chain in chains for item in chain.items}
        self._lower_possessed(items, chain_of)
        self._lower_beside_barred(items, chains, chain_of)
        if self.of_work:
            self._lower_of_work(chains)
        elif self.hidden:
            comments.settle(self._text, self._sentences, self._words, self._sexes, chains)

    def may_be_named(self, sentence: int, sex: str) -> bool:
        """Whether a sentence of a text without capitals, or one near it, may name somebody of a sex."""
        return self.of_work or comments.may_be_named(self._words, sentence, sex)

    def _lower_possessed(self, items: Sequence[Item], chain_of: dict[int, Chain]) -> None:
        """Lower the confidence of whom a barred pronoun possesses: «his wife», where he is named."""
        for first, second in pairwise(items):
            owner, owned = chain_of[id(first)], chain_of[id(second)]
            if first.kind != "pronoun" or second.kind not in ("noun", "plural") or owner.reason not in (sets.REFERS, sets.NAMED):
                continue
            if owned.weight <= LEFT:  # nothing below could lower it
                continue
            if POSSESSED_NOUN.fullmatch(self._text[first.end : second.start]):
                full = owner.weight <= SURELY and not self._caseless and second.word not in SPOUSES
                # Known people's kin is known too, and «Tom and his brother» are a pair.
                known = not people.KNOWN_SURNAMES.isdisjoint(self._words[second.sentence])
                full = full and not known and not self._text.endswith(" and ", 0, first.start)
                owned.lower(0.55 if full else LEFT, sets.REFERS)
            elif self.of_work and second.word in KIN and HAS_A.fullmatch(self._text[first.end : second.start]):
                owned.lower(LEFT, sets.REFERS)  # «she has a boyfriend», of a character with a name

    def _lower_beside_barred(self, items: Sequence[Item], chains: Sequence[Chain], chain_of: dict[int, Chain]) -> None:
        """Lower the confidence of nouns that may be the same person as a barred pronoun of their sentence.

        «her works … lady is …»; «Connery plays it like a man who …»; and, where much is told of a work, «her sister … two
        sisters».
        """
        barred: set[tuple[int, str]] = set()
        for chain in chains:
            if min(chain.weight, *(item.weight for item in chain.items), 1.0) < 0.5:
                barred |= {
                    (item.sentence, item.group) for item in chain.items if item.kind in ("pronoun", "title") and item.weight
                }
        for item in items:
            if item.kind not in ("noun", "plural") or (item.sentence, item.group) not in barred:
                continue
            if chain_of[id(item)].weight <= 0.45:
                continue
            if self.of_work or may_be_the_same(self._text, self._sentences[item.sentence][0], item):
                chain_of[id(item)].lower(0.45, sets.UNSURE)

    def _lower_of_work(self, chains: Sequence[Chain]) -> None:
        """Lower the confidence of whoever may be a character with a name, or the director."""
        for chain in chains:
            if chain.weight <= LEFT:
                continue
            own = {item.sentence for item in chain.items if is_own(self._text, self._sentences[item.sentence][0], item)}
            others = any(item.sentence not in own for item in chain.items)
            if others and not is_minor(self._sentences, chain.items, own):
                chain.lower(LEFT, sets.WORK)
