"""Finds stereotypes in the relevant sentences of documents and takes the strong ones out (main
paper, 4.2.3).

Looked at is every sentence that names people of a group in any form, one of the DR score's labels
or not. Two steps: the detector says how likely a sentence states a stereotype; of those that may,
the linguistic indicators say how strong it is. Strong ones are flagged, removed, or set their
document aside, as an attribute's policy says; the latter two only where the detector is right as
often as `stereotypes.precision` asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, Protocol

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import BETWEEN, LabelFinder, pieces
from evenflow.transforms.staging.sentence_table import GONE, Finding, Relevant
from evenflow.transforms.stereotypes import detect, indicators
from evenflow.transforms.stereotypes.calibration import Calibration
from evenflow.transforms.stereotypes.detect import Detector
from evenflow.transforms.stereotypes.indicators import Indicators
from evenflow.transforms.stereotypes.masking import Span, widened
from evenflow.wordlists import loader

PIECE = 1 << 20  # characters that are searched at a time
# What ends a line: a paragraph's mark stays when a sentence goes
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
SET_ASIDE, TOO_MUCH = "strong stereotype", "too much of it is strong stereotypes"


class IndicatorScorer(Protocol):
    """Tells the linguistic indicators."""

    def indicators(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[Indicators | None]:
        """Of each sentence, None where nothing can be said. labels: (start, end, attribute) of the
        listed labels in it.
        """
        ...


@dataclass(frozen=True)
class Screened:
    """A document after the filter.

    text: without what was removed. findings: by sentence and attribute. places: where each sentence
    begins in text, GONE for a removed one. aside: why the document is set aside, None where it is
    not.
    """

    text: str
    findings: Mapping[tuple[int, str], Finding] = field(default_factory=dict)
    places: Sequence[int] | None = None
    aside: str | None = None


class Candidate(NamedTuple):
    """A sentence and an attribute whose groups it names: numbers of document and sentence, and the
    words that name them.
    """

    document: int
    sentence: int
    attribute: str
    spans: list[Span]


class StereotypeFilter:
    """Screens documents under a configuration.

    calibration: of a detector other than the shipped one. Raises ModelError, WordListError.
    """

    def __init__(
        self,
        config: Config,
        detector: Detector | None = None,
        scorer: IndicatorScorer | None = None,
        calibration: Calibration | None = None,
    ):
        self.policies = {
            name: config.policy(name) for name in config.attributes if config.policy(name) != "off"
        }
        self._thresholds = {name: config.stereotype_threshold(name) for name in self.policies}
        self._cuts = {
            name: detect.cut(name, config.stereotypes.precision, calibration)
            for name in self.policies
        }
        self._most = config.stereotypes.most_removed
        lists = [loader.load(config.attributes[name].wordlist or name) for name in self.policies]
        self._finder = LabelFinder([widened(words) for words in lists])
        self._detector = detector or detect.shipped()
        self._scorer = scorer or indicators.shipped()

    def screen(self, documents: Sequence[Relevant]) -> list[Screened]:
        """What becomes of each document; sentences of all of them are asked together. Its mentions
        are not looked at.
        """
        asked = list(self._asked(documents))
        texts = [_text(documents[each.document], each.sentence) for each in asked]
        spans = [each.spans for each in asked]
        potential = self._detector.detect(texts, spans)
        likely = [
            i
            for i, value in enumerate(potential)
            if value is not None and value >= detect.THRESHOLD
        ]
        told = self._scorer.indicators([texts[i] for i in likely], [spans[i] for i in likely])
        scored = dict(zip(likely, told, strict=True))
        findings: list[dict[tuple[int, str], Finding]] = [{} for _ in documents]
        for i, each in enumerate(asked):
            finding = self._finding(each.attribute, potential[i], scored.get(i))
            findings[each.document][each.sentence, each.attribute] = finding
        return [
            self._screened(document, found)
            for document, found in zip(documents, findings, strict=True)
        ]

    def _asked(self, documents: Sequence[Relevant]) -> Iterator[Candidate]:
        """The sentences that name groups of an attribute that is screened."""
        texts = [document.text for document in documents]
        for first, last in pieces(texts, PIECE):
            begins = list(
                accumulate((len(text) + len(BETWEEN) for text in texts[first:last]), initial=0)
            )
            joined = BETWEEN.join(texts[first:last])
            found: dict[tuple[int, int, str], list[Span]] = {}
            for mention in sorted(self._finder.find(joined), key=lambda each: each.start):
                place = bisect_right(begins, mention.start) - 1
                sentences = documents[first + place].sentences
                own = mention.start - begins[place]
                number = bisect_right(sentences, own, key=lambda each: each[0]) - 1
                if number >= 0 and own < sentences[number][1]:
                    start = own - sentences[number][0]
                    span = start, start + mention.end - mention.start, mention.attribute
                    found.setdefault((first + place, number, mention.attribute), []).append(span)
            yield from (Candidate(*key, spans) for key, spans in sorted(found.items()))

    def _finding(
        self, attribute: str, potential: float | None, found: Indicators | None
    ) -> Finding:
        """What is said of a sentence for an attribute, and whether it is a strong stereotype that
        is sure enough.
        """
        if found is None:
            return Finding(potential, None, None, False)
        cut = self._cuts[attribute]
        strong = found.score >= self._thresholds[attribute]
        sure = self.policies[attribute] == "flag" or (
            cut is not None and potential is not None and potential >= cut
        )
        told = orjson.dumps({**found.to_json(), "reasons": found.reasons()}).decode()
        return Finding(potential, told, found.score, strong and sure)

    def _screened(
        self, document: Relevant, findings: Mapping[tuple[int, str], Finding]
    ) -> Screened:
        strong = {(number, name) for (number, name), finding in findings.items() if finding.remove}
        if any(self.policies[name] == "quarantine" for _, name in strong):
            return Screened(document.text, findings, None, SET_ASIDE)
        gone = sorted({number for number, name in strong if self.policies[name] == "remove"})
        if not gone:
            return Screened(document.text, findings)
        if len(gone) > self._most * len(document.sentences) or len(gone) == len(document.sentences):
            return Screened(document.text, findings, None, TOO_MUCH)
        text, places = without(document.text, document.sentences, gone)
        return Screened(text, findings, places)


def without(
    text: str, sentences: Sequence[tuple[int, int]], gone: Iterable[int]
) -> tuple[str, list[int]]:
    """A text without some sentences (numbers, ascending), and where each of all begins in it, GONE
    for those.

    The blank that stood before or after a removed sentence is closed; line breaks stay, but for one
    of the two that would stand around an empty paragraph.
    """
    cuts: list[tuple[int, int]] = []
    removed = set(gone)
    first = 0
    while first < len(sentences):
        if first not in removed:
            first += 1
            continue
        last = first
        while last + 1 in removed:
            last += 1
        start, end = sentences[first][0], sentences[last][1]
        before = sentences[first - 1][1] if first else 0
        after = sentences[last + 1][0] if last + 1 < len(sentences) else len(text)
        broken_before = first == 0 or _breaks(text[before:start])
        broken_after = last + 1 == len(sentences) or _breaks(text[end:after])
        if broken_after and not broken_before:
            cuts.append((before, end))  # the last of its paragraph: the blank before it goes
        elif last + 1 < len(sentences):
            cuts.append((start, after))
        else:
            cuts.append((before, end) if first else (start, end))
        first = last + 1
    out: list[str] = []
    ends: list[int] = []  # of the cuts, and how much was taken out up to there
    taken = [0]
    at = 0
    for begin, stop in cuts:
        out.append(text[at:begin])
        at = stop
        ends.append(stop)
        taken.append(taken[-1] + stop - begin)
    out.append(text[at:])
    places = [
        GONE if number in removed else start - taken[bisect_right(ends, start)]
        for number, (start, _) in enumerate(sentences)
    ]
    return "".join(out), places


def _breaks(blank: str) -> bool:
    return any(character in BREAKS for character in blank)


def _text(document: Relevant, number: int) -> str:
    start, end = document.sentences[number]
    return document.text[start:end]
