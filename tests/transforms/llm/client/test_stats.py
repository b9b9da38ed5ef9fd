"""Figures of questions: they add up, and go through JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from inference_questions import question

from evenflow.transforms.llm.client.stats import SHORTEST, Counted, Reply, Stats
from evenflow.transforms.llm.questions import Answer, Question

REASONS = st.sampled_from(["timeout", "answer not JSON"])
SECONDS = st.floats(0, 3600)
REPLIES = st.one_of(
    st.builds(lambda s, n: Reply({}, "model", "", n, s, 1), SECONDS, st.integers(0, 1000)),
    st.builds(lambda: Reply({}, "cache")),
    st.builds(lambda r, n: Reply(None, "fallback", r, 0, 1.0, n), REASONS, st.integers(0, 5)),
)


def stats(answers: list[Answer]) -> Stats:
    """The figures of some answers."""
    found = Stats()
    for answer in answers:
        found.note(answer)
    return found


@given(st.lists(REPLIES), st.lists(REPLIES))
def test_figures_add_up_and_survive_json(one: list[Answer], other: list[Answer]) -> None:
    both = stats(one)
    both.add(stats(other))
    assert both == stats(one + other)
    assert Stats.from_json(json.loads(json.dumps(both.as_json()))) == both
    assert both.questions == both.cache_hits + sum(both.fallbacks.values()) + sum(
        both.latencies.values()
    )


@given(st.lists(SECONDS, min_size=1), st.floats(0.01, 1))
def test_quantiles_are_as_near_as_their_steps(seconds: list[float], quantile: float) -> None:
    found = stats([Reply({}, "model", "", 0, each, 1) for each in seconds]).latency(quantile)
    ordered = sorted(seconds)
    rank = next(n for n in range(1, len(seconds) + 1) if n >= quantile * len(seconds))
    assert found is not None
    assert abs(found / max(ordered[rank - 1], SHORTEST) - 1) < 0.045


def test_no_answer_has_no_latency() -> None:
    assert Stats().latency(0.5) is None
    assert Stats().as_json()["seconds"] == {"p50": None, "p95": None, "p99": None}


def test_an_answer_from_elsewhere_counts_one_request() -> None:
    assert stats([Answer({}, "model"), Answer(None, "fallback", "x")]).requests == 1


class Scripted:
    """Gives the answers that it was made with."""

    def __init__(self, answers: Sequence[Answer]):
        self.answers = iter(answers)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The next answers."""
        return [next(self.answers) for _ in questions]


@given(st.lists(REPLIES), st.lists(REPLIES))
def test_counting_does_not_change_answers(one: list[Answer], other: list[Answer]) -> None:
    counted = Counted(Scripted(one + other))
    assert counted.ask([question("a")] * len(one)) == one
    assert counted.ask([question("b")] * len(other)) == other
    found = counted.stats.get("indicators", Stats())
    assert found.granted == question("a").tokens * len(one + other)
    assert replace(found, granted=0) == stats(one + other)
