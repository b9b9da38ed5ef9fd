"""The tests for authors of plug-ins fail for each defect that they are to find."""

from __future__ import annotations

import os

import pytest

from evenflow.testing import FinderTests, JudgeTests

TESTS = [name for name in dir(FinderTests) if name.startswith("test_")]
FAULTS = {
    "Sound": [],
    "Backwards": ["test_any_text_is_searched", "test_examples_are_found"],
    "Stateful": ["test_each_text_is_searched_alone"],
    "InAnyOrder": ["test_every_process_finds_the_same"],
    "OfThisProcess": ["test_every_process_finds_the_same"],
    "Raises": ["test_any_text_is_searched"],
}


@pytest.mark.parametrize(("name", "expected"), FAULTS.items(), ids=list(FAULTS))
def test_defects_are_found(name: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINDERS_HOME", str(os.getpid()))

    class Tests(FinderTests):
        finder = f"finders:{name}"
        examples = {  # noqa: RUF012
            "she met her": [(0, 3, "she")],
            "he came, and she": [(0, 2, "he"), (13, 16, "she")],
            "a secret": [],
        }

    failed = []
    for test in expected or TESTS:
        try:
            getattr(Tests(), test)()
        except Exception:
            failed.append(test)
    assert failed == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Judge", set()),
        ("SilentJudge", {"test_examples_are_right"}),
        ("TooSure", {"test_any_text_is_answered"}),
        ("BrokenJudge", {"test_any_text_is_answered"}),
        ("StatefulJudge", {"test_each_text_is_answered_alone"}),
    ],
)
def test_defects_of_a_judge_are_found(name: str, expected: set[str]) -> None:
    class Tests(JudgeTests):
        part = f"finders:{name}"
        examples = (
            ("He left.", [(0, 2, "She")], True),
            ("He met his", [(0, 2, "She"), (7, 10, "her")], False),
        )

    failed = set[str]()
    for test in expected or {each for each in dir(JudgeTests) if each.startswith("test_")}:
        try:
            getattr(Tests(), test)()
        except Exception:
            failed.add(test)
    assert failed == expected
