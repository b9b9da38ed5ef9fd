"""How far reviewers agree: Cohen's kappa of two, Fleiss' kappa of more, and where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenflow.transforms.lab.word_lists.journal import Opinion, Opinions

REJECTED = ""  # the category of a rejection beside those of the groups


@dataclass(frozen=True)
class Agreement:
    """How far reviewers agree."""

    reviewers: tuple[str, ...]
    words: int
    kappa: float | None
    method: str
    disputed: tuple[str, ...]


def agreement(found: Opinions) -> Agreement:
    """Compute the agreement of all reviewers."""
    decided = {
        reviewer: {word: category(each) for word, each in own.items() if each.decided}
        for reviewer, own in found.items()
    }
    decided = {reviewer: own for reviewer, own in decided.items() if own}
    everyone = tuple(sorted(decided))
    words = sorted(set.intersection(*(set(own) for own in decided.values()))) if decided else []
    disputed = sorted(
        word
        for word in {word for own in decided.values() for word in own}
        if len({own[word] for own in decided.values() if word in own}) > 1
    )
    answers = [[decided[reviewer][word] for reviewer in everyone] for word in words]
    two = len(everyone) == 2
    kappa = None
    if words and len(everyone) > 1:
        kappa = cohen(answers) if two else fleiss(answers)
    return Agreement(
        everyone, len(words), kappa, "Cohen's kappa" if two else "Fleiss' kappa", tuple(disputed)
    )


def category(opinion: Opinion) -> str:
    """What was decided: a group, the word that it is merged with, or REJECTED."""
    return f"={opinion.merged}" if opinion.merged else opinion.group or REJECTED


def cohen(answers: Sequence[Sequence[str]]) -> float | None:
    """Cohen's kappa (1960): agreement of two reviewers above chance."""
    shares: list[Mapping[str, float]] = []
    for number in (0, 1):
        own = Counter(each[number] for each in answers)
        shares.append({name: count / len(answers) for name, count in own.items()})
    observed = sum(first == second for first, second in answers) / len(answers)
    return _above_chance(observed, sum(p * shares[1].get(name, 0) for name, p in shares[0].items()))


def fleiss(answers: Sequence[Sequence[str]]) -> float | None:
    """Fleiss' kappa (1971): agreement of the same number of reviewers for each item.

    `answers`: The answers of k reviewers about each of n items, (n, k).
    """
    counts = [Counter(each) for each in answers]
    raters = len(answers[0])
    pairs = sum(count * (count - 1) for each in counts for count in each.values())
    observed = pairs / (len(answers) * raters * (raters - 1))
    whole = Counter(name for each in answers for name in each)
    shares = [count / (len(answers) * raters) for count in whole.values()]
    return _above_chance(observed, sum(share**2 for share in shares))


def _above_chance(observed: float, expected: float) -> float | None:
    """A kappa; None where everything agrees by chance."""
    return None if expected >= 1 - 1e-12 else (observed - expected) / (1 - expected)
