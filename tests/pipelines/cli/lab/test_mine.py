"""`evenflow lab mine`: what it keeps and writes, what it goes on from, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

import transformers  # noqa: E402
from tiny_fillers import constant  # noqa: E402
from tiny_models import gate_output, tiny_model  # noqa: E402

from evenflow.pipelines.lab.paper.settings import Mined  # noqa: E402
from evenflow.pipelines.lab.train import mining  # noqa: E402
from evenflow.pipelines.lab.train.errors import TrainInputError  # noqa: E402
from evenflow.pipelines.lab.train.mining import Mining  # noqa: E402
from evenflow.pipelines.lab.train.mining_inputs import Source  # noqa: E402
from evenflow.pipelines.lab.train.rows import Row  # noqa: E402
from evenflow.transforms.lab.masking.scoring import Left  # noqa: E402
from evenflow.transforms.lab.masking.sentences import SentenceFinder  # noqa: E402
from evenflow.wordlists import loader  # noqa: E402

pytest_plugins = ["commands"]
GENDER = SentenceFinder(loader.load("gender"))
SCORES = {"she": 3.0, "he": 1.0, "man": 4.0, "woman": 4.5, "her": 1.0, "his": 0.0}
TEXTS = [
    "that she said. the doctor is old.",  # she: 2
    "the man said. the woman is young.",  # man: 0.5, woman: 0.5
    "her doctor is a man.",  # her: 1, man: 0.5: 0.75
    "he or she is old. the doctor said.",  # even already
    "that she said.",  # there already
]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return constant(tmp_path / "bert", **SCORES)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_highest_scores_of_accepted_documents(call: Call, model: Path, tmp_path: Path) -> None:
    out = gate_output(tmp_path / "out", [TEXTS[:2], ["she said that she said."], TEXTS[2:]], [1])
    ended = call("lab", "mine", out, "--model", model, "--top", 3, "-a", "gender")
    assert ended.status == 0, ended.err
    found = lines(ended.out)
    assert [(each["rank"], each["sentence"]) for each in found[:2]] == [
        (1, "that she said."),
        (2, "her doctor is a man."),
    ]
    assert [each["score"] for each in found] == pytest.approx([2.0, 0.75, 0.5], abs=1e-5)
    # Of equal scores the one with the lower digest
    assert found[2]["sentence"] == min(
        ("the man said.", "the woman is young."),
        key=lambda text: mining.sha256(text.encode()).digest(),
    )
    assert found[0]["leans_to"] == "female" and found[0]["document"] == "0-0"
    [word] = found[0]["words"]
    assert word["forms"] == {"female": "she", "male": "he"} and word["would_say"][0] == "woman"
    assert 0 < word["probabilities"]["male"] < word["probabilities"]["female"] < 1


def test_interventions_go_through_a_gate_into_training(
    call: Call, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in TEXTS))
    mined, out = tmp_path / "mined", tmp_path / "out"
    options = ("--top", 2, "-a", "gender", "--intervene", "fixed-phrase-masking-3", "-o", mined)
    ended = call("lab", "mine", tmp_path / "in.jsonl", "--model", model, *options)
    assert ended.status == 0, ended.err
    assert "2 of 5 sentences of 5 documents" in ended.out
    records = lines((mined / "records" / "mined.jsonl").read_text())
    assert [each["text"] for each in records] == [
        "that she or he said.",
        "her or his doctor is a man or woman.",
    ]
    assert [each["text"][a:b] for each in records for a, b in each["spans"]] == [
        "she or he", "her or his", "man or woman",
    ]  # fmt: skip
    assert records[0]["original"] == "that she said." and records[0]["document"] == "in.jsonl#0"
    assert call("run", "--input", mined / "records", "--output", out).status == 0
    settings = tmp_path / "few.yaml"
    settings.write_text(
        "finetune: {objective: mlm, rank: 0, focus: spans, masked: 1.0, steps: 2, batch: 2,"
        " context: 16, threads: 1}"
    )
    trained = ("--model", model, "--output", tmp_path / "tuned", "--json")
    made = call("lab", "finetune", "--data", out, "-c", settings, *trained)
    assert made.status == 0, made.err
    assert made.json["data"]["documents"] == 2 and len(made.json["losses"]) == 2
    settings.write_text(settings.read_text().replace("spans", "original"))
    wrong = call(
        "lab", "finetune", "--data", out, "-c", settings, "--model", model, "-o", tmp_path / "t"
    )
    assert wrong.status == 2 and "no field 'original' with spans" in wrong.err


def test_a_random_draw_needs_no_model(call: Call, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        "\n".join(json.dumps({"text": f"The {n} men met her."}) for n in range(2, 90))
    )
    draws = [
        [each["digest"] for each in lines(ended.out)]
        for seed in (0, 0, 1)
        for ended in [call("lab", "mine", tmp_path, "--random", "--top", 9, "--seed", seed, "-q")]
    ]
    assert draws[0] == draws[1] != draws[2] and all(len(set(each)) == 9 for each in draws)


class Stopping:
    """Scores a sentence by its length, and stops after some chunks."""

    def __init__(self, most: int):
        self.left, self._most, self.seen = Left(), most, 0

    def score(self, sentences: Any) -> list[Any]:
        if self.seen == self._most:
            raise KeyboardInterrupt
        self.seen += 1
        self.left.words["actress"] += self.seen
        found = [mining._unscored(each, GENDER) for each in sentences]
        for each, own in zip(sentences, found, strict=True):
            own[0] = mining.Leaning(own[0].pair, float(len(each.text) % 7), own[0].said)
        return found


def test_it_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mining, "CHUNK", 10)
    texts = [f"She met {'very ' * (n % 11)}old man {n}. He left." for n in range(60)]

    def go(output: Path | None, most: int = 99, top: int = 5) -> Any:
        given = Source({}, (Row(str(n), text) for n, text in enumerate(texts)))
        scorer = Stopping(most)
        mining = Mining(given, GENDER, scorer, Mined(top=top), {"name": "x"}, output)
        return *mining.go(lambda counts: None), scorer.seen

    whole, counts, chunks = go(None)
    assert counts.documents == 60 and counts.sentences == counts.scored == 120
    for most in (0, 1, chunks - 1):
        output = tmp_path / str(most)
        with pytest.raises(KeyboardInterrupt):
            go(output, most)
        again = go(output)
        assert again[2] == chunks - most and again[1].words.pop("actress") > 0
        assert again[1] == replace(counts, words={})
        assert not (output / "state.json").exists()
        wanted = "".join(json.dumps(line) + "\n" for line in whole)
        assert (output / "mined.jsonl").read_text() == wanted
        with pytest.raises(TrainInputError, match="top: 5 -> 6"):
            go(output, top=6)


def test_what_cannot_be_used(call: Call, model: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The businesswoman met the actress. She said that " + "and " * 90 + ".")
    plain = tmp_path / "plain.yaml"
    plain.write_text("attribute: plain\ngroups: {a: [cat], b: [dog]}\n")
    headless, llama = tmp_path / "headless", tiny_model(tmp_path / "llama")
    tiny_model(headless, "bert")
    transformers.BertModel.from_pretrained(headless).save_pretrained(headless)
    for words, message in (
        (("--model", headless), "does not predict masked words"),
        (("--model", tmp_path / "none"), "there is no such folder"),
        (("--model", llama), "does not predict masked words"),
        (("--random", "-w", plain, "-a", "plain"), "plain: its words have no counterparts"),
        (("--random", "-a", "religion", "--intervene", "neutral-masking", "-o", tmp_path / "o"),
         "religion has no neutral words"),
        (("--random", "--intervene", "neutral-masking"), "--intervene goes with --output"),
        (("--random", "--intervene", "x", "-o", tmp_path / "o"), "one of naive-masking"),
        (("--random", "--model", model), "give --model, or --random"),
        ((), "give --model, or --random"),
    ):  # fmt: skip
        ended = call("lab", "mine", text, *words)
        assert (ended.status, ended.out) == (2, "") and message in " ".join(ended.err.split()), (
            words
        )
    ended = call("lab", "mine", text, "--model", model, "--top", 5)
    assert ended.status == 0 and not ended.out
    for note in (
        "not scored: 1 sentences (longer than the context)",
        "not scored: 1 sentences (several tokens)",
        "the model has no one token for actress, businesswoman",
        "only 0 sentences were found",
    ):
        assert note in ended.err
    drawn = call("lab", "mine", text, "--random", "--top", 5).err
    assert drawn.count("only 2 sentences were found") == 1
