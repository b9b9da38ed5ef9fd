"""Counterfactuals: what a document would say with one group's words exchanged for another's.

Two methods. `gc`, grammar and context aware (main paper, 4.2.4, GC-CDA): forms that fit the
sentence, and persons that keep together over sentences; a learnt judge in the place of the LLM says
whether an exchange is right. `base` (BaseCDA, the same section) exchanges every label for one of
the other group, and only tells her from his and him.

    text -> mentions -> chains of items (gendered.py, bygroup.py) -> sets with edits -> the judge
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from evenflow.transforms.labels.finder import LabelFinder, Mention, uncut
from evenflow.transforms.models import marking
from evenflow.transforms.substitution import agreement, base_cda, gendered, roles, sets
from evenflow.transforms.substitution.bygroup import ByGroup
from evenflow.transforms.substitution.choosing import Choosing, key_of
from evenflow.transforms.substitution.gendered import Gendered
from evenflow.transforms.substitution.judges import SubstitutionJudge as Tier
from evenflow.transforms.substitution.persons import Chain
from evenflow.transforms.substitution.sets import Edit, Item, Refusal, Set, apply, within
from evenflow.transforms.text import english, names, pronouns
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.transforms.text.wordclasses import is_known
from evenflow.transforms.text.words import LETTERS_ONLY
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

Method = Literal["gc", "base"]
Span = tuple[int, int]
STRICTNESS = 0.8  # the least probability of being right that is applied by default
NAMED_WITHIN = 600  # characters before a pronoun in which a name is looked for
LONGEST_SENTENCE = 5000  # characters; beyond, it is a table or a list, and grammar says little
# Words that nearly every sentence of six or more English words has one of.
ENGLISH = english.words("english")


@dataclass(frozen=True)
class Rewritten:
    """A text with every eligible set exchanged: the edits of the original, and all sets, barred
    ones too.
    """

    text: str
    edits: tuple[Edit, ...]
    sets: tuple[Set, ...]


class FirstScorer(Protocol):
    """Says at once, of everything, how likely an exchange is right."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """Of each exchange, given as its marked windows, the probability that it is right."""
        ...


class ExchangeJudge(Protocol):
    """Says whether an exchange is right."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[tuple[float, str]]:
        """Of each exchange, given as its marked windows: the probability that it is right, and why
        not if it is not.
        """
        ...


class Substituter:
    """Proposes substitutions of one attribute in documents.

    Args: lists: Word lists, the attribute's among them. attribute: Which one. method: gc or base.
        first: Who gives each set its first probability; None: 1. tier: A language model that
        chooses the words and judges; None: the first word of a role is put in.

    Raises:
        ValueError: An attribute or a method that there is not.
        roles.RoleMapError: A role map that cannot be read.
    """

    def __init__(
        self,
        lists: Sequence[WordList],
        attribute: str,
        method: Method = "gc",
        first: FirstScorer | None = None,
        tier: Tier | None = None,
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
        self._first, self._tier = first, tier
        self._labels = {
            spelling.fold(label): self.words.groups[group]
            for label, group in self.words.labels.items()
        }
        role_map = roles.of(self.words)
        self._gendered = (
            Gendered(self.words, role_map) if gendered.is_gendered(self.words) else None
        )
        self._source = self._gendered or ByGroup(self.words, role_map)

    def propose(
        self,
        text: str,
        sentences: Sequence[Span],
        mentions: Sequence[Mention],
        identity: str | None = None,
    ) -> list[Set]:
        """All sets of a document in its order; those that their form bars have confidence 0 and no
        edits.

        Args: text: The document. sentences: (start, end) in order, covering at least the mentions'
            sentences. mentions: Of any attributes, each in one sentence. identity: The document's
            id, by which a language model's words are drawn; the text if None.

        Returns:
            The sets of this attribute.
        """
        own = sorted(
            [mention for mention in mentions if mention.attribute == self.attribute],
            key=lambda each: each.start,
        )
        if not own:
            return []
        if self.method == "base":
            return base_cda.propose(text, sentences, own, self.words, self._gendered is not None)
        others = sorted(
            (mention.start, mention.end)
            for mention in mentions
            if mention.attribute != self.attribute
        )
        unread: dict[int, str] = {}
        made: list[tuple[Chain, Set]] = []
        for chain in self._source.chains(text, sentences, own):
            proposed = self._set(text, sentences, chain, others, unread)
            if proposed is not None:
                made.append((chain, proposed))
        made.sort(key=lambda each: each[1].mentions[0].start)
        if self._first is not None:
            made = self._weighed(text, made, self._first)
        if self._tier is not None:
            key = identity if identity is not None else text
            return [
                self._asked(text, sentences, chain, each, self._tier, key) for chain, each in made
            ]
        return [each for _, each in made]

    def _set(
        self,
        text: str,
        sentences: Sequence[Span],
        chain: Chain,
        others: Sequence[Span],
        unread: dict[int, str],
    ) -> Set | None:
        """The set of a chain; None if no label is in it. unread: of sentences looked at so far, why
        they cannot be read.
        """
        mentions = tuple([item.mention for item in chain if item.mention is not None])
        if not mentions:
            return None
        for item in chain:
            if item.sentence not in unread:
                unread[item.sentence] = _unreadable(text, *sentences[item.sentence])
            if unread[item.sentence]:
                item.bar(unread[item.sentence])
            elif others and _overlaps(item.start, item.end, others):
                item.bar(sets.OVERLAP)
        group = chain[0].group
        places = tuple(sorted({item.sentence for item in chain}))
        spans = tuple([sentences[place] for place in places])
        reason = next((item.barred for item in chain if item.barred), "")
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
        barred = (Refusal(mentions[0], reason),) if reason else ()
        return Set(
            self.attribute, group, edits, 0.0 if reason else 1.0, places, spans, mentions, barred
        )

    def _weighed(
        self, text: str, made: Sequence[tuple[Chain, Set]], first: FirstScorer
    ) -> list[tuple[Chain, Set]]:
        """The sets with their first probability, the greatest over their targets."""
        shown_to = [
            (number, shown(text, each, target))
            for number, (_, each) in enumerate(made)
            for target in each.edits
        ]
        best: dict[int, float] = {}
        given = first.exchanges(self.attribute, [windows for _, windows in shown_to])
        for (number, _), probability in zip(shown_to, given, strict=True):
            best[number] = max(probability, best.get(number, 0.0))
        return [
            (chain, replace(each, confidence=best.get(number, 0.0)))
            for number, (chain, each) in enumerate(made)
        ]

    def _asked(
        self,
        text: str,
        sentences: Sequence[Span],
        chain: Chain,
        proposed: Set,
        tier: Tier,
        identity: str,
    ) -> Set:
        """A set with the words that a language model chooses, and its verdict where it gives one."""
        if not proposed.edits:
            return proposed
        choosing = Choosing(
            tier, self._labels, proposed.confidence, key_of(identity, self.attribute, chain)
        )
        edits: dict[str, tuple[Edit, ...]] = {}
        for target in proposed.edits:
            words = [choosing.word(text, sentences[item.sentence], item, target) for item in chain]
            if None not in words:
                edits[target] = _edits(text, chain, [word for word in words if word is not None])
        # What is not settled yet is not worth a question: another word may come
        if not choosing.settled:
            return replace(proposed, edits=edits)
        verdicts = [
            verdict
            for own in edits.values()
            for start, end in proposed.spans
            for said in [text[start:end]]
            if (
                verdict := tier.judge_substitution(
                    said, apply(said, within(own, start, end)), proposed.confidence
                )
            )
            is not None
        ]
        if not edits or (verdicts and min(verdicts) <= 0):
            return replace(
                proposed,
                edits={},
                confidence=0.0,
                judged=True,
                barred=(Refusal(proposed.mentions[0], sets.DOUBTED),),
            )
        return replace(
            proposed,
            edits=edits,
            **({"confidence": min(verdicts), "judged": True} if verdicts else {}),
        )


def _edits(text: str, chain: Chain, words: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that put words in the place of a chain's items; empty: an item falls away."""
    out: list[Edit] = []
    dropped: Item | None = None  # a word that falls away, so that the next takes its article
    for item, word in zip(chain, words, strict=True):
        said = text[item.start : item.end]
        stop = item.end
        if word and item.kind in ("noun", "plural"):
            stop, word = agreement.possessive(text, item.end, said, word)
        if not word and item.gap:
            stop = item.gap
        if word:
            begins = (
                dropped.start if dropped is not None and dropped.gap == item.start else item.start
            )
            article = agreement.article_edit(text, begins, text[begins : item.end], word)
            if article is not None:
                out.append(Edit(*article))
        dropped = None if word else item
        out.append(Edit(item.start, stop, word))
    return tuple(sorted(out))  # an article before a word that falls away came after it


def _unreadable(text: str, start: int, end: int) -> str:
    """Why a sentence text[start:end] is left alone whatever it says; empty where it is not."""
    if end - start > LONGEST_SENTENCE:
        return sets.LONG
    said = text[start:end].lower()
    if not ENGLISH.isdisjoint(said.split()):  # mostly, and quickly told
        return ""
    words = LETTERS_ONLY.findall(said)
    if len(words) < 6 or not ENGLISH.isdisjoint(words):
        return ""
    known = sum(map(is_known, words))
    return "" if 2 * known >= len(words) else sets.FOREIGN


def _overlaps(start: int, end: int, others: Sequence[Span]) -> bool:
    before = bisect_left(others, (end, 0)) - 1  # of one attribute each, at most a few overlap
    return any(start < stop for _, stop in others[max(0, before - 3) : before + 1])


def shown(text: str, proposed: Set, target: str) -> list[str]:
    """The exchange of a set for a target as marked windows (see `marking.windows`).

    Before a pronoun that begins a story the last name stands too, if the window does not reach it:
    who “he” is, is mostly said there.
    """
    windows = marking.windows(text, proposed.edits[target], proposed.spans)
    name = _named_before(text, proposed.mentions[0])
    return (
        [f"{name}{marking.GAP}{windows[0]}", *windows[1:]]
        if name and name not in windows[0]
        else windows
    )


def _named_before(text: str, mention: Mention) -> str:
    """The last name before a pronoun, of its sex or of either; empty where there is none, or no
    pronoun.
    """
    word = text[mention.start : mention.end].lower()
    if word not in pronouns.PRONOUNS:
        return ""
    sexes = ("f" if word in pronouns.FEMALE else "m", "e")
    found = [
        each
        for each in names.find(text, max(0, mention.start - NAMED_WITHIN), mention.start)
        if each.sex in sexes
    ]
    return text[found[-1].start : found[-1].end] if found else ""


def rewrite(
    text: str,
    lists: Sequence[WordList],
    attribute: str,
    method: Method = "gc",
    source: str | None = None,
    target: str | None = None,
    strictness: float = STRICTNESS,
    judge: ExchangeJudge | None = None,
    tier: Tier | None = None,
) -> Rewritten:
    """A text with every eligible set exchanged, whatever a plan would say.

    Args: text: The document. lists: Word lists. attribute: The one to exchange. method: gc or base.
        source: Only sets of this group are exchanged; None: of every group. target: They go to this
        group; None: a hash of the text says to which of those that a set may go to. strictness: The
        least probability of being right that is exchanged. judge: Who gives it; None: every set
        that its form does not bar is exchanged. tier: A language model that chooses words and
        judges; what it leaves open is the judge's.

    Returns:
        The text, its edits, and all sets.

    Raises:
        ValueError: An attribute or a group that the lists do not have.
    """
    substituter = Substituter(lists, attribute, method, tier=tier)
    for group in (source, target):
        if group is not None and group not in substituter.words.groups:
            known = ", ".join(substituter.words.groups)
            raise ValueError(
                f"group {group!r}: the list {attribute} has no such group; it has {known}"
            )
    found = LabelFinder(lists)
    every = found.find_all(text)
    sentences = trimmed(text, uncut(bounds(text), every).tolist())
    proposed = substituter.propose(text, sentences, found.named(every))
    wanted = chooser(text, source, target)
    proposed = judged(text, proposed, wanted, judge if method == "gc" else None)
    edits = sorted(
        edit
        for each in proposed
        if each.confidence > 0
        and each.confidence >= strictness
        and (group := wanted(each)) is not None
        for edit in each.edits[group]
    )
    return Rewritten(apply(text, edits), tuple(edits), tuple(proposed))


def judged(
    text: str,
    proposed: Sequence[Set],
    wanted: Callable[[Set], str | None],
    judge: ExchangeJudge | None,
) -> list[Set]:
    """Sets with the confidence of a judge, asked about the exchange that is wanted of each; the
    others stay as they are.
    """
    asked = [
        (number, target)
        for number, each in enumerate(proposed)
        if not each.judged and (target := wanted(each)) is not None
    ]
    out = list(proposed)
    if judge is None or not asked:
        return out
    answers = judge.exchanges(
        proposed[0].attribute, [shown(text, proposed[at], target) for at, target in asked]
    )
    for (at, _), (confidence, reason) in zip(asked, answers, strict=True):
        barred = (Refusal(proposed[at].mentions[0], reason),) if reason else ()
        out[at] = replace(proposed[at], confidence=confidence, judged=True, barred=barred)
    return out


def chooser(
    text: str, source: str | None = None, target: str | None = None
) -> Callable[[Set], str | None]:
    """Says of a text's sets which group each would go to, whatever a plan would say; None: to none.
    See `rewrite`.
    """
    # One for the text: all of it goes to the same of several groups
    number = base_cda.drawn(text, 0, 1 << 32)

    def wanted(proposed: Set) -> str | None:
        group = target or (
            proposed.targets[number % len(proposed.targets)] if proposed.targets else None
        )
        if group is None or (source is not None and proposed.source != source):
            return None
        return group if group in proposed.edits else None

    return wanted
