"""Judges the sentences of documents (main paper, 4.2.3).

It decides which sentences are asked about, for which attributes, and which answers make a strong
stereotype.

`run` and `explain` both use this module, so that they agree. `filter` decides what happens to a
strong stereotype.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import NamedTuple, Protocol

from evenflow.schemas.config import Config
from evenflow.schemas.documents import CREED, PRONOUN
from evenflow.transforms.labels.finder import LabelFinder, pieces
from evenflow.transforms.measures.stereotypes import calibration as calibrations
from evenflow.transforms.measures.stereotypes import detect, indicators
from evenflow.transforms.measures.stereotypes.calibration import THRESHOLD, Calibration, cut
from evenflow.transforms.measures.stereotypes.detect import Detector
from evenflow.transforms.measures.stereotypes.indicators import Indicators
from evenflow.transforms.measures.stereotypes.masking import (
    LONGEST,
    SEVERAL,
    THEY,
    Span,
    placeholder,
    unlisted,
    widened,
)
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.substitution.gendered import is_gendered, kind_of
from evenflow.transforms.substitution.sets import Set
from evenflow.wordlists.loader import WordList

PIECE = 1 << 20  # characters that are searched at a time
# A sentence that begins with a word for the group of the sentence before
_THEY = "|".join(THEY).replace("'", "['’]")
BEGIN = re.compile(rf"\W*(?:(?:and|because|but|if|so|when)\W+)?({_THEY})\b", re.IGNORECASE)
NEVER = 2.0  # above every probability
SINGLE = 0.5  # probability from which what is said of one person bars an exchange


class IndicatorScorer(Protocol):
    """Finds the linguistic indicators of sentences."""

    def indicators(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[Indicators | None]:
        """Find the indicators of some sentences.

        Args:
            labels: Of each sentence the words (start, end, attribute) that name the groups.

        Returns:
            S values; None for a sentence that cannot be judged.
        """
        ...


class Candidate(NamedTuple):
    """A sentence and an attribute whose groups it names.

    Attributes:
        sentence: The sentence's number in the document.
        spans: The words that name the groups, with offsets into the sentence.
        before: The same of the sentence before, where this one names its group by "they" alone.
    """

    document: int
    sentence: int
    attribute: str
    spans: list[Span]
    before: Sequence[Span] = ()


class Judgement(NamedTuple):
    """What the models say of a candidate.

    `potential`: The probability that the sentence states a stereotype; None: cannot say.
    """

    candidate: Candidate
    potential: float | None
    indicators: Indicators | None
    strong: bool
    sure: bool
    stays: str = ""


class StereotypeJudge:
    """Judges sentences that name people of a group, by a label of the DR score or another word.

    It also looks at groups that no word list has (`masking.unlisted`), unless `stereotypes.action`
    is off and `every` is not set.

    Args:
        config: The configuration. A group without a list has the strictest of its thresholds.
        detector: Gives the probabilities; None: the configuration's.
        scorer: Gives the indicators; None: the shipped one.
        calibration: Of the detector; None: that of the configuration's.

    Attributes:
        unlisted: The attributes without a word list that it looks at.

    Raises:
        ModelError: A shipped model or its calibration cannot be read.
        WordListError: A word list has a defect.
    """

    def __init__(
        self,
        config: Config,
        names: Sequence[str],
        detector: Detector | None = None,
        scorer: IndicatorScorer | None = None,
        calibration: Calibration | None = None,
        every: bool = False,
    ):
        looked_for = every or config.stereotypes.action != "off"
        wide = _wide(frozenset(config.attributes)) if looked_for else LabelFinder([])
        self.unlisted = tuple(words.attribute for words in wide.lists)
        # What is looked through is English already
        own_lists = [replace(widened(config.word_list(name)), only=()) for name in names]
        self._finders = LabelFinder(own_lists), wide
        self._detector = detector or detect.of(config)
        self._scorer = scorer or indicators.shipped()
        self._thresholds = {name: config.stereotype_threshold(name) for name in names}
        self._strictest = max(self._thresholds.values(), default=1.0)
        own, known = config.stereotypes, calibration or calibrations.of(config)
        self._acts_on_creeds = own.creeds == "action"
        self._cuts = {
            (name, of_creed): cut(own, name, known, of_creed).probability
            for name in (*names, *self.unlisted)
            for of_creed in (False, True)
        }

    def candidates(self, documents: Sequence[Relevant]) -> Iterator[Candidate]:
        """Find the sentences that name groups, see `find_candidates`."""
        for first, last in pieces([each.text for each in documents], PIECE):
            found = [find_candidates(each, documents[first:last]) for each in self._finders]
            named = sorted(chain(*found))
            for each in sorted([*named, *_meant(named, documents[first:last])]):
                yield each._replace(document=first + each.document)

    def judge(
        self,
        documents: Sequence[Relevant],
        candidates: Sequence[Candidate],
        all_indicators: bool = False,
    ) -> list[Judgement]:
        """Judge candidates; the sentences of all documents are asked together.

        Args:
            documents: The documents that the candidates' numbers refer to.
            all_indicators: Whether indicators are also found for sentences that are no potential
                stereotypes.

        Returns:
            C judgements, in the order of the candidates.
        """
        texts = [_text(documents[each.document], each.sentence) for each in candidates]
        spans = [each.spans for each in candidates]
        chances = self._detector.detect(texts, spans)
        # A sentence about “them” must hold alone, and after the sentence that names them
        if likely := [i for i, each in enumerate(candidates) if each.before and _may(chances[i])]:
            joined = [_joined(documents[candidates[i].document], candidates[i]) for i in likely]
            again = self._detector.detect([text for text, _ in joined], [own for _, own in joined])
            for i, chance in zip(likely, again, strict=True):
                chances[i] = chance
        scored = [i for i, chance in enumerate(chances) if all_indicators or _may(chance)]
        found = self._scorer.indicators([texts[i] for i in scored], [spans[i] for i in scored])
        scores = dict(zip(scored, found, strict=True))
        return [
            self._judgement(each, chances[i], scores.get(i)) for i, each in enumerate(candidates)
        ]

    def _judgement(
        self, candidate: Candidate, potential: float | None, found: Indicators | None
    ) -> Judgement:
        """Whether a candidate is a strong stereotype, and whether that is sure.

        A language model's indicators may weaken a stereotype. What they alone make strong is not
        sure, because no labelled sentences measure them.
        """
        if potential is None or found is None:
            return Judgement(candidate, potential, found, False, False)
        threshold = self._thresholds.get(candidate.attribute, self._strictest)
        strong = potential >= THRESHOLD and found.decides >= threshold
        of_creed, name = found.is_of_creed, candidate.attribute
        sure = (
            found.strength >= threshold
            and not candidate.before
            and potential >= self._least(name, of_creed)
            and (self._acts_on_creeds or not of_creed)
        )
        stays = ""
        if strong and not sure and potential >= self._least(name, False):
            stays = CREED if of_creed else PRONOUN if candidate.before else ""
        return Judgement(candidate, potential, found, strong, sure, stays)

    def _least(self, attribute: str, of_creed: bool) -> float:
        """The probability from which a stereotype is sure; NEVER if none is."""
        least = self._cuts.get((attribute, of_creed))
        return NEVER if least is None else least


@cache
def _wide(names: frozenset[str]) -> LabelFinder:
    """Finds the groups without a word list; it takes a part of a second to make. See `unlisted`."""
    return LabelFinder(unlisted(names))


def find_candidates(finder: LabelFinder, documents: Sequence[Relevant]) -> Iterator[Candidate]:
    """Find the sentences that name groups, by document, sentence and attribute."""
    texts = [document.text for document in documents]
    for first, last in pieces(texts, PIECE):
        _, at, every = finder.find_together(texts[first:last])
        begins = at.tolist()
        found: dict[tuple[int, int, str], list[Span]] = {}
        for mention in sorted(finder.named(every), key=lambda each: each.start):
            place = bisect_right(begins, mention.start) - 1
            sentences = documents[first + place].sentences
            own = mention.start - begins[place]
            number = bisect_right(sentences, own, key=lambda each: each[0]) - 1
            if number >= 0 and own < sentences[number][1]:
                start = own - sentences[number][0]
                span = start, start + mention.end - mention.start, mention.attribute
                found.setdefault((first + place, number, mention.attribute), []).append(span)
        yield from (Candidate(*key, spans) for key, spans in sorted(found.items()))


def _meant(named: Sequence[Candidate], documents: Sequence[Relevant]) -> Iterator[Candidate]:
    """Find the sentences that name a group by "they" alone, which the sentence before names.

    The group is named in the plural, and no line break lies between.
    """
    known = {each[:3] for each in named}
    for each in named:
        text, bounds = documents[each.document].text, documents[each.document].sentences
        number = each.sentence + 1
        if number == len(bounds) or (each.document, number, each.attribute) in known:
            continue
        (first, stop), (start, end) = bounds[each.sentence], bounds[number]
        begin = BEGIN.match(text, start, end)
        if begin is None or end - first > LONGEST or "\n" in text[stop:start]:
            continue
        if any(placeholder(text[first + a : first + b]) == SEVERAL for a, b, _ in each.spans):
            they = begin.start(1) - start, begin.end(1) - start, each.attribute
            yield each._replace(sentence=number, spans=[they], before=each.spans)


def _joined(document: Relevant, candidate: Candidate) -> tuple[str, list[Span]]:
    """A sentence together with the one before, and the words of both that name the group."""
    (first, _), (start, end) = document.sentences[candidate.sentence - 1 : candidate.sentence + 1]
    own = [(start - first + a, start - first + b, name) for a, b, name in candidate.spans]
    return document.text[first:end], [*candidate.before, *own]


def _may(chance: float | None) -> bool:
    """Whether a sentence may state a stereotype."""
    return chance is not None and chance >= THRESHOLD


def _text(document: Relevant, number: int) -> str:
    """The text of a sentence."""
    start, end = document.sentences[number]
    return document.text[start:end]


class StereotypeBar:
    """Says whether sets stand in a sentence that may state a stereotype.

    What a sentence says of a group counts from THRESHOLD where a word of the set names a group or
    stands beside the words that do: “women”, “a Muslim woman”. Of one person it counts from SINGLE,
    and only where it is of the set's attribute: “he says that all Muslims lie” says nothing of men.
    The answer depends on these sentences alone.

    Args:
        lists: Word lists of the attributes whose stereotypes are looked for.
        detector: By default the shipped detector.

    Raises:
        ModelError: The shipped detector cannot be loaded.
    """

    def __init__(self, lists: Sequence[WordList], detector: Detector | None = None):
        self._finder = LabelFinder([widened(words) for words in lists])
        self._detector = detector or detect.shipped()
        self._persons = {words.attribute for words in lists if is_gendered(words)}

    def bars(self, text: str, proposed: Set) -> bool:
        """Whether a set may not be exchanged."""
        read = [Relevant(0, text[a:b], [(0, b - a)], ()) for a, b in proposed.spans]
        found = list(find_candidates(self._finder, read))
        chances = self._detector.detect(
            [read[each.document].text for each in found], [each.spans for each in found]
        )
        return any(
            chance is not None
            and chance >= self._least(each, proposed, *proposed.spans[each.document])
            for each, chance in zip(found, chances, strict=True)
        )

    def _least(self, candidate: Candidate, proposed: Set, start: int, end: int) -> float:
        """The probability from which a candidate of a set's sentence bars the set."""
        other = candidate.attribute != proposed.attribute
        for each in proposed.mentions:
            first, last = each.start - start - 1, each.end - start + 1
            beside = other and any(at <= last and first <= to for at, to, _ in candidate.spans)
            if start <= each.start < end and (beside or kind_of(each.label.lower()) == "plural"):
                return THRESHOLD
        if other:
            return NEVER
        return SINGLE if candidate.attribute in self._persons else THRESHOLD
