"""What a word list lacks: counterparts (C1), number (C2), convergence of DR (C3), another's labels.

The criteria are those of the main paper, section 4.2.1; the curve is that of its Figure 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenflow.schemas.ledger import Score
from evenflow.transforms.lab.word_lists import forms
from evenflow.transforms.lab.word_lists.corpus import Mentions
from evenflow.transforms.measures.representation import dr
from evenflow.transforms.substitution.roles import RoleMap
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList, WordListError
from evenflow.wordlists.parsing import label_problem


@dataclass(frozen=True)
class Missing:
    """A word that a list may lack: the other number of one of its labels."""

    word: str
    group: int
    of: str


def missing_numbers(words: WordList) -> list[Missing]:
    """Find the singular and plural forms that a list lacks (C2)."""
    known = {spelling.fold(label) for label in words.labels}
    out: dict[str, Missing] = {}
    for label, group in words.labels.items():
        # A word in capitals is an abbreviation: “US” has no plural “USES”
        as_written = label in words.exact or label.isupper()
        form = None if as_written else forms.other_number(label)
        if form and not label_problem(form) and spelling.fold(form) not in known:
            out.setdefault(spelling.fold(form), Missing(form, group, label))
    return list(out.values())


def missing_counterparts(words: WordList, roles: RoleMap) -> dict[str, tuple[str, ...]]:
    """Find the labels without a counterpart in some group (C1)."""
    if not words.counterparts and not roles.by_word:
        return {}
    out: dict[str, tuple[str, ...]] = {}
    for label, own in words.labels.items():
        paired = {own, *(words.labels[other] for other in words.counterparts.get(label, ()))}
        for role in roles.by_word.get(spelling.fold(label), ()):
            paired |= {n for n, group in enumerate(words.groups) if role.target(group, 0)}
        if lacking := tuple(each for n, each in enumerate(words.groups) if n not in paired):
            out[label] = lacking
    return out


def with_forms(
    words: WordList, chosen: Sequence[Missing], missing: Sequence[Missing] | None = None
) -> WordList:
    """A list with some of the forms that it lacks, and with those that are their counterparts.

    New forms are paired as their labels are.

    `missing`: All forms that it lacks; None: those that are chosen.
    """
    of = {each.of: each for each in missing or chosen}
    others = [o for each in chosen for o in words.counterparts.get(each.of, ()) if o in of]
    every = list(dict.fromkeys([*chosen, *(of[each] for each in others)]))
    made = words.labels | {each.word: each.group for each in every}
    listed, pairs = {spelling.fold(label): label for label in made}, dict.fromkeys(words.pairs)
    for each in every if len(words.groups) == 2 else ():
        for other in words.counterparts.get(each.of, ()):
            form = listed.get(spelling.fold(forms.other_number(other) or ""))
            if form is not None:
                pairs[(each.word, form) if each.group == 0 else (form, each.word)] = None
    why = {each.word: f"C2, other number of {each.of}" for each in every}
    return replace(words, labels=made, pairs=tuple(pairs), provenance=words.provenance | why)


def curve(found: Mentions) -> list[Score]:
    """DR over each group's k most frequent words, for each k from 1 on.

    It ends at the number of words of the group that has most in the corpus.
    """
    totals, groups = found.totals, found.groups
    order = np.lexsort((np.array(found.labels), -totals))
    rank = np.zeros(len(totals), np.int64)
    for group in range(len(found.words.groups)):
        own = order[groups[order] == group]
        rank[own] = np.arange(len(own))
    present = totals > 0
    longest = int(rank[present].max()) + 1 if present.any() else 0
    return [dr.score(dr.sums(found.by_group((rank < k + 1) & present))) for k in range(longest)]


def settled(points: Sequence[Score], tolerance: float) -> int | None:
    """From how many words on DR stays within a tolerance of the whole list's DR (C3)."""
    final = points[-1].dr if points else None
    if final is None:
        return None
    far = [
        n for n, each in enumerate(points, 1) if each.dr is None or abs(each.dr - final) > tolerance
    ]
    return max(far, default=0) + 1


def overlaps(words: WordList, reference: WordList) -> list[dict[str, Any]]:
    """Compare the labels of two lists, group by group: precision and recall (its Table 3).

    A figure is None where a list has no label of the group.
    """
    if set(words.groups) != set(reference.groups):
        raise WordListError(
            f"the lists have other groups: {', '.join(words.groups)}; {', '.join(reference.groups)}"
        )
    out: list[dict[str, Any]] = []
    for group in words.groups:
        own, other = (
            {
                spelling.fold(label): label
                for label, at in each.labels.items()
                if each.groups[at] == group
            }
            for each in (words, reference)
        )
        both = own.keys() & other.keys()
        out.append(
            {
                "group": group,
                "both": len(both),
                "precision": len(both) / len(own) if own else None,
                "recall": len(both) / len(other) if other else None,
                "only_list": tuple(own[each] for each in own if each not in both),
                "only_reference": tuple(other[each] for each in other if each not in both),
            }
        )
    return out
