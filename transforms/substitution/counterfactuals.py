"""Counterfactuals: what a document would say with one group's words exchanged for another's.

There are two methods. `gc`, grammar and context aware (main paper, 4.2.4, GC-CDA), uses forms that
fit the sentence and keeps the words for a person together over sentences. A learnt judge in the
place of the paper's LLM decides whether an exchange is right. `base` (BaseCDA, same section)
exchanges every label for one of the other group and tells only her, his and him apart.

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
from evenflow.transforms.substitution.choosing import WordChooser, draw_key
from evenflow.transforms.substitution.gendered import Gendered
from evenflow.transforms.substitution.judges import SubstitutionJudge
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
STRICTNESS = 0.8  # default for the least probability of being right that is exchanged
NAMED_WITHIN = 600  # characters before a pronoun in which a name is searched for
LONGEST_SENTENCE = 5000  # characters: a longer one is a table or a list, without much grammar
# Nearly every English sentence of six or more words has one of these words.
ENGLISH = english.words("english")


@dataclass(frozen=True)
class Rewritten:
    """A text with every eligible set exchanged.

    Attributes:
        text: The new text.
        edits: The edits of the original.
        sets: All sets, refused ones too.
    """

    text: str
    edits: tuple[Edit, ...]
    sets: tuple[Set, ...]


class FirstScorer(Protocol):
    """Gives every exchange a first probability of being right."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """Score exchanges.

        Args:
            attribute: The attribute whose groups are exchanged.
            each: The marked windows of each exchange.

        Returns:
            The probability (0 to 1) that each exchange is right.
        """
        ...


class ExchangeJudge(Protocol):
    """Judges whether an exchange is right."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[tuple[float, str]]:
        """Judge exchanges.

        Args:
            attribute: The attribute whose groups are exchanged.
            each: The marked windows of each exchange.

        Returns:
            Of each exchange, the probability (0 to 1) that it is right, and the reason if it is
            not.
        """
        ...


class Substituter:
    """Proposes substitutions of one attribute in documents.

    Args:
        lists: Word lists, the attribute's among them.
        attribute: The attribute to substitute.
        method: `gc` or `base`.
        first: Gives each set its first probability; without it the probability is 1.
        tier: A language model that chooses the words and judges; without it the first word of a
            role is put in.

    Raises:
        ValueError: The attribute or the method does not exist.
        roles.RoleMapError: A role map cannot be read.
    """

    def __init__(
        self,
        lists: Sequence[WordList],
        attribute: str,
        method: Method = "gc",
        first: FirstScorer | None = None,
        tier: SubstitutionJudge | None = None,
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
        """Propose all sets of a document.

        Args:
            text: The document.
            sentences: (start, end) in order, covering at least the mentions' sentences.
            mentions: Of any attributes, each in one sentence.
            identity: The document's id, which decides the random draws of words; the text if None.

        Returns:
            The sets of this attribute in the document's order. Sets that their form refuses have
            confidence 0 and no edits.
        """
        own = sorted(
            (mention for mention in mentions if mention.attribute == self.attribute),
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
        unreadable: dict[int, str] = {}
        made: list[tuple[Chain, Set]] = []
        for chain in self._source.chains(text, sentences, own):
            proposed = self._set(text, sentences, chain, others, unreadable)
            if proposed is not None:
                made.append((chain, proposed))
        made.sort(key=lambda each: each[1].mentions[0].start)
        if self._first is not None:
            made = self._score_first(text, made, self._first)
        if self._tier is not None:
            key = identity if identity is not None else text
            return [
                self._ask_tier(text, sentences, chain, each, self._tier, key)
                for chain, each in made
            ]
        return [each for _, each in made]

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
                unreadable[item.sentence] = _unreadable_reason(text, *sentences[item.sentence])
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

    def _score_first(
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

    def _ask_tier(
        self,
        text: str,
        sentences: Sequence[Span],
        chain: Chain,
        proposed: Set,
        tier: SubstitutionJudge,
        identity: str,
    ) -> Set:
        """A set with the words that a language model chooses, and its verdict if it gives one."""
        if not proposed.edits:
            return proposed
        word_chooser = WordChooser(
            tier, self._labels, proposed.confidence, draw_key(identity, self.attribute, chain)
        )
        edits: dict[str, tuple[Edit, ...]] = {}
        for target in proposed.edits:
            words = [
                word_chooser.choose(text, sentences[item.sentence], item, target) for item in chain
            ]
            if None not in words:
                edits[target] = _edits(text, chain, [word for word in words if word is not None])
        # A choice that is not settled is not worth a question: another word may come.
        if not word_chooser.settled:
            return replace(proposed, edits=edits)
        verdicts = [
            verdict
            for own in edits.values()
            for start, end in proposed.spans
            for original in [text[start:end]]
            if (
                verdict := tier.judge_substitution(
                    original, apply(original, within(own, start, end)), proposed.confidence
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
                refusals=(Refusal(proposed.mentions[0], sets.DOUBTED),),
            )
        return replace(
            proposed,
            edits=edits,
            **({"confidence": min(verdicts), "judged": True} if verdicts else {}),
        )


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
    """Why a sentence text[start:end] is never changed, empty where it may be."""
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


def shown(text: str, proposed: Set, target: str) -> list[str]:
    """Show the exchange of a set as marked windows (see `marking.windows`).

    Where a set begins with a pronoun, the last name before it is added if the window does not reach
    it: mostly that name says who “he” is.

    Args:
        text: The document.
        proposed: The set.
        target: The group that it goes to.

    Returns:
        At least one window.
    """
    windows = marking.windows(text, proposed.edits[target], proposed.spans)
    name = _named_before(text, proposed.mentions[0])
    return (
        [f"{name}{marking.GAP}{windows[0]}", *windows[1:]]
        if name and name not in windows[0]
        else windows
    )


def _named_before(text: str, mention: Mention) -> str:
    """The last name before a pronoun that may be its person's, empty for none or no pronoun."""
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
    tier: SubstitutionJudge | None = None,
) -> Rewritten:
    """Exchange every eligible set of a text, whatever a repair plan would choose.

    Args:
        text: The document.
        lists: Word lists.
        attribute: The attribute to exchange.
        method: `gc` or `base`.
        source: Exchange only sets of this group; None: of every group.
        target: The group that they go to; None: a hash of the text chooses among those that a set
            may go to.
        strictness: The least probability of being right that is exchanged.
        judge: Gives this probability; None: every set that its form does not refuse is exchanged.
        tier: A language model that chooses words and judges. What it leaves open, the judge
            decides.

    Returns:
        The text, its edits, and all sets.

    Raises:
        ValueError: The lists do not have the attribute or a group.
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
    """Ask a judge about the wanted exchange of each set.

    Args:
        text: The document.
        proposed: Sets of one attribute.
        wanted: Gives the group that a set should go to, None for none.
        judge: The judge; None: no set changes.

    Returns:
        The sets with the judge's confidence. Those already judged or not wanted stay as they are.
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
        refusals = (Refusal(proposed[at].mentions[0], reason),) if reason else ()
        out[at] = replace(proposed[at], confidence=confidence, judged=True, refusals=refusals)
    return out


def chooser(
    text: str, source: str | None = None, target: str | None = None
) -> Callable[[Set], str | None]:
    """Make the choice of a target group for each set of a text, whatever a repair plan chooses.

    Args:
        text: The document.
        source: See `rewrite`.
        target: See `rewrite`.

    Returns:
        A function that gives a set's target group, None for none.
    """
    # One number for the text, so that all of it goes to the same of several groups
    number = base_cda.draw(text, 0, 1 << 32)

    def wanted(proposed: Set) -> str | None:
        group = target or (
            proposed.targets[number % len(proposed.targets)] if proposed.targets else None
        )
        if group is None or (source is not None and proposed.source != source):
            return None
        return group if group in proposed.edits else None

    return wanted
