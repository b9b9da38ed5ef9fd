"""The experiment with a tiny language model: what must show shows, what must not does not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers")

from tiny_models import tiny_model  # noqa: E402

from evenflow.pipelines.lab.effect.effect import CELLS, RESULT  # noqa: E402
from evenflow.pipelines.lab.effect.language import ARMS  # noqa: E402
from evenflow.pipelines.lab.effect.layers import UpperLayers  # noqa: E402

pytest_plugins = ["commands"]
DOCUMENTS, MEN = 300, 0.8


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Documents that say «he» 80 times of 100."""
    random = np.random.default_rng(1)
    path = tmp_path / "in.jsonl"
    with path.open("w") as file:
        for number in range(DOCUMENTS):
            who = ("he", "his") if random.random() < MEN else ("she", "her")
            text = " ".join(
                f"The {random.choice(['old', 'young'])} {random.choice(['nurse', 'doctor'])} said"
                f" that {random.choice(who)} was in an old."
                for _ in range(4)
            )
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
    return path


def test_a_language_model_shows_the_exchange_and_not_chance(
    corpus: Path, tmp_path: Path, call: Call
) -> None:
    out, model = tmp_path / "out", tiny_model(tmp_path / "model")
    ended = call("lab", "effect", corpus, "-o", out, "--model", model, "--json", "-q")
    assert ended.status == 0, ended.err
    found = ended.json
    arms = found["arms"]
    assert tuple(arms) == ARMS and found["sizes"]["sentences"] == 300 and "floor" not in found

    leans = {name: arm["figures"]["lean"]["value"] for name, arm in arms.items()}
    assert leans["original"] < leans["exchanged_25"] < leans["exchanged"]
    assert leans["original"] < leans["one_sided"] < leans["exchanged"]
    shown = arms["exchanged"]["differences"]["lean"]
    assert shown["low"] > 0 and shown["value"] > shown["smallest"] > 0
    chance = arms["copied_drawn"]["differences"]["lean"]
    assert abs(chance["value"]) < abs(shown["value"]) / 5
    assert found["expected"]["doses"]["exchanged"]["lean"]["power"] > 0.99

    # A killed run goes on from its cells, and ends with the same bytes
    result = (out / RESULT).read_bytes()
    lines = (out / CELLS).read_text().splitlines(keepends=True)
    (out / CELLS).write_text("".join(lines[:-2]))
    again = call("lab", "effect", corpus, "-o", out, "--model", model)
    assert again.status == 0 and "will show" in again.out and "GC-CDA" in again.out
    assert (out / RESULT).read_bytes() == result

    # Cells of word vectors are others
    other = call("lab", "effect", corpus, "-o", out)
    assert other.status == 2 and "another --output" in other.err


def test_what_cannot_learn_is_refused(corpus: Path, tmp_path: Path, call: Call) -> None:
    masked = tiny_model(tmp_path / "masked", "bert")
    ended = call("lab", "effect", corpus, "-o", tmp_path / "out", "--model", masked)
    assert ended.status == 2 and "predict the next word" in ended.err
    scaled = tiny_model(tmp_path / "scaled", "granite", logits_scaling=4.0)
    ended = call("lab", "effect", corpus, "-o", tmp_path / "out", "--model", scaled)
    assert ended.status == 2 and "of the build of Llama" in ended.err
    few = tmp_path / "few.jsonl"
    few.write_text("".join(corpus.read_text().splitlines(keepends=True)[:135]))
    model = tiny_model(tmp_path / "model")
    ended = call("lab", "effect", few, "-o", tmp_path / "out", "--model", model)
    assert ended.status == 2 and "284 sentences of others; 64 and 300" in ended.err


def test_upper_layers_learn_what_they_read_and_forget_it(tmp_path: Path) -> None:
    layers = UpperLayers(str(tiny_model(tmp_path, num_hidden_layers=6)))
    assert layers.about["layers"] == 4
    he, she = (layers.tokens(word)[0] for word in ("he", "she"))
    texts = layers.below([[*layers.tokens("the doctor said that"), he]] * 8)
    (before,) = layers.below([layers.tokens("the doctor said that")])

    def lean() -> float:
        return float(layers.differences([before], [(he, she)])[0])

    start = lean()
    known = sorted({*layers.tokens("the doctor said that he she")})
    layers.learn(texts, [1.0] * 8, known)
    learnt = lean()
    assert learnt > start + 0.001
    layers.learn(texts, [1.0] * 8, known)  # from the pretrained weights again
    assert lean() == learnt
    layers.forget()
    assert lean() == start
