"""The experiment on a made-up corpus: what must show shows, what must not does not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Call

from evenflow.pipelines.lab.effect import power
from evenflow.pipelines.lab.effect.arms import ARMS
from evenflow.pipelines.lab.effect.effect import CELLS, RESULT
from evenflow.pipelines.lab.effect.vectors import CAREER, FAMILY

pytest_plugins = ["commands"]
SUBJECTS = {"male": ("He", "The man", "His son"), "female": ("She", "The woman", "Her daughter")}
OTHERS = ("river", "window", "yellow", "garden", "paper", "winter", "bridge", "quiet")
DOCUMENTS, LEAN = 500, 0.85


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Documents in which men have careers and women have families, 85 times of 100."""
    random = np.random.default_rng(1)
    path = tmp_path / "in.jsonl"
    with path.open("w") as file:
        for number in range(DOCUMENTS):
            texts: list[str] = []
            for _ in range(6):
                kinds = ["male", "female"] if random.random() < 0.6 else ["female", "male"]
                own = (CAREER, FAMILY) if kinds[0] == "male" else (FAMILY, CAREER)
                words = random.choice(own[int(random.random() > LEAN)], 2)
                other = random.choice(OTHERS, 2)
                who = random.choice(SUBJECTS[kinds[0]])
                texts.append(f"{who} saw the {words[0]} and {other[0]} {words[1]} {other[1]}.")
            file.write(json.dumps({"id": str(number), "text": " ".join(texts)}) + "\n")
    return path


def test_controls_show_and_chance_does_not(corpus: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "out"
    ended = call("lab", "effect", corpus, "-o", out, "--json")
    assert ended.status == 0, ended.err
    found = ended.json
    arms = found["arms"]
    assert list(arms) == list(ARMS) and found["seeds"] == 10

    def shown(arm: str, figure: str = "kept") -> bool:
        own = arms[arm]["differences"][figure]
        return own["low"] * own["high"] > 0

    # Everything exchanged: the leanings turn round; both sides: they go
    assert arms["original"]["figures"]["career"]["value"] > 1 > found["floor"]
    assert shown("exchanged") and arms["exchanged"]["figures"]["kept"]["high"] < 0
    assert shown("exchanged", "career") and arms["exchanged"]["figures"]["career"]["high"] < 0
    assert shown("two_sided") and abs(arms["two_sided"]["figures"]["kept"]["value"]) < 0.2
    assert shown("base_cda") and not shown("relevant")  # all sentences name a group
    assert arms["telling"]["differences"]["kept"]["value"] < 0
    for arm in ("weights_drawn", "copied_drawn", "removed_drawn"):
        assert not shown(arm) and not shown(arm, "career")
        null = found["expected"]["smallest"][arm]["kept"]
        assert null["low"] < 0 < null["high"] and 0 < null["smallest"] < 0.5
    powers = [each["kept"]["power"] for each in found["expected"]["doses"].values()]
    assert powers == sorted(powers) and powers[-1] > 0.99

    # A killed run goes on from its cells, and ends with the same bytes
    result = (out / RESULT).read_bytes()
    lines = (out / CELLS).read_text().splitlines(keepends=True)
    (out / CELLS).write_text("".join(lines[:-3]) + lines[-3][:10])
    (out / RESULT).unlink()
    again = call("lab", "effect", corpus, "-o", out)
    assert again.status == 0 and "will show" in again.out and "GC-CDA" in again.out
    assert (out / RESULT).read_bytes() == result
    (out / CELLS).write_text('"another"\n')
    other = call("lab", "effect", corpus, "-o", out)
    assert other.status == 2 and "another --output" in other.err


def test_too_little_text_is_refused(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "She sees a river."}))
    ended = call("lab", "effect", path, "-o", tmp_path / "out")
    assert ended.status == 2 and "too little text" in ended.err


@pytest.mark.parametrize(("seeds", "error"), [(10, 0.1), (20, 2.0)])
def test_the_smallest_effect_is_seen_four_times_of_five(seeds: int, error: float) -> None:
    size = power.smallest(error, seeds)
    assert power.power(size, error, seeds) == pytest.approx(0.8, abs=0.01)
    assert power.power(0.0, error, seeds) == pytest.approx(0.05, abs=0.01)


def test_halves_give_the_standard_error_of_the_whole() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        documents = random.normal(1.0, 1.0, 400)
        halves = [random.permutation(documents)[:200].mean() for _ in range(10)]
        own = power.effect(halves)
        covered += own.low < 1.0 < own.high
    assert 0.92 <= covered / 300 <= 0.99
