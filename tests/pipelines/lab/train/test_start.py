"""A training from the command line: its arguments, and what ends it with a sentence."""

from typing import Any

import pytest

from evenflow.pipelines.lab.train.start import start

OPTIONS: dict[str, dict[str, Any]] = {"rows": {}, "--seed": {"type": int, "default": 0}}


def test_arguments_are_passed_by_name() -> None:
    found: list[dict[str, Any]] = []
    start("x", "About.", OPTIONS, lambda **given: found.append(given), ["a", "--seed", "3"])
    assert found == [{"rows": "a", "seed": 3}]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("no", name="torch"), "training needs torch: pip install 'evenflow[train]'"),
        (ValueError("no rows"), "no rows"),
        (FileNotFoundError(2, "No such file", "rows"), "[Errno 2] No such file: 'rows'"),
    ],
)
def test_what_is_missing_ends_it_with_a_sentence(error: Exception, said: str) -> None:
    def train(**given: Any) -> None:
        raise error

    with pytest.raises(SystemExit) as end:
        start("x", None, OPTIONS, train, ["a"])
    assert end.value.code == said
