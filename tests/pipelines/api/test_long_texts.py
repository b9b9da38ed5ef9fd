"""Texts of 2 MB go through every part; one of 50 MB is refused, and nothing else is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

import evenflow
from evenflow.pipelines.accepted import sinks
from evenflow.ray_data import CountMentions
from evenflow.schemas.plugins import Plugin
from evenflow.transforms.text import language

PLUGINS = Path(__file__).parents[2] / "plugins"
ANNOTATOR = evenflow.Annotator(attributes=["gender"])
SIZE = 2_000_000
# Of each text its unit and how many men the unit names; one has no bounds, one no end, one neither
UNITS = {"sentences": ("She met him. ", 1), "no end": ("he and she ", 1), "one word": ("x", 0)}
OTHERS = ["It rained."] * 98  # so that one dead letter blocks no pane
GROUPS = ("female", "male")
TOO_LONG = "x" * (50 << 20)


def rewritten(text: str, folder: Path) -> int:
    """The men of a text if no mention was lost when they were exchanged."""
    done = ANNOTATOR.annotate(evenflow.counterfactual(text, "male", "female"))
    before = ANNOTATOR.annotate(text).counts["gender"]["female"]
    return sum(done.counts["gender"].values()) - before


def sunk(text: str, folder: Path) -> int:
    """The men of a text in a table of SQLite, behind a gate that detects languages."""
    from evenflow_sqlite import SqliteSink  # pyright: ignore[reportMissingImports]

    config = {"measure.by_language": True}
    evenflow.Gate(config, attributes=["gender"]).run([text, "He left.", *OTHERS], folder / "out")
    place = str(folder / "all.db")
    sinks.follow(evenflow.accepted(folder / "out"), Plugin("sqlite", SqliteSink(), ""), place)
    with closing(sqlite3.connect(place)) as base:
        counts = base.execute("SELECT mentions_gender_male FROM documents").fetchall()
    return sum(count for [count] in counts) - 1


def judged(text: str, folder: Path) -> int:
    """Half the mentions of a text in which a judge of another package exchanges some."""
    return read(text, folder, "evenflow_unnamed:Unnamed")


def flagged(text: str, folder: Path) -> int:
    """The men of a text behind a gate that looks for stereotypes by a detector of a package."""
    config = {"stereotypes.action": "flag", "stereotypes.detector": "evenflow_generics:Generics"}
    return kept(text, folder, config)


def removed(text: str, folder: Path) -> int:
    """The men of a text behind a gate that removes stereotypes by the shipped detector."""
    return kept(text, folder, {"stereotypes.action": "remove"})


def kept(text: str, folder: Path, config: dict[str, str]) -> int:
    evenflow.Gate(config, attributes=["gender"]).run([text, "He left.", *OTHERS], folder / "out")
    table = evenflow.accepted(folder / "out").to_table()
    return sum(table["mentions_gender_male"].to_pylist()) - 1


def read(text: str, folder: Path, judge: str = "careful") -> int:
    """Half the mentions of a text in which the careful judge exchanges some."""
    config = {"repair.mode": ["substitute"], "repair.judge": judge}
    gate = evenflow.Gate(config, attributes=["gender"])
    gate.run([text, "She left.", *OTHERS], folder / "out")
    table = evenflow.accepted(folder / "out").to_table()
    return sum(sum(table[f"mentions_gender_{group}"].to_pylist()) for group in GROUPS) // 2


PARTS: dict[str, Callable[[str, Path], int]] = {
    "mentions": lambda text, _: sum(
        each.group == "male" for each in ANNOTATOR.annotate(text).mentions
    ),
    "counterfactual": rewritten,
    "Ray Data": lambda text, _: CountMentions({"attributes.gender.wordlist": None})(
        pa.table({"text": [text]})
    )["mentions_gender_male"][0].as_py(),
    "a sink": sunk,
    "a judge": judged,
    "a detector": flagged,
    "stereotypes": removed,
    "the careful judge": read,
}
BEHIND_A_GATE = ("a sink", "a judge", "a detector", "stereotypes", "the careful judge")


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example packages can be imported."""
    for name in ("sqlite", "unnamed", "generics"):
        monkeypatch.syspath_prepend(PLUGINS / name)


@pytest.mark.parametrize("kind", UNITS)
@pytest.mark.parametrize("part", PARTS)
def test_long_texts_are_counted_as_a_whole(part: str, kind: str, tmp_path: Path) -> None:
    unit, men = UNITS[kind]
    times = SIZE // len(unit)
    assert PARTS[part](unit * times, tmp_path) == men * times
    assert language.detect(unit * times) == language.detect(unit * 200)


@pytest.mark.parametrize("part", [name for name in PARTS if name not in BEHIND_A_GATE])
def test_a_text_that_is_too_long_is_an_error(part: str, tmp_path: Path) -> None:
    with pytest.raises(evenflow.EvenflowError, match=r"max_text_mib|0\.jsonl\.gz: line 1"):
        PARTS[part](TOO_LONG, tmp_path)
    assert not [*tmp_path.glob("attributes/0*")]


@pytest.mark.parametrize("part", BEHIND_A_GATE)
def test_a_text_that_is_too_long_is_a_dead_letter(part: str, tmp_path: Path) -> None:
    assert PARTS[part](TOO_LONG, tmp_path) == 0, "the other document is there"
    assert len(evenflow.accepted(tmp_path / "out")) == 99
