import json
import random

import pytest
from progress_panes import pane

from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.terminal.summaries import Course, measured, status
from evenflow.schemas.config import load
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import PaneEntry, State, Sums
from evenflow.transforms.measures.representation.dr import documents_until, score


def panes(*states: State) -> list[PaneEntry]:
    return [pane(number, 100, documents=10, state=state) for number, state in enumerate(states)]


@pytest.mark.parametrize(
    ("entries", "state", "blocked", "reason"),
    [
        ([], "too few", [], "no pane yet"),
        (panes("too few"), "too few", [], "gender: \x1b[31mwhy"),
        (panes("open"), "open", [], "gender: \x1b[31mwhy"),
        (panes("warn", "open"), "open", [], "gender: \x1b[31mwhy"),
        (panes("open", "warn"), "warn", [], "gender: \x1b[31mwhy"),
        (panes("block", "open"), "block", [0], "gender: \x1b[31mwhy"),
        (panes("open", "block", "block"), "block", [1, 2], "gender: \x1b[31mwhy"),
    ],
)
def test_the_state_of_a_gate(
    entries: list[PaneEntry], state: State, blocked: list[int], reason: str
) -> None:
    found = status(Totals.of(entries), True, None)
    assert (found["state"], found["blocked"], found["reason"], found["panes"]) == (
        state,
        blocked,
        reason,
        len(entries),
    )
    assert found["documents"] == found["accepted"] + found["quarantined"] == 10 * len(entries)
    assert found["quarantined"] == 10 * len(blocked)
    assert found["dead_letters"] == sum(found["dead_reasons"].values()) == 2 * len(entries)
    json.dumps(found, allow_nan=False)


def test_how_many_panes_were_in_which_state() -> None:
    found = status(Totals.of(panes("open", "too few", "warn", "warn", "block")), False, "why")
    assert found["attributes"]["gender"]["panes"] == {
        "too few": 1,
        "open": 1,
        "warn": 2,
        "block": 1,
    }
    assert (found["finished"], found["held"]) == (False, "why")


def test_what_was_measured() -> None:
    config = load(
        None, {"attributes": {"gender": {"target": {"female": 0.25, "male": 0.75}}, "age": {}}}
    )
    # 20 documents with 3 mentions each, all of the same shares: the interval has no width.
    gender = AttributeFigures(20, [20, 40], [[20, 40], [40, 80]])
    total, course = (
        Figures(
            documents=30, text_bytes=99, dead_reasons={"not JSON": 2}, attributes={"gender": gender}
        ),
        Course(),
    )
    course.note(total)
    result = measured(total, config, course)
    assert (result["documents"], result["text_bytes"], result["dead_letters"]) == (30, 99, 2)
    found = result["attributes"]["gender"]
    assert (found["counts"], found["mentions"]) == ({"female": 20, "male": 40}, 60)
    assert found["dr"] == pytest.approx(1 / 3 - 1 / 4, abs=1e-6)
    assert found["shares"] == {
        "female": pytest.approx(1 / 3, abs=1e-6),
        "male": pytest.approx(2 / 3, abs=1e-6),
    }
    assert found["target"] == {"female": 0.25, "male": 0.75}
    # Nothing was seen of age: no score, and no share.
    age = result["attributes"]["age"]
    assert (age["dr"], age["low"], age["mentions"]) == (None, None, 0)
    assert age["target"] == {"young": 0.5, "middle": 0.0, "old": 0.5}  # the word list's own
    assert set(age["counts"].values()) == {0}
    assert set(age["shares"].values()) == {None}
    assert age["convergence"] == {"epsilon": 0.02, "documents": None, "projected": None}
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("epsilon", [0.05, 0.02, 0.01, 0.001])
@pytest.mark.parametrize("blocks", [1, 20, 400])
def test_after_how_many_documents_a_score_has_converged(blocks: int, epsilon: float) -> None:
    config = load(None, {"attributes": {"gender": {}}, "measure.epsilon": epsilon})
    total, course, scores = Figures(), Course(), []
    draw = random.Random(7)
    for _ in range(blocks):
        # 20 documents, a word each.
        women = draw.randrange(5, 15)
        figures = AttributeFigures(20, [women, 20 - women], [[women, 0], [0, 20 - women]])
        total.add(Figures(documents=20, attributes={"gender": figures}))
        course.note(total)
        seen = total.attributes["gender"]
        scores.append(
            score(Sums(documents=seen.documents, counts=seen.counts, products=seen.products))
        )
    found = measured(total, config, course)["attributes"]["gender"]["convergence"]
    every = documents_until(scores, epsilon)
    assert found["epsilon"] == epsilon
    assert (found["documents"] is None) == (every.documents is None)
    # Not all blocks were looked at: the width hardly wavers, but it does.
    assert (found["documents"] or found["projected"]) == pytest.approx(
        every.documents or every.projected, rel=0.15
    )
