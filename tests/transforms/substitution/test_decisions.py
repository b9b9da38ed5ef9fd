"""Which sets may change: what a set says itself, what a judge says, who changes with whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.decisions import Decisions
from evenflow.transforms.substitution.judges import Asked, Judged
from evenflow.transforms.substitution.sets import Edit, Set

EDITS = {"male": [Edit(0, 3, "he")]}


def proposed(confidence: float, edits: dict[str, list[Edit]] = EDITS) -> Set:
    return Set("gender", "female", edits, confidence, (0,), ((0, 3),), ())


class Says:
    """A judge with one answer a question."""

    def __init__(self, *answers: Judged):
        self._answers = answers

    def exchanges(self, asked: Iterable[Asked]) -> Iterator[Sequence[Judged]]:
        for each in asked:
            yield self._answers[: len(each.exchanges)]


def show(spot: int, exchanges: Sequence[tuple[int, str]]) -> Asked:
    return Asked("text", [proposed(0.9)] * 3, exchanges)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (proposed(0.9), ""),
        (proposed(0.0), sets.NO_COUNTERPART),
        (proposed(0.9, {}), sets.NO_COUNTERPART),
        (proposed(0.0, {}), sets.NO_COUNTERPART),
    ],
)
def test_a_set_changes_only_with_edits_and_a_probability(own: Set, reason: str) -> None:
    """Also at a min_probability of 0, where no probability is too low."""
    assert Decisions[int](0.0, None).reason(0, 0, own) == reason


def test_without_a_judge_the_own_probability_decides() -> None:
    own = Decisions[int](0.5, None)
    assert (
        own.reason(0, 0, proposed(0.5)) == "" and own.reason(0, 0, proposed(0.49)) == sets.DOUBTED
    )


@pytest.mark.parametrize(("probability", "reason"), [(0.5, ""), (0.49, sets.DOUBTED)])
def test_a_judge_accepts_from_the_min_probability_on(probability: float, reason: str) -> None:
    own = Decisions[int](0.5, Says(Judged(probability, "", (0,))))
    own.ask({7: [(0, "male")]}, show)
    assert own.reason(7, 0, proposed(0.9)) == reason
    assert own.judged == 1 and own.decided(7, 0, proposed(0.9)).confidence == probability


def test_sets_of_a_person_change_with_the_first() -> None:
    own = Decisions[int](0.5, Says(Judged(0.9, "", (0, 1)), Judged(0.1, "", (1,))))
    own.ask({7: [(0, "male"), (1, "male")]}, show)
    assert own.joined(7, 0) == (0, 1) and own.follows(7, 1) and not own.follows(7, 0)
    assert not own.refused  # the second answer is of a set that goes with the first


def test_a_set_does_not_change_with_one_that_was_refused() -> None:
    own = Decisions[int](0.5, Says(Judged(0.1, "", (0,)), Judged(0.9, "", (0, 1))))
    own.ask({7: [(0, "male"), (1, "male")]}, show)
    assert own.refused == {(7, 0): sets.DOUBTED, (7, 1): sets.HALF}
    assert own.excluded == {sets.DOUBTED: 1, sets.HALF: 1}


class Bars:
    """Bars every exchange of one place."""

    def bars(self, text: str, own: Set) -> bool:
        return own.confidence == 0.9


def test_what_is_barred_is_refused_whatever_the_judge_says() -> None:
    own = Decisions[int](0.5, Says(Judged(0.9, "", (0,))), Bars())
    own.ask({7: [(0, "male")]}, show)
    assert own.reason(7, 0, proposed(0.9)) == sets.STEREOTYPE
    assert own.decided(7, 0, proposed(0.9)).confidence == 0.0
