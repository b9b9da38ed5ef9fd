import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_llm import MODEL, ScriptedLLM, Turn

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import Config, load
from evenflow.transforms.annotation import sample
from evenflow.transforms.annotation.sample import PLACES, sample_blocks
from evenflow.transforms.io import files
from evenflow.transforms.llm.questions import answer_tokens
from evenflow.transforms.llm.worker import STEPS
from evenflow.transforms.measures.stereotypes.llm_detector import about_sentence
from evenflow.transforms.repair import estimate
from evenflow.transforms.repair.estimate import Sample, Sampler, configured_modes


def written(path: Path, texts: Sequence[str]) -> Path:
    data = "".join(json.dumps({"text": each}) + "\n" for each in texts).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def sampled(folder: Path, documents: int, config: Config | None = None) -> tuple[Sample, int]:
    found = files.match([str(folder)])
    sampler = Sampler(config or load(None, only=["gender"]))
    sample = Sample()
    for block, stored in sample_blocks(found, documents):
        sampler.add(sample, block, stored)
    sampler.draw(sample)
    return sample, sum(found.values())


TEXTS = (  # no sentence comes twice: a run asks once what a block says twice
    "Women are gossiping at market {0}. The weather was good in room {0}.",
    "A clerk lost pen {0}. He said that he would wash {0} hands.",
    "The nuns sang psalm {0}. Some girls cannot park {0} cars, they say.",
    "Every lady bought {0} hats. Boys will be boys {0}, and men never listen.",
    "It rained {0} times.",
)


def distinct(count: int) -> list[str]:
    return [TEXTS[number % len(TEXTS)].format(number) for number in range(count)]


@pytest.mark.parametrize("mode", ["cascade", "llm"])
def test_what_is_estimated_is_what_a_run_asks(tmp_path: Path, mode: str) -> None:
    """All of the input is sampled, and the server answers nothing that could bring up other
    questions.
    """
    # With ids, by which it is drawn who chooses: made ones depend on the place in the file
    path = tmp_path / "in.jsonl"
    every = ({"id": f"d{n}", "text": text} for n, text in enumerate(distinct(300)))
    path.write_text("".join(json.dumps(each) + "\n" for each in every))
    given: dict[str, Any] = {"llm.model": MODEL, "llm.deadline": 20.0}
    given |= {f"llm.{step}": mode for step in ("detection", "indicators", "substitution")}
    given |= {"stereotypes.action": "flag", "repair.mode": "substitute"}
    sample, size = sampled(path, 10_000)
    with ScriptedLLM(lambda request: Turn(content="{}")) as server:
        given |= {"llm.url": server.url, "llm.cache": str(tmp_path / "cache")}
        Run([str(path)], tmp_path / "out", load(None, given, ["gender"])).go()
    [entry] = read_entries(tmp_path / "out")
    assert entry.llm is not None
    asked = {prompt: entry.llm.get(prompt, {"questions": 0})["questions"] for prompt in STEPS}
    assert sum(asked.values()) > 50
    assert asked["substitution"] > 0 or mode == "cascade"
    totals = {prompt: sample.total({prompt: mode}, size) for prompt in STEPS}
    assert {prompt: total.questions for prompt, total in totals.items()} == asked
    assert all(total.within == 0 for total in totals.values())


def test_tokens_are_those_of_the_messages(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", ["My sister sings. The rain fell."])
    sample, size = sampled(tmp_path, 10)
    total = sample.total({"stereotypes": "llm"}, size)
    question = about_sentence("stereotypes", "My sister sings.", [(3, 9, "gender")])
    assert question is not None
    characters = sum(len(message["content"]) for message in question.messages)
    assert total.questions == 1
    assert total.tokens == round(characters / 4 + answer_tokens("stereotypes"))
    assert 10 < answer_tokens("substitution") < answer_tokens("indicators") < 100


def test_a_step_that_is_not_configured_is_not_asked() -> None:
    assert set(configured_modes(load(None)).values()) == {"embedded"}
    flagged = configured_modes(load(None, {"stereotypes.action": "flag", "llm.indicators": "llm"}))
    assert flagged == {"stereotypes": "cascade", "indicators": "llm", "substitution": "embedded"}


def test_a_sample_comes_near_the_whole(tmp_path: Path) -> None:
    texts = np.random.default_rng(0).choice(distinct(100), 2000)
    truth: int | None = None
    for name in ("a.jsonl", "a.jsonl.gz"):
        (tmp_path / name).mkdir()
        size = written(tmp_path / name / name, texts.tolist()).stat().st_size
        if truth is None:
            every, _ = sampled(tmp_path / name, 1_000_000)
            assert every.documents == len(texts)
            truth = every.total({"stereotypes": "llm"}, size).questions
        sample, _ = sampled(tmp_path / name, 400)
        assert 330 <= sample.documents <= 400
        total = sample.total({"stereotypes": "llm"}, size)
        assert total.within is not None
        assert abs(total.questions - truth) <= max(1.6 * total.within, 0.05 * truth)
        assert 0 < total.within < 0.1 * truth


def test_places_are_spread_over_a_file_and_no_line_comes_twice(tmp_path: Path) -> None:
    texts = [f"Sentence {number} of my sister." for number in range(5000)]
    path = written(tmp_path / "a.jsonl", texts)
    found: list[str] = []
    stored = 0.0
    for block, weight in sample_blocks({str(path): path.stat().st_size}, 640):
        found += [json.loads(raw)["text"] for raw in block.records]
        stored += weight
    assert len(found) == len(set(found)) == 640
    assert set(found) <= set(texts)
    parts = {texts.index(text) * PLACES // len(texts) for text in found}
    assert len(parts) == PLACES
    assert stored == sum(len(json.dumps({"text": text})) + 1 for text in found)


def test_every_line_is_taken_once_where_all_are_wanted(tmp_path: Path) -> None:
    texts = [f"{'x' * (number * 37 % 400)} {number}" for number in range(300)]
    path = written(tmp_path / "a.jsonl", texts)
    found = [
        json.loads(raw)["text"]
        for block, _ in sample_blocks({str(path): path.stat().st_size}, 300 * PLACES)
        for raw in block.records
    ]
    assert found == texts


def test_a_giant_line_is_not_read_at_each_place_within_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["My sister.", "x" * 1_000_000, "My brother.", "My aunt."]
    path = written(tmp_path / "a.jsonl", texts)
    size, looked = path.stat().st_size, list[int]()

    class Looked(io.FileIO):
        def readline(self, most: int | None = -1, /) -> bytes:
            line = super().readline(most)
            looked.append(len(line))
            return line

    monkeypatch.setattr(sample.files, "open_file", Looked)
    found = [
        json.loads(raw)["text"]
        for block, _ in sample_blocks({str(path): size}, 10 * PLACES)
        for raw in block.records
    ]
    assert found == texts
    assert len(looked) == PLACES - 1 and sum(looked) <= size + PLACES


@pytest.mark.parametrize("data", [b"", b"\n\n", b"not json\n", b'{"text": "My sister."}'])
def test_little_or_nothing_is_estimated_too(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(data)
    sample, size = sampled(tmp_path, 100)
    total = sample.total({"stereotypes": "llm"}, size)
    assert total.questions == data.count(b"sister")
    assert total.as_json(1000)["hours"] == 0.0


def test_only_the_steps_that_are_on_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "in.jsonl", distinct(60))
    monkeypatch.setattr(estimate, "PAUSE", 0.0)
    said: list[str] = []
    own = load(None, {"stereotypes.action": "flag"}, ["gender"])
    found = estimate.of_files({str(path): path.stat().st_size}, own, 2000, said.append)
    asked = {name: each["questions"] for name, each in found["modes"]["llm"]["prompts"].items()}
    assert asked["stereotypes"] > 0 == asked["substitution"]
    assert said[-1].startswith("60 documents looked at")
