"""The circuit breaker: when it opens, what it lets through, and when it closes."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.llm.client.breaker import LEAST_FAILURES, Breaker


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock at 100 seconds."""
    return Clock()


def failing(breaker: Breaker, clock: Clock, seconds: list[float]) -> None:
    """Fails a breaker after each of some pauses in seconds."""
    for each in seconds:
        clock.now += each
        breaker.failed()


@pytest.mark.parametrize(
    ("seconds", "is_open"),
    [
        ([0] * 100, False),  # a restart: many failures at once
        ([0, 9, 0.9], False),
        ([0, 9, 1], True),
        ([0, 100], False),  # two slow questions
        ([0, 100, 0], True),
    ],
)
def test_it_opens_for_time_without_success(
    clock: Clock, seconds: list[float], is_open: bool
) -> None:
    breaker = Breaker(10, 5, clock)
    failing(breaker, clock, seconds)
    assert breaker.is_open is is_open
    assert breaker.opened == is_open


@pytest.mark.parametrize(("together", "needed"), [(1, 1), (2, 2), (3, 3), (32, LEAST_FAILURES)])
def test_a_server_that_hangs_costs_one_request_of_each_place(
    clock: Clock, together: int, needed: int
) -> None:
    breaker = Breaker(10, 5, clock, together)
    for number in range(1, needed + 1):
        breaker.failed(silent=10)
        assert breaker.is_open is (number == needed)


def test_a_success_begins_anew(clock: Clock) -> None:
    breaker = Breaker(10, 5, clock)
    failing(breaker, clock, [0, 9])
    breaker.succeeded()
    failing(breaker, clock, [2, 5, 4])
    assert not breaker.is_open


def test_a_wait_that_the_server_asks_for_is_excused(clock: Clock) -> None:
    breaker = Breaker(10, 5, clock)
    breaker.failed(60)
    failing(breaker, clock, [61, 1, 1])
    assert not breaker.is_open
    failing(breaker, clock, [8])
    assert breaker.is_open


def test_an_open_one_lets_one_through_each_cooldown(clock: Clock) -> None:
    breaker = Breaker(10, 5, clock)
    breaker.trip(5)
    assert not breaker.allows()
    clock.now += 5
    assert [breaker.allows() for _ in range(3)] == [True, False, False]
    clock.now += 5  # the one that was let through never came back
    assert breaker.allows()
    breaker.failed()
    clock.now += 4.9
    assert not breaker.allows()
    clock.now += 0.1
    assert breaker.allows()
    breaker.succeeded()
    assert [breaker.allows() for _ in range(3)] == [True] * 3
    assert breaker.opened == 1


STEPS = st.lists(st.tuples(st.sampled_from(["allows", "succeeded", "failed"]), st.floats(0, 20)))


@given(STEPS)
def test_after_a_success_it_is_closed_and_an_open_one_had_its_failures(
    steps: list[tuple[str, float]],
) -> None:
    clock = Clock()
    breaker = Breaker(10, 5, clock)
    failures = 0
    for name, seconds in steps:
        clock.now += seconds
        action: Callable[[], object] = getattr(breaker, name)
        action()
        failures = 0 if name == "succeeded" else failures + (name == "failed")
        assert not breaker.is_open or failures >= LEAST_FAILURES


def test_a_server_that_was_silent_is_left_alone_at_once() -> None:
    now = [0.0]
    breaker = Breaker(75.0, 30.0, lambda: now[0])
    for _ in range(LEAST_FAILURES):
        assert not breaker.is_open
        breaker.failed(silent=75.0)
    assert breaker.is_open
