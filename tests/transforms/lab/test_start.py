"""A training from the command line: its arguments, and what ends it with a sentence."""

from pathlib import Path

import pytest

from evenflow.transforms.lab.training.start import starter


def test_arguments_follow_the_signature(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[object] = []

    def train(
        rows: Path, more: list[int], *, to: str, seed: int = 0, last: Path | None = None,
        quick: bool = False,
    ) -> None:  # fmt: skip
        found.append((rows, more, to, seed, last, quick))

    main = starter(train, "About.", seed="of all random numbers")
    main(["a", "1", "2", "--to", "b", "--seed", "3", "--last", "c", "--quick"])
    main(["a", "1", "--to", "b"])
    assert found == [
        (Path("a"), [1, 2], "b", 3, Path("c"), True),
        (Path("a"), [1], "b", 0, None, False),
    ]
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "of all random numbers (default: 0)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["a", "1"])
    assert "--to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError("no", name="torch"), "training needs torch: pip install 'evenflow[train]'"),
        (ValueError("no rows"), "no rows"),
        (FileNotFoundError(2, "No such file", "rows"), "[Errno 2] No such file: 'rows'"),
    ],
)
def test_what_is_missing_ends_it_with_a_sentence(error: Exception, said: str) -> None:
    def train(rows: str) -> None:
        raise error

    with pytest.raises(SystemExit) as end:
        starter(train, None)(["a"])
    assert end.value.code == said
