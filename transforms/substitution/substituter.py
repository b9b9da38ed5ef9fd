"""Proposes the substitutions of a document: its sets of mentions, each with its edits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.substitution import agreement, base_cda, gendered, roles, sets
from evenflow.transforms.substitution.bygroup import ByGroup
from evenflow.transforms.substitution.gendered import Gendered
from evenflow.transforms.substitution.judges import FirstScorer
from evenflow.transforms.substitution.persons import Chain
from evenflow.transforms.substitution.protected import Protected
from evenflow.transforms.substitution.sets import Edit, Item, Refusal, Set
from evenflow.transforms.substitution.windows import show_windows
from evenflow.transforms.text import english
from evenflow.transforms.text.wordclasses import is_known
from evenflow.transforms.text.words import LETTERS_ONLY
from evenflow.wordlists.loader import WordList

Method = Literal["gc", "base"]
Span = tuple[int, int]
LONGEST_SENTENCE = 5000  # characters: a longer one is a table or a list, without much grammar
# Nearly every English sentence of six or more words has one of these words.
ENGLISH = english.words("english")


class Substituter:
    """Proposes substitutions of one attribute in documents.

    Args:
        lists: Word lists, the attribute's among them.
        first: Gives each set its first probability; without it the probability is 1.
        draws: Whether one of several words of a role that are as good is drawn, by a hash of the
            document. Otherwise the first is put in: annotators were shown that one.
        protect: Words and ranges of numbers whose sentences `gc` leaves as they are.
        by_line: Whether words of one person in several lines are sets of their own, since the judge
            joins them.

    Raises:
        ValueError: The attribute or the method does not exist.
        roles.RoleMapError: A role map cannot be read, or the list has neither pairs nor roles.
    """

    def __init__(
        self,
        lists: Sequence[WordList],
        attribute: str,
        method: Method = "gc",
        first: FirstScorer | None = None,
        draws: bool = False,
        protect: Sequence[str] = (),
        by_line: bool = False,
    ):
        names = [words.attribute for words in lists]
        if attribute not in names:
            raise ValueError(
                f"attribute {attribute!r}: no list has it; there are {', '.join(names)}"
            )
        if method not in ("gc", "base"):
            raise ValueError(f"method {method!r}: gc or base was expected")
        self.words = lists[names.index(attribute)]
        self.attribute = attribute
        self.method = method
        self._first = first
        self._protected = Protected(protect)
        role_map = roles.of(self.words)
        if method == "gc" and self.words.fixed:
            raise roles.RoleMapError(self.words.fixed)
        self._gendered = (
            Gendered(self.words, role_map, draws, by_line)
            if gendered.is_gendered(self.words)
            else None
        )
        self._source = self._gendered or ByGroup(self.words, role_map, draws)

    def propose(
        self,
        text: str,
        sentences: Sequence[Span],
        mentions: Sequence[Mention],
    ) -> list[Set]:
        """Propose all sets of a document.

        Args:
            sentences: (start, end) in order, covering at least the mentions' sentences.

        Returns:
            The sets of this attribute in the document's order. Sets that their form refuses have
            confidence 0 and no edits.
        """
        own = sorted(
            (mention for mention in mentions if mention.attribute == self.attribute),
            key=lambda each: each.start,
        )
        # Words of an inclusive form touch (“s/he”); they are even already
        halves = {
            start for a, b in pairwise(own) if a.end == b.start for start in (a.start, b.start)
        }
        own = [each for each in own if each.start not in halves]
        if not own:
            return []
        if self.method == "base":
            return base_cda.propose(text, sentences, own, self.words, self._gendered is not None)
        others = sorted(
            (mention.start, mention.end)
            for mention in mentions
            if mention.attribute != self.attribute
        )
        unreadable: dict[int, str] = {}
        made: list[Set] = []
        for chain in self._source.find_chains(text, sentences, own):
            proposed = self._set(text, sentences, chain, others, unreadable)
            if proposed is not None:
                made.append(proposed)
        made.sort(key=lambda each: each.mentions[0].start)
        if self._first is not None:
            made = self._score_first(text, made, self._first)
        return made

    def _set(
        self,
        text: str,
        sentences: Sequence[Span],
        chain: Chain,
        others: Sequence[Span],
        unreadable: dict[int, str],
    ) -> Set | None:
        """The set of a chain, None if it has no label; `unreadable` caches reasons by sentence."""
        mentions = tuple([item.mention for item in chain if item.mention is not None])
        if not mentions:
            return None
        for item in chain:
            if item.sentence not in unreadable:
                unreadable[item.sentence] = self._stays(text, *sentences[item.sentence])
            if unreadable[item.sentence]:
                item.refuse(unreadable[item.sentence])
            elif others and _overlaps(item.start, item.end, others):
                item.refuse(sets.OVERLAP)
        group = chain[0].group
        places = tuple(sorted({item.sentence for item in chain}))
        spans = tuple([sentences[place] for place in places])
        reason = next((item.refusal for item in chain if item.refusal), "")
        edits: dict[str, tuple[Edit, ...]] = {}
        if not reason:
            for item in chain:
                if item.kind == "pronoun" and self._gendered is not None:
                    self._gendered.replace_pronoun(text, item)
            for target in self.words.groups:
                if target != group and all(target in item.replacements for item in chain):
                    edits[target] = _edits(
                        text, chain, [item.replacements[target] for item in chain]
                    )
            reason = "" if edits else sets.NO_COUNTERPART
        refusals = (Refusal(mentions[0], reason),) if reason else ()
        return Set(
            self.attribute, group, edits, 0.0 if reason else 1.0, places, spans, mentions, refusals
        )

    def _stays(self, text: str, start: int, end: int) -> str:
        """Why a sentence text[start:end] is never changed, empty where it may be."""
        if reason := _unreadable_reason(text, start, end):
            return reason
        return sets.PROTECTED if self._protected.has(text[start:end]) else ""

    def _score_first(self, text: str, made: Sequence[Set], first: FirstScorer) -> list[Set]:
        """The sets with their first probability, the greatest over their targets."""
        shown_to = [
            (number, show_windows(text, each, target))
            for number, each in enumerate(made)
            for target in each.edits
        ]
        best: dict[int, float] = {}
        given = first.exchanges(self.attribute, [windows for _, windows in shown_to])
        for (number, _), probability in zip(shown_to, given, strict=True):
            best[number] = max(probability, best.get(number, 0.0))
        return [replace(each, confidence=best.get(number, 0.0)) for number, each in enumerate(made)]


def _edits(text: str, chain: Chain, words: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that put words in the place of a chain's items; an empty word removes its item."""
    out: list[Edit] = []
    dropped: Item | None = None  # a removed word, whose article the next word takes
    for item, word in zip(chain, words, strict=True):
        original = text[item.start : item.end]
        stop = item.end
        if word and item.kind in ("noun", "plural"):
            stop, word = agreement.fit_possessive(text, item.end, original, word)
        if not word and item.gap:
            stop = item.gap
        if word:
            begins = (
                dropped.start if dropped is not None and dropped.gap == item.start else item.start
            )
            article = agreement.edit_article(text, begins, text[begins : item.end], word)
            if article is not None:
                out.append(Edit(*article))
        dropped = None if word else item
        out.append(Edit(item.start, stop, word))
    return tuple(sorted(out))  # the article before a removed word was added after it


def _unreadable_reason(text: str, start: int, end: int) -> str:
    """Why a sentence text[start:end] cannot be read, empty where it can."""
    if end - start > LONGEST_SENTENCE:
        return sets.LONG
    lowered = text[start:end].lower()
    if not ENGLISH.isdisjoint(lowered.split()):  # a quick test that settles most cases
        return ""
    words = LETTERS_ONLY.findall(lowered)
    if len(words) < 6 or not ENGLISH.isdisjoint(words):
        return ""
    known = sum(map(is_known, words))
    return "" if 2 * known >= len(words) else sets.FOREIGN


def _overlaps(start: int, end: int, others: Sequence[Span]) -> bool:
    """Whether text[start:end] overlaps one of some spans in order."""
    # At most a few overlap, since those of one attribute do not.
    before = bisect_left(others, (end, 0)) - 1
    return any(start < stop for _, stop in others[max(0, before - 3) : before + 1])
