import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from evenflow.schemas.config import load
from evenflow.transforms import files
from evenflow.transforms.inference_estimate import ANSWER_TOKENS, PLACES, Sample, Sampler, taken
from evenflow.transforms.llm_detection import Detection

BAND = (0.2, 0.8)


def detect(sentences: Sequence[str], labels: Sequence[object]) -> list[float | None]:
    """Unsure of sentences with «perhaps»; cannot say anything of «hmm»."""
    return [0.5 if "perhaps" in each else None if "hmm" in each else 0.9 for each in sentences]


def written(path: Path, texts: Sequence[str]) -> Path:
    data = "".join(json.dumps({"text": each}) + "\n" for each in texts).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def sampled(folder: Path, documents: int) -> tuple[Sample, int]:
    found = files.match([str(folder)])
    sampler = Sampler(load(None), detect, BAND)
    sample = Sample()
    for block, stored in taken(found, documents):
        sampler.add(sample, block, stored)
    return sample, sum(found.values())


SENTENCES = {
    "The weather was good that day.": (0, 0),
    "My sister sings. The rain fell.": (1, 0),
    "His brother perhaps sings.": (1, 1),
    "My sister, hmm. Perhaps, perhaps.": (1, 0),
    "She perhaps sang. He perhaps sang. He sang.": (3, 2),
    "": (0, 0),
}


def test_relevant_and_unsure_sentences_are_counted(tmp_path: Path) -> None:
    texts = [text for text in SENTENCES if text]
    written(tmp_path / "a.jsonl", texts)
    sample, size = sampled(tmp_path, 100)
    assert sorted(zip(sample.relevant, sample.unsure, strict=True)) == sorted(SENTENCES[text] for text in texts)
    total = sample.total(sample.unsure, sample.unsure_characters, size)
    assert (total.questions, total.within) == (3, 0)  # all of the input was seen
    sentences = {
        "His brother perhaps sings.": [(0, 3, "gender"), (4, 11, "gender")],
        "She perhaps sang.": [(0, 3, "gender")],
        "He perhaps sang.": [(0, 2, "gender")],
    }
    asked = [Detection().question(*each) for each in sentences.items()]
    characters = sum(len(message["content"]) for each in asked if each for message in each.messages)
    assert total.tokens == round(characters / 4 + 3 * ANSWER_TOKENS)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_sample_comes_near_the_whole(tmp_path: Path, name: str) -> None:
    drawn = np.random.default_rng(0).choice([text for text in SENTENCES if text], 20_000)
    written(tmp_path / name, drawn.tolist())
    sample, size = sampled(tmp_path, 2000)
    assert 1900 <= len(sample.weights) <= 2000
    total = sample.total(sample.relevant, sample.relevant_characters, size)
    truth = sum(SENTENCES[text][0] for text in drawn)
    assert total.within is not None
    assert abs(total.questions - truth) <= max(1.6 * total.within, 0.05 * truth)
    assert 0 < total.within < 0.1 * truth


def test_places_are_spread_over_a_file_and_no_line_comes_twice(tmp_path: Path) -> None:
    texts = [f"Sentence {number} of my sister." for number in range(5000)]
    path = written(tmp_path / "a.jsonl", texts)
    found: list[str] = []
    stored = 0.0
    for block, weight in taken({str(path): path.stat().st_size}, 640):
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
        json.loads(raw)["text"] for block, _ in taken({str(path): path.stat().st_size}, 300 * PLACES) for raw in block.records
    ]
    assert found == texts


@pytest.mark.parametrize("data", [b"", b"\n\n", b"not json\n", b'{"text": "My sister."}'])
def test_little_or_nothing_is_estimated_too(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(data)
    sample, size = sampled(tmp_path, 100)
    total = sample.total(sample.relevant, sample.relevant_characters, size)
    assert total.questions == data.count(b"sister")
    assert total.as_json(1000)["hours"] == 0.0
