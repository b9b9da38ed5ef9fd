"""A budget of questions."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from scripted_asker import Says
from substitution_questions import about

from evenflow.transforms.llm import SPENT, count_asked
from evenflow.transforms.llm.budget import Budgeted, QuestionCollector
from evenflow.transforms.llm.client.stats import Counted
from evenflow.transforms.llm.questions import DEFERRED

WORTHS = (0.2, 0.9, 0.5, 0.9)
QUESTIONS = [replace(about("He sang.", str(n)), worth=each) for n, each in enumerate(WORTHS)]

[SIZE] = {each.tokens for each in QUESTIONS}


def test_the_most_valuable_questions_are_asked_while_the_budget_lasts() -> None:
    asker = Says(lambda data: {})
    budgeted = Budgeted(asker, 3 * SIZE + 1)
    first = budgeted.ask(QUESTIONS)
    assert [each.reason for each in first] == [SPENT, "", "", ""]
    assert asker.asked == [QUESTIONS[1], QUESTIONS[2], QUESTIONS[3]]
    assert [each.reason for each in budgeted.ask(QUESTIONS)] == [SPENT] * 4
    assert len(asker.calls) == 1


@given(st.lists(st.integers(0, 3), max_size=20), st.integers(0, 30))
def test_a_budget_is_kept_and_counted(sizes: list[int], most: int) -> None:
    counted = Counted(Budgeted(Says(lambda data: {}), most * SIZE))
    for size in sizes:
        counted.ask(QUESTIONS[:size])
    cost = {name: each.additive() for name, each in counted.stats.items()}
    assert count_asked(cost) == min(most, sum(sizes))
    assert sum(each["granted"] for each in cost.values()) == SIZE * min(most, sum(sizes))


def test_a_collector_keeps_the_greater_worth() -> None:
    collector = QuestionCollector({})
    again = replace(QUESTIONS[0], worth=0.7)
    assert {each.reason for each in collector.ask([QUESTIONS[0], again])} == {DEFERRED}
    assert [each.worth for each in collector.deferred.values()] == [0.7]
