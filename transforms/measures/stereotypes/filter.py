"""Finds stereotypes in the relevant sentences of documents and acts on the strong ones.

Source: main paper, 4.2.3. The filter reads every sentence that names people of a group in any form,
whether or not the name is a label of the DR score. It takes two steps. The detector gives the
probability that a sentence states a stereotype. For the likely ones, the linguistic indicators give
its strength. An attribute's action flags strong stereotypes, removes them, or sets their document
aside. Removing and setting aside begin at the user's cut (`calibration.cut`). Groups that no word
list has follow `stereotypes.action`. A passage in quotation marks is removed as a whole, or not at
all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

import orjson

from evenflow.schemas.config import Config
from evenflow.schemas.documents import PASSAGE, STAYS
from evenflow.transforms.measures.stereotypes.calibration import Calibration, actions
from evenflow.transforms.measures.stereotypes.detect import Detector
from evenflow.transforms.measures.stereotypes.findings import Findings
from evenflow.transforms.measures.stereotypes.judging import (
    IndicatorScorer,
    Judgement,
    StereotypeJudge,
)
from evenflow.transforms.staging.sentence_table import GONE, Finding, Relevant, Screened

# Line breaks: a paragraph keeps its end when a sentence goes
BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
# Words in quotation marks, in one paragraph
QUOTED = re.compile(r"“[^”\n]*”|(?<!\w)\"[^\"\n]*\"(?!\w)")
SET_ASIDE, TOO_MUCH = "strong stereotype", "too much of it is strong stereotypes"


class StereotypeFilter:
    """Filters documents under a configuration.

    Args:
        scorer: By default the shipped scorer.
        calibration: Of the detector; by default as the configuration's detector brings it.

    Raises:
        ModelError: A model or its calibration is missing or damaged.
        WordListError: A word list has a defect.
    """

    name = "stereotypes"

    def __init__(
        self,
        config: Config,
        detector: Detector | None = None,
        scorer: IndicatorScorer | None = None,
        calibration: Calibration | None = None,
    ):
        self._config = config
        self.actions = actions(config)
        self._most = config.stereotypes.most_removed
        listed = [name for name in self.actions if name in config.attributes]
        self._judge = StereotypeJudge(config, listed, detector, scorer, calibration)

    def tally(self) -> Findings:
        """What counts the stereotypes of the next pane."""
        return Findings(self._config)

    def screen(self, documents: Sequence[Relevant]) -> list[Screened]:
        """Filters documents; the models read the sentences of all of them together.

        `documents`: N documents. Their mentions are not used.
        """
        candidates = list(self._judge.candidates(documents))
        findings: list[dict[tuple[int, str], Finding]] = [{} for _ in documents]
        for each in self._judge.judge(documents, candidates):
            key = each.candidate.sentence, each.candidate.attribute
            if key[1] in self._judge.unlisted and each.indicators is None:
                continue  # the table has a row of them only if they may state a stereotype
            findings[each.candidate.document][key] = self._finding(each)
        return [
            self._screened(document, found)
            for document, found in zip(documents, findings, strict=True)
        ]

    def _finding(self, judged: Judgement) -> Finding:
        """A judgement as a row of the table of sentences."""
        if (found := judged.indicators) is None:
            return Finding(judged.potential, None, None, None, False)
        acts = self.actions[judged.candidate.attribute] != "flag"
        told = found.to_json()
        if acts and judged.stays:
            told[STAYS] = judged.stays
        taken = judged.strong and judged.sure and acts
        text = orjson.dumps(told).decode()
        return Finding(judged.potential, text, found.strength, found.score, taken)

    def _screened(
        self, document: Relevant, findings: Mapping[tuple[int, str], Finding]
    ) -> Screened:
        """A document after its findings: unchanged, without its strong sentences, or set aside."""
        strong = {(number, name) for (number, name), finding in findings.items() if finding.remove}
        if any(self.actions[name] == "quarantine" for _, name in strong):
            return Screened(document.text, findings, None, SET_ASIDE)
        found = {number for number, name in strong if self.actions[name] == "remove"}
        gone = whole_passages(document, found)
        if torn := found.difference(gone):
            findings = {
                key: _kept(finding) if key[0] in torn and finding.remove else finding
                for key, finding in findings.items()
            }
        if not gone:
            return Screened(document.text, findings)
        if len(gone) > self._most * len(document.sentences) or len(gone) == len(document.sentences):
            return Screened(document.text, findings, None, TOO_MUCH)
        text, places = remove_sentences(document.text, document.sentences, gone)
        return Screened(text, findings, places)


def _kept(finding: Finding) -> Finding:
    """A finding whose sentence stays, because a passage in quotation marks would be torn."""
    told = {**orjson.loads(finding.indicators or "{}"), STAYS: PASSAGE}
    return finding._replace(indicators=orjson.dumps(told).decode(), remove=False)


def whole_passages(document: Relevant, gone: Collection[int]) -> list[int]:
    """Keep the passages in quotation marks of which only a part would go."""
    out = set(gone)
    starts = [start for start, _ in document.sentences]
    for passage in QUOTED.finditer(document.text) if out else ():
        first = bisect_right(starts, passage.start()) - 1
        inside = range(max(first, 0), bisect_right(starts, passage.end() - 1))
        if len(inside) > 1 and not out.issuperset(inside):
            out.difference_update(inside)
    return sorted(out)


def remove_sentences(
    text: str, sentences: Sequence[tuple[int, int]], gone: Iterable[int]
) -> tuple[str, list[int]]:
    """Removes sentences from a text.

    The blank before or after a removed sentence is closed. Line breaks stay, except for one of the
    two that would surround an empty paragraph.
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
            # The last sentence of its paragraph: the blank before it goes
            cuts.append((before, end))
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
    """Whether a blank has a line break."""
    return any(character in BREAKS for character in blank)
