"""The completeness of a word list: counterparts (C1), number (C2) and convergence of DR (C3).

The criteria are those of the main paper, section 4.2.1; the curve is that of its Figure 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenflow.schemas.ledger import Score
from evenflow.transforms.lab.word_lists import forms
from evenflow.transforms.lab.word_lists.corpus import Mentions
from evenflow.transforms.measures.representation import dr
from evenflow.transforms.substitution.roles import RoleMap
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList
from evenflow.wordlists.parsing import label_problem


@dataclass(frozen=True)
class Missing:
    """A word that a list may lack."""

    word: str
    group: int
    of: str
    why: str


@dataclass(frozen=True)
class CurvePoint:
    """A point of the curve of DR."""

    words: int
    score: Score


def missing_numbers(words: WordList) -> list[Missing]:
    """Find the singular and plural forms that a list lacks (C2)."""
    known = {spelling.fold(label) for label in words.labels}
    out: dict[str, Missing] = {}
    for label, group in words.labels.items():
        # A word in capitals is an abbreviation: “US” has no plural “USES”
        as_written = label in words.exact or label.isupper()
        form = None if as_written else forms.other_number(label)
        if form and not label_problem(form) and spelling.fold(form) not in known:
            out.setdefault(spelling.fold(form), Missing(form, group, label, "C2"))
    return list(out.values())


def missing_counterparts(words: WordList, roles: RoleMap) -> dict[str, tuple[str, ...]]:
    """Find the labels without a counterpart in some group (C1)."""
    if not words.counterparts and not roles.by_word:
        return {}
    out: dict[str, tuple[str, ...]] = {}
    for label, own in words.labels.items():
        paired = {words.labels[other] for other in words.counterparts.get(label, ())}
        for role in roles.by_word.get(spelling.fold(label), ()):
            paired |= {n for n, group in enumerate(words.groups) if role.target(group, 0)}
        lacking = tuple(
            group for n, group in enumerate(words.groups) if n != own and n not in paired
        )
        if lacking:
            out[label] = lacking
    return out


def missing_pairs(words: WordList, missing: Sequence[Missing]) -> list[tuple[str, ...]]:
    """Pair missing forms as their labels are paired, so that new forms are counterparts too."""
    if len(words.groups) != 2:
        return []
    listed = {spelling.fold(label): label for label in words.labels}
    listed |= {spelling.fold(each.word): each.word for each in missing}
    new = {each.word for each in missing}
    out: dict[tuple[str, ...], None] = {}
    for each in missing:
        for other in words.counterparts.get(each.of, ()):
            form = listed.get(spelling.fold(forms.other_number(other) or ""))
            if form is not None and (form in new or form in words.labels):
                pair = (each.word, form) if each.group == 0 else (form, each.word)
                out[pair] = None
    return list(out)


def with_partners(
    words: WordList, chosen: Sequence[Missing], missing: Sequence[Missing]
) -> list[Missing]:
    """Add to chosen forms those that are their counterparts."""
    of = {each.of: each for each in missing}
    partners = [
        of[other] for each in chosen for other in words.counterparts.get(each.of, ()) if other in of
    ]
    return list(dict.fromkeys([*chosen, *partners]))


def with_words(words: WordList, added: Sequence[Missing]) -> WordList:
    """A list with further labels."""
    return replace(words, labels=words.labels | {each.word: each.group for each in added})


def curve(found: Mentions) -> list[CurvePoint]:
    """DR over each group's k most frequent words, for each k.

    Returns A point for each k, up to the number of words of the group that has most in the corpus.
    """
    totals, groups = found.totals, found.groups
    order = np.lexsort((np.array(found.labels), -totals))
    rank = np.zeros(len(totals), np.int64)
    for group in range(len(found.words.groups)):
        own = order[groups[order] == group]
        rank[own] = np.arange(len(own))
    present = totals > 0
    longest = int(rank[present].max()) + 1 if present.any() else 0
    return [
        CurvePoint(k, dr.score(dr.sums(found.by_group((rank < k) & present))))
        for k in range(1, longest + 1)
    ]


def settled(points: Sequence[CurvePoint], tolerance: float) -> int | None:
    """From how many words on DR stays within a tolerance of the whole list's DR (C3)."""
    final = points[-1].score.dr if points else None
    if final is None:
        return None
    for point in reversed(points):
        if point.score.dr is None or abs(point.score.dr - final) > tolerance:
            return point.words + 1
    return 1
