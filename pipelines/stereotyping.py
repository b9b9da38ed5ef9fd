"""What `evenflow explain` says of stereotypes: for each sentence and attribute the probability, the indicators, the score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from evenflow.pipelines.explain import visible
from evenflow.transforms.indicators import Scorer
from evenflow.transforms.stereotypes import THRESHOLD, Detector

# In the place of an attribute: the sentence names no listed label, and was judged because all sentences were asked for.
UNLISTED = "unlisted"


class Stereotypes:
    """Judges the sentences of documents that `explain` gave.

    thresholds: attribute -> score_scsc from which a potential stereotype is a strong one. Only sentences that name a listed
    label are judged.
    """

    def __init__(self, detector: Detector, scorer: Scorer, thresholds: Mapping[str, float]):
        self._detector, self._scorer, self._thresholds = detector, scorer, thresholds

    def add_to(self, document: dict[str, Any]) -> None:
        """Add to each sentence, by attribute (null: not asked, or cannot say): potential_stereotype (a probability),
        linguistic_indicators and score_scsc; remove_sentence: is it a potential stereotype and a strong one; and
        stereotype_reasons, the indicators in words. Main paper, 4.2.3."""
        rows = document["sentences"]
        asked = [(row, attribute) for row in rows for attribute in self.attributes(row)]
        sentences = [row["sent_text"] for row, _ in asked]
        every = [[_span(row, label) for label in row["labels"]] for row, _ in asked]
        own = [[span for span in spans if span[2] == asked[i][1]] for i, spans in enumerate(every)]
        chances = self._detector.detect(sentences, every)
        found = self._scorer.indicators(sentences, own)
        for row in rows:
            for column in ("potential_stereotype", "linguistic_indicators", "score_scsc", "remove_sentence"):
                nothing = False if column == "remove_sentence" else None
                row[column] = dict.fromkeys(self._thresholds, nothing)
            row["stereotype_reasons"] = {}
        for (row, attribute), chance, each in zip(asked, chances, found, strict=True):
            row["potential_stereotype"][attribute] = None if chance is None else round(chance, 4)
            row["linguistic_indicators"][attribute] = None if each is None else each.to_json()["indicators"]
            row["score_scsc"][attribute] = None if each is None else each.score
            strong = chance is not None and chance >= THRESHOLD and each is not None and each.score >= self.threshold(attribute)
            row["remove_sentence"][attribute] = strong
            row["stereotype_reasons"][attribute] = [] if each is None else each.reasons()

    def attributes(self, row: Mapping[str, Any]) -> list[str]:
        """The attributes for which a sentence is judged."""
        named = {label["attribute"] for label in row["labels"]}
        return [attribute for attribute in self._thresholds if attribute in named]

    def threshold(self, attribute: str) -> float:
        """The score from which a stereotype is a strong one; a sentence without a listed label is held to the strictest."""
        return self._thresholds.get(attribute, max(self._thresholds.values(), default=1.0))


class EverySentence(Stereotypes):
    """Judges sentences that name no listed label too, as UNLISTED."""

    def attributes(self, row: Mapping[str, Any]) -> list[str]:
        """The attributes for which a sentence is judged; UNLISTED if it names none."""
        return super().attributes(row) or [UNLISTED]


def told(document: Mapping[str, Any]) -> Text:
    """For a terminal: the potential stereotypes among the sentences, each with its reasons; or that there is none."""
    out = Text()
    for row in document["sentences"]:
        for attribute, chance in row["potential_stereotype"].items():
            if chance is not None and chance >= THRESHOLD:
                out.append_text(_one(row, attribute))
    if not out:
        judged = sum(any(chance is not None for chance in row["potential_stereotype"].values()) for row in document["sentences"])
        out.append(f"no potential stereotype among {judged} sentences judged\n", style="dim")
    return out


def _one(row: Mapping[str, Any], attribute: str) -> Text:
    """A potential stereotype: what it is called and why."""
    out = Text()
    score, strong = row["score_scsc"][attribute], row["remove_sentence"][attribute]
    out.append(f"{row['sent_id']:>4}  ", style="dim")
    out.append("strong stereotype" if strong else "potential stereotype", style="bold red3" if strong else "bold")
    strength = "strength unknown" if score is None else f"strength {score:.2f}"
    out.append(f" ({visible(attribute)}): probability {row['potential_stereotype'][attribute]:.2f}, {strength}\n")
    for reason in row["stereotype_reasons"][attribute]:
        out.append(f"        {visible(reason)}\n")
    return out


def _span(row: Mapping[str, Any], label: Mapping[str, Any]) -> tuple[int, int, str]:
    """A label's place in its sentence."""
    return label["start"] - row["start"], label["end"] - row["start"], label["attribute"]


def judge(thresholds: Mapping[str, float], encoder: str | None = None) -> Stereotypes:
    """Judges with the shipped models, or the detector of an encoder's folder. Raises ModelError of either."""
    return Stereotypes(*_models(encoder), thresholds)


def judge_every(thresholds: Mapping[str, float], encoder: str | None = None) -> EverySentence:
    """The same for all sentences."""
    return EverySentence(*_models(encoder), thresholds)


def _models(encoder: str | None) -> tuple[Detector, Scorer]:
    from evenflow.transforms import indicators, stereotypes

    return stereotypes.chosen(encoder), indicators.shipped()
