"""Counterfactuals: what a document would say with one group's words exchanged for another's.

Two methods. `gc`, grammar and context aware (main paper, 4.2.4, GC-CDA), with embedded rules and a small model in the place
of the LLM: forms that fit the sentence, persons that keep together over sentences, and much that is left alone. `base`
(BaseCDA, the same section) exchanges every label for one of the other group, and only tells her from his and him.

    text -> mentions -> items (gendered.py, bygroup.py) -> barring.py -> chains (coreference.py) -> sets with edits
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from evenflow.transforms.labels import LabelFinder, Mention, uncut
from evenflow.transforms.sentences import bounds, trimmed
from evenflow.transforms.substitution import agreement, barring, base_cda, gendered, pronouns, roles, sets
from evenflow.transforms.substitution.bygroup import ByGroup
from evenflow.transforms.substitution.chains import Chain, of_one_story
from evenflow.transforms.substitution.choosing import Choosing, key_of
from evenflow.transforms.substitution.coreference import Resolver
from evenflow.transforms.substitution.gendered import Gendered
from evenflow.transforms.substitution.judges import Embedded, Judge
from evenflow.transforms.substitution.sets import Bar, Edit, Item, Set, apply
from evenflow.transforms.substitution.wordsets import WordSets
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

Method = Literal["gc", "base"]
STRICTNESS = 0.5  # the least confidence that is applied by default


@dataclass(frozen=True)
class Rewritten:
    """A text with every eligible set exchanged: the edits of the original, and all sets, barred ones too."""

    text: str
    edits: tuple[Edit, ...]
    sets: tuple[Set, ...]


class Substituter:
    """Proposes substitutions of one attribute in documents.

    lists: word lists, the attribute's among them. method: gc or base. strictness: the least confidence (0 to 1) that
    `eligible` lets pass; a set of confidence 0 never passes. Raises ValueError, and roles.RoleMapError for a role map that
    cannot be read.
    """

    def __init__(
        self,
        lists: Sequence[WordList],
        attribute: str,
        method: Method = "gc",
        strictness: float = STRICTNESS,
        judge: Judge | None = None,
    ):
        names = [words.attribute for words in lists]
        if attribute not in names:
            raise ValueError(f"attribute {attribute!r}: no list has it; there are {', '.join(names)}")
        if method not in ("gc", "base"):
            raise ValueError(f"method {method!r}: gc or base was expected")
        if not 0 <= strictness <= 1:
            raise ValueError(f"strictness {strictness!r}: a number from 0 to 1 was expected")
        self.words = lists[names.index(attribute)]
        self.attribute = attribute
        self.method = method
        self.strictness = strictness
        self._embedded = Embedded()
        self.judge: Judge = judge or self._embedded
        self._labels = {spelling.fold(label): self.words.groups[group] for label, group in self.words.labels.items()}
        role_map = roles.of(self.words)
        self._gendered = Gendered(self.words, role_map) if gendered.is_gendered(self.words) else None
        self._by_group = ByGroup(self.words, role_map)

    def eligible(self, proposed: Set, target: str | None = None) -> bool:
        """Whether a set may be exchanged, for a target if one is given."""
        known = bool(proposed.edits) if target is None else target in proposed.edits
        return known and proposed.confidence > 0 and proposed.confidence >= self.strictness

    def propose(
        self,
        text: str,
        sentences: Sequence[tuple[int, int]],
        mentions: Sequence[Mention],
        identity: str | None = None,
        words: WordSets | None = None,
    ) -> list[Set]:
        """All sets of a document in its order, those that are barred too, each with its confidence; these have no edits.

        sentences: (start, end) in order, covering at least the mentions' sentences. mentions: of any attributes, each in
        one sentence. identity: the document's id, by which a judge may draw; the text if None. words: of the sentences, for
        whoever proposes for several attributes.
        """
        own = sorted([mention for mention in mentions if mention.attribute == self.attribute], key=lambda each: each.start)
        if not own:
            return []
        if self.method == "base":
            return base_cda.propose(text, sentences, own, self.words, self._gendered is not None)
        others = [(mention.start, mention.end) for mention in mentions if mention.attribute != self.attribute]
        source = self._gendered or self._by_group
        words = words or WordSets(text, sentences)
        items = source.items(text, sentences, own, words)
        if identity is None and self.judge is not self._embedded:
            identity = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        barring.bar(text, sentences, items, self.attribute, others, words)
        proposed: list[Set] = []
        for chain in self._chains(text, sentences, items, words):
            made = self._set(text, sentences, chain, identity)
            if made is not None:
                proposed.append(made)
        return sorted(proposed, key=lambda each: each.mentions[0].start)

    def apply(self, text: str, edits: Sequence[Edit]) -> str:
        """The text with its edits; every character outside them stays."""
        return apply(text, edits)

    def _chains(self, text: str, sentences: Sequence[tuple[int, int]], items: list[Item], words: WordSets) -> list[Chain]:
        if self._gendered is not None:
            return Resolver(text, sentences, self._gendered.sexes, words).chains(items)
        return of_one_story(items)

    def _set(self, text: str, sentences: Sequence[tuple[int, int]], chain: Chain, identity: str | None) -> Set | None:
        """The set of a chain; none if no label is in it."""
        mentions = tuple([item.mention for item in chain.items if item.mention is not None])
        if not mentions:
            return None
        group = chain.items[0].group
        sure = self._least(text, chain)
        places = tuple(sorted({item.sentence for item in chain.items}))
        if sure < self.strictness or sure <= 0:  # of what is barred nobody need be asked, and no word be found
            return Set(self.attribute, group, {}, sure, places, mentions, _bars(chain, False))
        key = key_of(identity, self.attribute, chain.items) if identity is not None and self.judge is not self._embedded else ""
        choosing = Choosing(self.judge, self._labels, sure, key)
        edits: dict[str, tuple[Edit, ...]] = {}
        for target in self.words.groups:
            if target == group or not all(target in item.replacements for item in chain.items):
                continue
            made = self._edits(text, sentences, chain.items, target, choosing)
            if made is not None:
                edits[target] = made
        if edits:
            # What is not settled yet is not worth a question: another word may come.
            ask = partial((self.judge if choosing.settled else self._embedded).judge_substitution, confidence=sure)
            sure = min(sure, self._judged(text, sentences, places, edits, ask))
        barred = () if edits and sure > 0 and sure >= self.strictness else _bars(chain, bool(edits))
        return Set(self.attribute, group, edits, sure, places, mentions, barred)

    def _least(self, text: str, chain: Chain) -> float:
        """The weight that the rules leave to a chain, whose pronouns get their words if it may change."""
        least = chain.least
        if self._gendered is None or (least < self.strictness and least <= pronouns.LEAST):
            return least
        for item in chain.items:
            if item.kind == "pronoun":
                self._gendered.replace_pronoun(text, item)
        return chain.least

    def _edits(
        self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], target: str, choosing: Choosing
    ) -> tuple[Edit, ...] | None:
        """The edits that bring the items to a target; None if the judge finds no word."""
        out: list[Edit] = []
        dropped: Item | None = None  # a word that falls away, so that the next takes its article
        for item in items:
            word = choosing.word(text, sentences[item.sentence], item, target)
            if word is None:
                return None
            said = text[item.start : item.end]
            stop = item.end
            if word and item.kind in ("noun", "plural"):
                stop, word = agreement.possessive(text, item.end, said, word)
            if not word and item.gap:
                stop = item.gap
            if word:
                begins = dropped.start if dropped is not None and dropped.gap == item.start else item.start
                article = agreement.article_edit(text, begins, text[begins : item.end], word)
                if article is not None:
                    out.append(Edit(*article))
            dropped = None if word else item
            out.append(Edit(item.start, stop, word))
        return tuple(out)

    def _judged(
        self,
        text: str,
        sentences: Sequence[tuple[int, int]],
        places: Sequence[int],
        edits: dict[str, tuple[Edit, ...]],
        judge: Callable[[str, str], float],
    ) -> float:
        worst = 1.0
        for each in edits.values():
            for place in places:
                start, end = sentences[place]
                first, last = bisect_left(each, (start,)), bisect_left(each, (end,))
                own = [Edit(e.start - start, e.end - start, e.replacement) for e in each[first:last] if e.end <= end]
                worst = min(worst, judge(text[start:end], apply(text[start:end], own)))
        return worst


def _bars(chain: Chain, known: bool) -> tuple[Bar, ...]:
    """Why each mention of a chain stays, the gravest reason first. known: whether there are words for it to become."""
    doubted = [item for item in chain.items if item.mention is not None and item.weight < 1]
    doubted.sort(key=lambda item: item.weight)
    rest = chain.reason if chain.weight < 1 else sets.BOUND if doubted else sets.DOUBTED if known else sets.NO_COUNTERPART
    own = [Bar(item.mention, item.reason) for item in doubted if item.mention is not None]
    barred = [Bar(item.mention, rest) for item in chain.items if item.mention is not None and item.weight >= 1]
    return tuple(barred + own if doubted and chain.weight < doubted[0].weight else own + barred)


def rewrite(
    text: str,
    lists: Sequence[WordList],
    attribute: str,
    method: Method = "gc",
    source: str | None = None,
    target: str | None = None,
    strictness: float = STRICTNESS,
    judge: Judge | None = None,
) -> Rewritten:
    """A text with every eligible set exchanged, whatever a plan would say.

    source: only sets of this group; target: to this group. By default every group goes to another, of several possible
    ones to the one that a hash of the text says. Raises ValueError for an attribute or a group that
    the lists do not have.
    """
    substituter = Substituter(lists, attribute, method, strictness, judge)
    for group in (source, target):
        if group is not None and group not in substituter.words.groups:
            known = ", ".join(substituter.words.groups)
            raise ValueError(f"group {group!r}: the list {attribute} has no such group; it has {known}")
    found = LabelFinder(lists)
    every = found.find_all(text)
    sentences = trimmed(text, uncut(bounds(text), every).tolist())
    proposed = substituter.propose(text, sentences, found.named(every))
    wanted = chooser(substituter, text, source, target)
    edits = [edit for each in proposed if (group := wanted(each)) is not None for edit in each.edits[group]]
    edits.sort()
    return Rewritten(apply(text, edits), tuple(edits), tuple(proposed))


def chooser(
    substituter: Substituter, text: str, source: str | None = None, target: str | None = None
) -> Callable[[Set], str | None]:
    """Says of a text's sets which group each goes to, whatever a plan would say; None: it stays. See `rewrite`."""
    number = base_cda.drawn(text, 0, 1 << 32)  # one for the text: all of it goes to the same of several groups

    def wanted(proposed: Set) -> str | None:
        group = target or (proposed.targets[number % len(proposed.targets)] if proposed.targets else None)
        if group is None or (source is not None and proposed.source != source):
            return None
        return group if substituter.eligible(proposed, group) else None

    return wanted
