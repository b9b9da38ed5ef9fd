"""A judge of another package: what it is asked, and what comes of what it says."""

from __future__ import annotations

import pytest

from evenflow.schemas.config import load
from evenflow.transforms.substitution import reading, sets
from evenflow.transforms.substitution.judges import Asked, Judged
from evenflow.transforms.substitution.plugin_judge import PluginJudge
from evenflow.transforms.substitution.sets import Edit, Set


def asked() -> Asked:
    one = Set("gender", "male", {"female": (Edit(0, 2, "She"),)}, 0.5, (0,), ((0, 8),), ())
    two = {"female": (Edit(0, 2, "She"), Edit(7, 10, "her"))}
    both = Set("gender", "male", two, 0.5, (0,), ((0, 10),), ())
    return Asked("He met his", [one, both], [(1, "female"), (0, "female")])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Judge", [Judged(0.0, "", (1,)), Judged(1.0, "", (0,))]),
        ("SilentJudge", [Judged(0.0, sets.SILENT, (1,)), Judged(0.0, sets.SILENT, (0,))]),
        *(
            (name, [Judged(0.0, sets.FAILED, (1,)), Judged(0.0, sets.FAILED, (0,))])
            for name in ("TooFew", "TooSure", "BrokenJudge")
        ),
    ],
)
def test_what_it_does_not_say_is_refused(name: str, expected: list[Judged]) -> None:
    config = load(None, {"repair.judge": f"finders:{name}"})
    judge = reading.judge_of(config)
    assert isinstance(judge, PluginJudge)
    nothing = Asked("It rained.", [], [])
    assert list(judge.exchanges([asked(), nothing])) == [expected, []]
    assert reading.min_probability(config, "gender") == reading.MIN_PROBABILITY
