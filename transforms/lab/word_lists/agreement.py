"""How far reviewers agree, by Fleiss' kappa (for two it is Scott's pi), and where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evenflow.transforms.lab.word_lists.journal import Opinion, Opinions

REJECTED = ""  # the category of a rejection beside those of the groups


@dataclass(frozen=True)
class Agreement:
    """How far reviewers agree."""

    reviewers: tuple[str, ...]
    words: int
    kappa: float | None
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
    kappa = fleiss(answers) if words and len(everyone) > 1 else None
    return Agreement(everyone, len(words), kappa, tuple(disputed))


def category(opinion: Opinion) -> str:
    """What was decided: a group, the word that it is merged with, or REJECTED."""
    return f"={opinion.merged}" if opinion.merged else opinion.group or REJECTED


def fleiss(answers: Sequence[Sequence[str]]) -> float | None:
    """Fleiss' kappa (1971): agreement of the same number of reviewers for each item.

    None where everything agrees by chance.

    `answers`: The answers of k reviewers about each of n items, (n, k).
    """
    counts = [Counter(each) for each in answers]
    raters = len(answers[0])
    pairs = sum(count * (count - 1) for each in counts for count in each.values())
    observed = pairs / (len(answers) * raters * (raters - 1))
    whole = Counter(name for each in answers for name in each)
    shares = [count / (len(answers) * raters) for count in whole.values()]
    expected = sum(share**2 for share in shares)
    return None if expected >= 1 - 1e-12 else (observed - expected) / (1 - expected)
