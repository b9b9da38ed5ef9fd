"""What `evenflow explain` says of stereotypes: for each sentence and attribute the probability, the
indicators, the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.stereotypes import detect, indicators
from evenflow.transforms.stereotypes.detect import THRESHOLD, Detector, cut
from evenflow.transforms.stereotypes.filter import IndicatorScorer
from evenflow.transforms.stereotypes.masking import Span, widened
from evenflow.wordlists.loader import WordList

# In the place of an attribute: the sentence names no group, and was judged because all sentences
# were asked for.
UNLISTED = "unlisted"
NEVER = 2.0  # no probability is as great


class Stereotypes:
    """Judges the sentences of documents that `explain` gave.

    lists: the attributes' word lists. thresholds: attribute -> score_scsc from which a potential
    stereotype is a strong one. precision: share of what is removed that should be right. Only
    sentences that name people of a group are judged.
    """

    def __init__(
        self,
        detector: Detector,
        scorer: IndicatorScorer,
        lists: Sequence[WordList],
        thresholds: Mapping[str, float],
        precision: float,
    ):
        self._detector, self._scorer, self._thresholds = detector, scorer, thresholds
        self._cuts = {name: cut(name, precision) for name in thresholds}
        self._finder = LabelFinder([widened(words) for words in lists])

    def add_to(self, document: dict[str, Any]) -> None:
        """Add to each sentence, by attribute (null: not asked, or cannot say): potential_stereotype
        (a probability), linguistic_indicators and score_scsc; remove_sentence: would `--stereotypes
        remove` take it out; and stereotype_reasons, the indicators in words. Main paper, 4.2.3."""
        rows = document["sentences"]
        asked = [
            (row, attribute, spans)
            for row in rows
            for attribute, spans in self.asked(row["sent_text"])
        ]
        sentences, every = (
            [row["sent_text"] for row, _, _ in asked],
            [spans for _, _, spans in asked],
        )
        chances = self._detector.detect(sentences, every)
        found = self._scorer.indicators(sentences, every)
        for row in rows:
            for column in (
                "potential_stereotype",
                "linguistic_indicators",
                "score_scsc",
                "remove_sentence",
            ):
                nothing = False if column == "remove_sentence" else None
                row[column] = dict.fromkeys(self._thresholds, nothing)
            row["stereotype_reasons"] = {}
        for (row, attribute, _), chance, each in zip(asked, chances, found, strict=True):
            row["potential_stereotype"][attribute] = None if chance is None else round(chance, 4)
            row["linguistic_indicators"][attribute] = (
                None if each is None else each.to_json()["indicators"]
            )
            row["score_scsc"][attribute] = None if each is None else each.score
            sure = chance is not None and chance >= self.cut(attribute)
            row["remove_sentence"][attribute] = (
                sure and each is not None and each.score >= self.threshold(attribute)
            )
            row["stereotype_reasons"][attribute] = [] if each is None else each.reasons()

    def asked(self, sentence: str) -> list[tuple[str, list[Span]]]:
        """The attributes for which a sentence is judged, each with the words that name its groups."""
        found: dict[str, list[Span]] = {}
        for mention in sorted(self._finder.find(sentence), key=lambda each: each.start):
            found.setdefault(mention.attribute, []).append(
                (mention.start, mention.end, mention.attribute)
            )
        return [
            (attribute, found[attribute]) for attribute in self._thresholds if attribute in found
        ]

    def threshold(self, attribute: str) -> float:
        """The score from which a stereotype is a strong one; a sentence that names no group is held
        to the strictest.
        """
        return self._thresholds.get(attribute, max(self._thresholds.values(), default=1.0))

    def cut(self, attribute: str) -> float:
        """The probability from which a stereotype would be taken out; NEVER where no precision is
        known.
        """
        known = self._cuts.get(attribute)
        return NEVER if known is None else known


class EverySentence(Stereotypes):
    """Judges sentences that name no group too, as UNLISTED."""

    def asked(self, sentence: str) -> list[tuple[str, list[Span]]]:
        """As above; UNLISTED if it names none."""
        return super().asked(sentence) or [(UNLISTED, [])]


def told(document: Mapping[str, Any]) -> Text:
    """For a terminal: the potential stereotypes among the sentences, each with its reasons; or that
    there is none.
    """
    out = Text()
    for row in document["sentences"]:
        for attribute, chance in row["potential_stereotype"].items():
            if chance is not None and chance >= THRESHOLD:
                out.append_text(_one(row, attribute))
    if not out:
        judged = sum(
            any(chance is not None for chance in row["potential_stereotype"].values())
            for row in document["sentences"]
        )
        out.append(f"no potential stereotype among {judged} sentences judged\n", style="dim")
    return out


def _one(row: Mapping[str, Any], attribute: str) -> Text:
    """A potential stereotype: what it is called and why."""
    out = Text()
    score, removed = row["score_scsc"][attribute], row["remove_sentence"][attribute]
    out.append(f"{row['sent_id']:>4}  ", style="dim")
    out.append(
        "strong stereotype, sure" if removed else "potential stereotype",
        style="bold red3" if removed else "bold",
    )
    strength = "strength unknown" if score is None else f"strength {score:.2f}"
    out.append(
        f" ({visible(attribute)}): probability {row['potential_stereotype'][attribute]:.2f},"
        f" {strength}\n"
    )
    for reason in row["stereotype_reasons"][attribute]:
        out.append(f"        {visible(reason)}\n")
    return out


def judge(
    lists: Sequence[WordList], thresholds: Mapping[str, float], precision: float
) -> Stereotypes:
    """Judges with the shipped models. Raises ModelError."""
    return Stereotypes(detect.shipped(), indicators.shipped(), lists, thresholds, precision)


def judge_every(
    lists: Sequence[WordList], thresholds: Mapping[str, float], precision: float
) -> EverySentence:
    """The same for all sentences."""
    return EverySentence(detect.shipped(), indicators.shipped(), lists, thresholds, precision)
