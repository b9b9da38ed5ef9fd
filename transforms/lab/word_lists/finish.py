"""Makes a word list of a draft and its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from evenflow.transforms.lab.word_lists import flagged, forms
from evenflow.transforms.lab.word_lists.agreement import REJECTED, agreement, category
from evenflow.transforms.lab.word_lists.draft import Candidate, Draft, DraftError
from evenflow.transforms.lab.word_lists.journal import Opinion, Opinions
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

CRITERIA = "criteria Q1 to Q6 of Görge et al."
SHOWN = 5  # words that a refusal names


def undecided(draft: Draft, found: Opinions) -> list[str]:
    """The words that no reviewer has decided, in the order of review; seeds need no decision."""
    decided = {word for own in found.values() for word, each in own.items() if each.decided}
    return [each.word for each in draft.candidates if each.word not in decided and not each.is_seed]


def sentences(draft: Draft, found: Opinions, leave_undecided: bool, majority: bool) -> Any:
    """Count what was decided about sentences, see `flagged.calibration`."""
    open_ones = set(undecided(draft, found))
    if open_ones and not leave_undecided:
        raise DraftError(f"{len(open_ones)} sentences are undecided; see --leave-undecided")
    chosen = dict.fromkeys((each.word for each in draft.candidates), "")
    chosen |= _chosen(draft, found, majority)
    return flagged.calibration(draft, {w: g for w, g in chosen.items() if w not in open_ones})


def finish(
    draft: Draft, found: Opinions, *, leave_undecided: bool = False, majority: bool = False
) -> WordList:
    """Make the word list."""
    open_words = undecided(draft, found)
    if open_words and not leave_undecided:
        raise DraftError(f"{len(open_words)} words are undecided: {_some(open_words)}")
    chosen = _chosen(draft, found, majority)
    labels: dict[str, int] = {}
    provenance: dict[str, str] = {}
    spelled: dict[str, str] = {}
    merged: dict[str, list[Candidate]] = {}
    for each in draft.candidates:
        merged.setdefault(chosen.get(each.word, ""), []).append(each)
    for number, group in enumerate(draft.groups):
        for each in draft.candidates:
            if chosen.get(each.word) != group:
                continue
            forms_of = [each, *merged.get(f"={each.word}", ())]
            for form in (form for one in forms_of for form in one.forms):
                other = spelled.setdefault(spelling.fold(form), group)
                if other != group:
                    raise DraftError(f"{form!r} would stand in two groups, {other} and {group}")
                if form not in labels:
                    labels[form] = number
                    provenance[form] = "; ".join(each.sources)
        if number not in labels.values():
            raise DraftError(f"group {group} has no accepted word")
    listed = [
        pair
        for pair in draft.pairs
        if [labels.get(label) for label in pair] == list(range(len(draft.groups)))
    ]
    pairs = tuple(dict.fromkeys((*listed, *_pairs(draft, found, labels))))
    counterparts: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        for label in pair:
            others = tuple(each for each in pair if each != label)
            counterparts[label] = tuple(dict.fromkeys(counterparts.get(label, ()) + others))
    return WordList(
        draft.attribute,
        draft.groups,
        labels,
        frozenset(draft.exact) & labels.keys(),
        counterparts,
        draft.source,
        draft.licence,
        "",
        _review(found),
        pairs,
        provenance,
        draft.target,
    )


def roles(draft: Draft, found: Opinions, words: WordList) -> list[dict[str, Any]]:
    """Make the role map of a list of more than two groups, whose counterparts are no pairs."""
    if len(draft.groups) == 2:
        return []
    joined: dict[str, set[str]] = {}
    for own in found.values():
        for word, opinion in own.items():
            for other in opinion.pairs:
                both = joined.get(word, {word}) | joined.get(other, {other})
                joined |= dict.fromkeys(both, both)
    out: dict[tuple[int, str], dict[str, list[str]]] = {}
    for each in draft.candidates:
        for form in each.forms if each.word in joined else ():
            group = words.labels.get(form)
            if group is not None:
                number = "singular" if forms.singular(form) is None else "plural"
                role = out.setdefault((id(joined[each.word]), number), {})
                role.setdefault(draft.groups[group], []).append(form)
    return [
        {"role": next(iter(role.values()))[0], "part": "noun", "number": number, **role}
        for (_, number), role in out.items()
        if len(role) > 1
    ]


def _chosen(draft: Draft, found: Opinions, majority: bool) -> dict[str, str]:
    """What was decided about each word; raises DraftError for disputed ones."""
    out: dict[str, str] = {}
    disputed: list[str] = []
    for each in draft.candidates:
        votes = Counter(
            category(own[each.word])
            for own in found.values()
            if each.word in own and own[each.word].decided
        )
        if not votes:
            if each.is_seed:
                out[each.word] = each.group
            continue
        (first, most), *rest = votes.most_common()
        if rest and (not majority or rest[0][1] == most):
            disputed.append(each.word)
        elif first != REJECTED:
            out[each.word] = first
    if disputed:
        raise DraftError(f"reviewers differ about {len(disputed)} words: {_some(disputed)}")
    return out


def _pairs(draft: Draft, found: Opinions, labels: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The pairs of a list of two groups, singular with singular and plural with plural."""
    if len(draft.groups) != 2:
        return ()
    of = {each.word: each for each in draft.candidates}
    out: dict[tuple[str, ...], None] = {}
    for own in found.values():
        for word, opinion in own.items():
            for other in opinion.pairs:
                for first in of[word].forms:
                    for second in of[other].forms:
                        same = (forms.singular(first) is None) == (forms.singular(second) is None)
                        pair = _in_order(first, second, labels)
                        if same and pair is not None:
                            out[pair] = None
    return tuple(out)


def _in_order(first: str, second: str, labels: Mapping[str, int]) -> tuple[str, str] | None:
    """Two labels in the order of their groups; None if they are not one of each."""
    groups = labels.get(first), labels.get(second)
    if groups == (0, 1):
        return first, second
    return (second, first) if groups == (1, 0) else None


def _review(found: Mapping[str, Mapping[str, Opinion]]) -> str:
    """Who has reviewed, when the list was made, and how far they agree."""
    agreed = agreement({reviewer: dict(own) for reviewer, own in found.items()})
    if not agreed.reviewers:
        return "seeds as they were given; nobody has reviewed them"
    told = f"by {', '.join(agreed.reviewers)}, {CRITERIA}; {datetime.now(UTC):%Y-%m-%d}"
    if len(agreed.reviewers) < 2:
        return f"reviewed {told}"
    kappa = "not defined" if agreed.kappa is None else f"{agreed.kappa:.2f}"
    return f"reviewed {told}; Fleiss' kappa {kappa} over {agreed.words} words"


def _some(words: list[str]) -> str:
    """The first words of many."""
    return ", ".join(words[:SHOWN]) + (", …" if len(words) > SHOWN else "")
