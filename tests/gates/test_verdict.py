"""Verdicts from scores: thresholds, hysteresis and reasons."""

import itertools
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenflow.schemas.ledger import STATES, Score, State, Verdict
from evenflow.transforms.measures.verdict import Thresholds, decide, worst

USUAL = Thresholds(warn=0.25, block=0.45, min_mentions=200, hysteresis=0.02)


def score(low: float | None, mentions: int = 1000, documents: int = 100) -> Score:
    """A score with a lower bound."""
    dr = None if low is None and not mentions else low or 0.0
    return Score(dr=dr, corrected=dr, low=low, high=1.0, mentions=mentions, documents=documents)


@pytest.mark.parametrize(
    ("low", "previous", "state", "reason"),
    [
        (0.0, None, "open", "lower bound 0.00, warn at 0.25"),
        (0.2499, None, "open", "lower bound 0.2499, warn at 0.25"),
        (0.249999, None, "open", "lower bound 0.249999, warn at 0.25"),
        (0.25, None, "warn", "lower bound 0.25 reaches warn (0.25)"),
        (0.25, "open", "warn", "lower bound 0.25 reaches warn (0.25)"),
        (0.44, "open", "warn", "lower bound 0.440 reaches warn (0.25)"),
        (0.45, "open", "block", "lower bound 0.45 reaches block (0.45)"),
        (0.9, None, "block", "lower bound 0.900 reaches block (0.45)"),
        (0.24, "open", "open", "lower bound 0.24, warn at 0.25"),
        (0.24, "warn", "warn", "lower bound 0.240 keeps warn, which ends below 0.23"),
        (0.23, "warn", "warn", "lower bound 0.230 keeps warn, which ends below 0.23"),
        (0.2299, "warn", "open", "lower bound 0.23, warn at 0.25"),
        (0.24, "block", "warn", "lower bound 0.240 keeps warn, which ends below 0.23"),
        (0.43, "warn", "warn", "lower bound 0.430 reaches warn (0.25)"),
        (0.43, "block", "block", "lower bound 0.430 keeps block, which ends below 0.43"),
        (0.4299, "block", "warn", "lower bound 0.430 reaches warn (0.25)"),
        (0.1, "block", "open", "lower bound 0.10, warn at 0.25"),
    ],
)
def test_the_bound_decides(low: float, previous: State | None, state: State, reason: str) -> None:
    verdict = decide(score(low), USUAL, previous)
    assert (verdict.state, verdict.reason) == (state, reason)


@pytest.mark.parametrize("previous", [None, *STATES])
@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (
            score(None, 0, 0),
            "too little to judge: 0 mentions in 0 documents; 200 mentions are needed",
        ),
        (
            score(None, 1, 1),
            "too little to judge: 1 mention in 1 document; 200 mentions are needed",
        ),
        (
            score(0.5, 199),
            "too little to judge: 199 mentions in 100 documents; 200 mentions are needed",
        ),
        (score(None, 500, 1), "too little to judge: 500 mentions in 1 document give no interval"),
    ],
)
def test_too_little_is_not_judged_whatever_was_before(
    seen: Score, reason: str, previous: State | None
) -> None:
    verdict = decide(seen, USUAL, previous)
    assert (verdict.state, verdict.reason) == ("not_judged", reason)
    assert verdict.folder == "accepted"


def test_an_older_entry_has_another_word_for_a_state() -> None:
    older = {"state": "too few", "reason": ""}
    assert Verdict.model_validate(older).state == "not_judged"


def test_an_older_entry_has_the_state_in_two_keys() -> None:
    older = {"state": "open", "reason": "", "judged": False}
    assert Verdict.model_validate(older).state == "not_judged"
    assert Verdict.model_validate(older | {"judged": True}).state == "open"


def test_enough_mentions_are_enough() -> None:
    assert decide(score(0.5, 200), USUAL, None).state == "block"
    assert decide(score(0.5, 0, 2), Thresholds(0.25, 0.45, 0, 0.02), None).state == "block"


@example(0.1234567891, 0.12345678912, 1.0, 0.0, "block")
@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([None, *STATES]),
)
def test_for_any_thresholds(
    low: float, one: float, other: float, hysteresis: float, previous: State | None
) -> None:
    limits = Thresholds(min(one, other), max(one, other), 200, hysteresis)
    state = decide(score(low), limits, previous).state
    fresh = decide(score(low), limits, None).state
    # A state before makes the verdict graver or leaves it, never beyond that state; hysteresis
    # alone makes it graver.
    assert (
        STATES.index(fresh)
        <= STATES.index(state)
        <= max(STATES.index(fresh), STATES.index(previous or "open"))
    )
    assert (
        decide(score(low), Thresholds(limits.warn, limits.block, 200, 0), previous).state == fresh
    )
    # A graver bound never gives a milder verdict.
    assert STATES.index(decide(score(min(1, low + 0.1)), limits, previous).state) >= STATES.index(
        state
    )
    # Any state can be left. (Bounds have six digits.)
    if limits.warn > 1e-6:
        assert decide(score(0.0), limits, previous).state == "open"


def changes(hysteresis: float, level: float) -> int:
    """How often the state of 2000 panes changes while their rolling bound varies around a level.

    One of the four figures behind a bound is new in each pane.
    """
    draw = random.Random(7)
    limits = Thresholds(0.25, 0.45, 200, hysteresis)
    window = [draw.gauss(level, 0.02) for _ in range(4)]
    states: list[State] = []
    for _ in range(2000):
        window = [*window[1:], draw.gauss(level, 0.02)]
        bound = min(max(sum(window) / 4, 0.0), 1.0)
        states.append(decide(score(bound), limits, states[-1] if states else None).state)
    return sum(a != b for a, b in itertools.pairwise(states))


@pytest.mark.parametrize("level", [0.25, 0.45])
def test_a_stream_at_a_threshold_flaps_less_with_hysteresis(level: float) -> None:
    without, with_it = changes(0.0, level), changes(0.02, level)
    assert without > 300
    assert with_it < without / 5


def test_the_worst_state() -> None:
    assert worst([]) == "open"
    assert worst(["open", "warn", "open"]) == "warn"
    assert worst(iter(["block", "warn"])) == "block"
