"""Explains the bias score: of each sentence its score, and what each word adds to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.text import Text

from evenflow.pipelines.explain.document import COLOURS
from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.measures.bias_score.signal import BiasSignal

DIGITS = 5  # of a printed figure, as in the paper's tables
Shares = Callable[[str], npt.NDArray[np.float64]]
FAINT = 0.2  # part of the sentence's greatest addition below which a word is not coloured


class BiasExplainer:
    """Adds bias scores to documents that `explain` returned.

    `shares`: Gives the importance of a sentence's words; None: the signal's own.
    """

    def __init__(self, signal: BiasSignal, shares: Shares | None = None):
        self._signal, self._shares = signal, shares

    def add_to(self, document: dict[str, Any]) -> None:
        """Add to each sentence bias_score (as in the paper's Table 2).

        Its keys: by group the score; absolute; words, each with its importance, leaning (by group;
        null: no vector), addition (importance times leaning, by group) and whether it names a
        group. It is null if the sentence has no known word.
        """
        scorer, groups = self._signal.scorer, self._signal.scorer.groups
        for row in document["sentences"]:
            row["bias_score"] = None
            parts = scorer.parts(row["sent_text"])
            if all(part.leanings is None for part in parts):
                continue
            if self._shares is not None:
                shares = self._shares(row["sent_text"]).tolist()
                parts = [
                    replace(part, importance=share)
                    for part, share in zip(parts, shares, strict=True)
                ]
            words = [
                {
                    "word": part.word,
                    "importance": round(part.importance, DIGITS),
                    "leaning": _named(groups, part.leanings),
                    "addition": _named(
                        groups, [part.importance * each for each in part.leanings or ()]
                    ),
                    "names_a_group": part.named,
                }
                for part in parts
            ]
            known = [part for part in parts if part.leanings is not None]
            towards = [
                sum(part.importance * (part.leanings or ())[at] for part in known)
                for at in range(len(groups))
            ]
            row["bias_score"] = {
                "groups": _named(groups, towards),
                "absolute": round(sum(part.importance * part.absolute for part in known), DIGITS),
                "words": words,
            }


def summary(document: Mapping[str, Any]) -> Text:
    """Draw the bias score of each sentence for a terminal.

    A word has the colour of the group that it leans to most; words that add little are plain.
    Below stands a table: word, importance, leaning and what it adds.
    """
    out = Text()
    for row in document["sentences"]:
        found = row["bias_score"]
        out.append(f"{row['sent_id']:>4}  ", style="dim")
        if found is None:
            out.append(f"{visible(row['sent_text'])}\n      no known word, no score\n", style="dim")
            continue
        styles = dict(zip(found["groups"], COLOURS, strict=False))
        most = max(
            (max((each["addition"] or {"": 0}).values()) for each in found["words"]), default=0
        )
        for each in found["words"]:
            out.append(f"{visible(each['word'])} ", style=_style(each, styles, most))
        out.append("\n")
        for each in found["words"]:
            leaning, addition = each["leaning"], each["addition"]
            out.append(f"      {visible(each['word']):<20.20}{each['importance']:>8.2%}  ")
            if each["names_a_group"]:
                out.append("names a group\n", style="dim")
            elif leaning is None:
                out.append("no vector\n", style="dim")
            else:
                group = max(leaning, key=leaning.__getitem__)
                out.append(
                    f"{group} {leaning[group]:.5f}  adds {addition[group]:.5f}\n",
                    style=_style(each, styles, most),
                )
        for group, score in found["groups"].items():
            out.append(f"      {visible(group)} {score:.5f}  ", style=styles.get(group, ""))
        out.append(f"absolute {found['absolute']:.5f}\n")
    return out


def _named(groups: tuple[str, ...], values: Any) -> dict[str, float] | None:
    """Figures by group; None where there are none."""
    if not values:
        return None
    return {group: round(value, DIGITS) for group, value in zip(groups, values, strict=True)}


def _style(word: Mapping[str, Any], styles: Mapping[str, str], most: float) -> str:
    """The style of a word: the colour of its group, or none."""
    if not (addition := word["addition"]) or word["names_a_group"]:
        return ""
    group = max(addition, key=addition.__getitem__)
    return f"bold {styles.get(group, '')}" if addition[group] > FAINT * most else ""
