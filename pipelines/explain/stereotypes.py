"""Explains stereotypes: by sentence and attribute the probability, the indicators, the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.config import Config
from evenflow.transforms.measures.stereotypes import indicators
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD, Detector
from evenflow.transforms.measures.stereotypes.judging import (
    Candidate,
    IndicatorScorer,
    StereotypeJudge,
)
from evenflow.transforms.staging.sentence_table import Relevant

# In the place of an attribute: the sentence names no group, and was judged because all sentences
# were asked for.
UNLISTED = "unlisted"
COLUMNS = (
    "potential_stereotype",
    "strength",
    "association",
    "creed",
    "linguistic_indicators",
    "score_scsc",
)


class Stereotypes:
    """Judges the sentences of documents that `explain` returned.

    `detector`: Gives the probabilities; None: the shipped one. `scorer`: Gives the indicators;
    None: the shipped one.
    """

    def __init__(
        self,
        config: Config,
        every: bool = False,
        detector: Detector | None = None,
        scorer: IndicatorScorer | None = None,
    ):
        self._attributes, self._every = list(config.attributes), every
        self._judge = StereotypeJudge(config, self._attributes, detector, scorer, every=True)

    def add_to(self, document: dict[str, Any]) -> None:
        """Add to each sentence, by attribute, what is known of stereotypes (main paper, 4.2.3).

        Added are potential_stereotype (the probability that it states one), strength (how strong
        people would call it), association (the probability that people think so of the group, also
        where one person is meant), creed (the probability that it is of a creed alone),
        linguistic_indicators, score_scsc (null: no language model gave the indicators),
        remove_sentence (whether `--stereotypes-action remove` would take it out) and
        stereotype_reasons (the indicators in words).
        """
        rows = document["sentences"]
        for row in rows:
            for column in COLUMNS:
                row[column] = dict.fromkeys(self._attributes)
            row["remove_sentence"] = dict.fromkeys(self._attributes, False)
            row["stereotype_reasons"] = {}
        read = [
            Relevant(0, document["text"], [(row["start"], row["end"]) for row in rows], mentions=())
        ]
        for each in self._judge.judge(read, self._candidates(read), all_indicators=True):
            row, attribute = rows[each.candidate.sentence], each.candidate.attribute
            chance, found = each.potential, each.indicators
            row["potential_stereotype"][attribute] = None if chance is None else round(chance, 4)
            told: dict[str, Any] = {"indicators": None, "reasons": []}
            if found is not None:
                told = indicators.shipped().weighed(found.text, found.to_json())
            row["linguistic_indicators"][attribute] = told["indicators"]
            row["strength"][attribute] = None if found is None else found.strength
            row["association"][attribute] = None if found is None else found.association
            row["creed"][attribute] = None if found is None else found.creed
            row["score_scsc"][attribute] = None if found is None else found.score
            row["remove_sentence"][attribute] = each.strong and each.sure
            row["stereotype_reasons"][attribute] = told["reasons"]

    def _candidates(self, documents: Sequence[Relevant]) -> list[Candidate]:
        """What is asked about one document, by sentence and in the order of the attributes."""
        found = list(self._judge.candidates(documents))
        if self._every:
            named = {each.sentence for each in found}
            found += [
                Candidate(0, number, UNLISTED, [])
                for number in range(len(documents[0].sentences))
                if number not in named
            ]
        order = [*self._attributes, *self._judge.unlisted, UNLISTED]
        return sorted(found, key=lambda each: (each.sentence, order.index(each.attribute)))


def summary(document: Mapping[str, Any]) -> Text:
    """Draw the potential stereotypes of a document for a terminal, each with its reasons."""
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
    """The lines of a potential stereotype: what it is called, and why."""
    out = Text()
    score, removed = row["strength"][attribute], row["remove_sentence"][attribute]
    out.append(f"{row['sent_id']:>4}  ", style="dim")
    out.append(
        "strong stereotype, sure" if removed else "potential stereotype",
        style="bold red3" if removed else "bold",
    )
    strength = "strength unknown" if score is None else f"strength {score:.2f}"
    associated = row["association"][attribute]
    association = "" if associated is None else f", association {associated:.2f}"
    out.append(
        f" ({visible(attribute)}): probability {row['potential_stereotype'][attribute]:.2f},"
        f" {strength}{association}\n"
    )
    for reason in row["stereotype_reasons"][attribute]:
        out.append(f"        {visible(reason)}\n")
    return out
