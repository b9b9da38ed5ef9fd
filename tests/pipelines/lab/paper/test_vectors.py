"""The paper's experiment with word vectors on a made-up corpus: what must show shows."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Call
from printed import COMMAND

from evenflow.pipelines.lab.paper import power
from evenflow.pipelines.lab.paper.run import CELLS, RESULT
from evenflow.pipelines.lab.paper.settings import ARMS, NOT_VECTORS
from evenflow.pipelines.lab.paper.vectors import CAREER, FAMILY

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


def written(path: Path, corpus: Path, **own: object) -> Path:
    """The file of an experiment with word vectors."""
    given = {"model": "vectors", "input": [str(corpus)], "output": path.stem, **own}
    path.write_text(json.dumps(given))
    return path


def test_controls_show_and_chance_does_not(corpus: Path, tmp_path: Path, call: Call) -> None:
    ended = call("lab", "paper", written(tmp_path / "out.yaml", corpus), "--json")
    assert ended.status == 0, ended.err
    found = ended.json
    assert list(found["arms"]) == [each for each in ARMS if each not in NOT_VECTORS]
    kept, career = (found["suites"][name] for name in ("kept", "career"))

    def shown(arm: str, suite: dict[str, Any] = kept) -> bool:
        own = suite["differences"][arm]
        return own["low"] * own["high"] > 0

    # Everything exchanged: the leanings turn round; both sides: they go
    assert career["estimates"]["original"]["value"] > 1
    assert shown("exchanged") and kept["estimates"]["exchanged"]["high"] < 0
    assert shown("exchanged", career) and career["estimates"]["exchanged"]["high"] < 0
    assert shown("two_sided") and abs(kept["estimates"]["two_sided"]["value"]) < 0.2
    assert shown("half") and not shown("relevant")  # all sentences name a group
    assert kept["differences"]["telling"]["value"] < 0
    for arm in ("weights_drawn", "copied_drawn", "removed_drawn"):
        assert not shown(arm) and not shown(arm, career)
    said = "\n".join(found["expected"])
    assert "beside plain copies of as many drawn documents, effects from here on" in said
    powers = re.findall(r"documents exchanged will show with power: kept ([\d.]+)", said)
    assert len(powers) == 2 and all(0.05 <= float(each) <= 1 for each in powers)
    # The data: both sides of each document are even, and weights have their effective sample
    data = {name: arm.get("attributes", {}).get("gender") for name, arm in found["arms"].items()}
    assert data["original"]["dr"] > 0.05 > data["two_sided"]["dr"] == 0
    assert data["weighed"]["dr"] < data["original"]["low"]
    assert (
        found["arms"]["exchanged"]["changed"] == found["arms"]["weighed"]["documents"] == DOCUMENTS
    )
    assert found["arms"]["weighed"]["effective"] < DOCUMENTS == found["arms"]["half"]["effective"]
    page = (tmp_path / "out" / "paper.html").read_text()
    for text in ("What may be concluded", "What may not", "Power, said before", "BaseCDA", "kept"):
        assert text in page
    assert "http://" not in page and "<script" not in page


def test_killed_twice_it_ends_the_same(corpus: Path, tmp_path: Path, call: Call) -> None:
    arms = ["original", "exchanged", "weighed", "weights_drawn", "copied"]
    arms += ["copied_drawn", "gc_cda_fast"]
    file = written(tmp_path / "out.yaml", corpus, seeds=4, arms=arms)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert call("lab", "paper", file, "--output", whole, "-q").status == 0
    for finished in (3, 30):
        words = [COMMAND, "lab", "paper", str(file), "--output", str(cut)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            while (
                len(list((cut / CELLS).rglob("measured.json"))) < finished
                and process.poll() is None
            ):
                time.sleep(0.01)
            process.kill()
    assert process.returncode == -signal.SIGKILL and not (cut / RESULT).exists()
    before = {path: path.stat().st_mtime_ns for path in (cut / CELLS).rglob("measured.json")}
    again = call("lab", "paper", file, "--output", cut)
    assert again.status == 0 and "GC-CDA" in again.out and f"cell {len(before) + 1}" in again.err
    assert (cut / RESULT).read_bytes() == (whole / RESULT).read_bytes()
    assert before == {path: path.stat().st_mtime_ns for path in before}
    # Another corpus is refused, also where the file names the same one
    written(file, corpus, seeds=4, arms=[*arms, "half"])
    other = call("lab", "paper", file, "--output", cut)
    assert other.status == 2 and "begun with other data or settings" in other.err


def test_an_estimate_leaves_nothing_behind(corpus: Path, tmp_path: Path, call: Call) -> None:
    file = written(tmp_path / "out.yaml", corpus, seeds=3, arms=["original", "half"])
    found = call("lab", "paper", file, "--estimate", "--json").json
    assert found["cells"] == 6 and found["seconds"] > 0 and found["memory"] > 1 << 20
    assert not (tmp_path / "out" / CELLS).exists()
    assert call("lab", "paper", file).status == 0
    assert call("lab", "paper", file, "--estimate", "--json").json["cells"] == 0


def test_several_attributes_have_tables(tmp_path: Path, corpus: Path, call: Call) -> None:
    own = {"attributes": ["gender", "age"], "seeds": 3, "arms": ["original", "base_cda"]}
    found = call("lab", "paper", written(tmp_path / "out.yaml", corpus, **own), "--json").json
    assert list(found["arms"]["original"]["attributes"]) == ["gender", "age"]
    file = written(tmp_path / "b.yaml", corpus, **{**own, "attributes": ["religion"]})
    ended = call("lab", "paper", file)
    assert ended.status == 2 and "religion: word vectors compare two groups" in ended.err


def test_too_little_text_is_refused(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "She sees a river."}))
    ended = call("lab", "paper", written(tmp_path / "out.yaml", path))
    assert ended.status == 2 and "too little text" in ended.err


@pytest.mark.parametrize(("seeds", "error"), [(10, 0.1), (20, 2.0)])
def test_the_smallest_effect_is_seen_four_times_of_five(seeds: int, error: float) -> None:
    size = error * power.smallest(seeds)
    assert power.power(size, error, seeds) == pytest.approx(0.8, abs=0.01)
    assert power.power(0.0, error, seeds) == pytest.approx(0.05, abs=0.01)


def test_halves_give_the_standard_error_of_the_whole() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        documents = random.normal(1.0, 1.0, 400)
        halves = [random.permutation(documents)[:200].mean() for _ in range(10)]
        _, low, high, _ = power.effect(np.array(halves))
        covered += low < 1.0 < high
    assert 0.92 <= covered / 300 <= 0.99
