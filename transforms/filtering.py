"""Finds stereotypes in the relevant sentences of documents and takes the strong ones out (main paper, 4.2.3).

Two steps: the detector says how likely a sentence states a stereotype; of those that may, the linguistic indicators say how
strong it is. Strong ones are flagged, removed, or set their document aside, as an attribute's policy says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from evenflow.schemas.config import Config
from evenflow.transforms import indicators, stereotypes
from evenflow.transforms.indicators import Indicators
from evenflow.transforms.labels import Mention
from evenflow.transforms.sentence_table import GONE, Finding, Relevant
from evenflow.transforms.stereotypes import Detector

Spans = Sequence[tuple[int, int, str]]
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # what ends a line: a paragraph's mark stays when a sentence goes
SET_ASIDE, TOO_MUCH = "strong stereotype", "too much of it is strong stereotypes"


class Scorer(Protocol):
    """Tells the linguistic indicators."""

    def indicators(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[Indicators | None]:
        """Of each sentence, None where nothing can be said. labels: (start, end, attribute) of the listed labels in it."""
        ...


@dataclass(frozen=True)
class Screened:
    """A document after the filter.

    text: without what was removed. findings: by sentence and attribute. places: where each sentence begins in text, GONE for
    a removed one. aside: why the document is set aside, None where it is not.
    """

    text: str
    findings: Mapping[tuple[int, str], Finding] = field(default_factory=dict)
    places: Sequence[int] | None = None
    aside: str | None = None


class StereotypeFilter:
    """Screens documents under a configuration. Raises stereotypes.ModelError, indicators.ModelError."""

    def __init__(self, config: Config, detector: Detector | None = None, scorer: Scorer | None = None):
        self.policies = {name: config.policy(name) for name in config.attributes if config.policy(name) != "off"}
        self._thresholds = {name: config.stereotype_threshold(name) for name in self.policies}
        self._most = config.stereotypes.most_removed
        self._detector = detector or stereotypes.chosen(config.stereotypes.encoder)
        self._scorer = scorer or indicators.shipped()

    def screen(self, documents: Sequence[Relevant]) -> list[Screened]:
        """What becomes of each document; sentences of all of them are asked together."""
        asked: list[tuple[int, int]] = []  # document and sentence
        texts: list[str] = []
        spans: list[list[tuple[int, int, str]]] = []
        concerned: list[list[str]] = []
        for place, document in enumerate(documents):
            for number, own in _by_sentence(document):
                names = sorted({mention.attribute for mention in own} & self.policies.keys())
                if names:
                    start, end = document.sentences[number]
                    asked.append((place, number))
                    texts.append(document.text[start:end])
                    spans.append([(mention.start - start, mention.end - start, mention.attribute) for mention in own])
                    concerned.append(names)
        potential = self._detector.detect(texts, spans)
        likely = [
            (i, name)
            for i, value in enumerate(potential)
            if value is not None and value >= stereotypes.THRESHOLD
            for name in concerned[i]
        ]
        # Of whom a stereotype is, the attribute says: its own labels alone are the target.
        own = [[span for span in spans[i] if span[2] == name] for i, name in likely]
        scored = dict(zip(likely, self._scorer.indicators([texts[i] for i, _ in likely], own), strict=True))
        findings: list[dict[tuple[int, str], Finding]] = [{} for _ in documents]
        for i, ((place, number), names) in enumerate(zip(asked, concerned, strict=True)):
            for name in names:
                found = scored.get((i, name))
                told = None if found is None else orjson.dumps({**found.to_json(), "reasons": found.reasons()}).decode()
                strong = found is not None and found.score >= self._thresholds[name]
                findings[place][number, name] = Finding(potential[i], told, None if found is None else found.score, strong)
        return [self._screened(document, found) for document, found in zip(documents, findings, strict=True)]

    def _screened(self, document: Relevant, findings: Mapping[tuple[int, str], Finding]) -> Screened:
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


def without(text: str, sentences: Sequence[tuple[int, int]], gone: Iterable[int]) -> tuple[str, list[int]]:
    """A text without some sentences (numbers, ascending), and where each of all begins in it, GONE for those.

    The blank that stood before or after a removed sentence is closed; line breaks stay, but for one of the two that would
    stand around an empty paragraph.
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
        GONE if number in removed else start - taken[bisect_right(ends, start)] for number, (start, _) in enumerate(sentences)
    ]
    return "".join(out), places


def _breaks(blank: str) -> bool:
    return any(character in BREAKS for character in blank)


def _by_sentence(document: Relevant) -> Iterable[tuple[int, list[Mention]]]:
    """The sentences that have mentions, in order, with those."""
    at = 0
    for number, (_, end) in enumerate(document.sentences):
        own: list[Mention] = []
        while at < len(document.mentions) and document.mentions[at].start < end:
            own.append(document.mentions[at])
            at += 1
        if own:
            yield number, own
        if at == len(document.mentions):
            return
