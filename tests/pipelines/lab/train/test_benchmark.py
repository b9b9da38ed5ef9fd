"""Benchmarks from the command line: figures, restarts, kills, servers and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

pytest_plugins = ["commands"]


from evenflow.pipelines.lab.train import benchmark as benchmarks  # noqa: E402
from evenflow.pipelines.lab.train.benchmark import benchmark, paired  # noqa: E402
from evenflow.transforms.lab.language_models.causal import CausalModel  # noqa: E402

SUITES = ("crows_pairs", "stereoset:intra", "honest")
ALL = (*SUITES, "hellaswag", "redditbias", "bbq", "soct")


def words(model: Path | str, output: Path, *suites: str, **more: object) -> list[object]:
    named = [part for name, value in more.items() for part in (f"--{name}", value)]
    return [
        *("lab", "benchmark", "--model", model, "--output", output),
        *(part for suite in suites for part in ("--suite", suite)),
        *named,
    ]


def test_all_suites_of_a_causal_model(llama: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "out"
    ended = call(*words(llama, out, *ALL, items=24), "--json")
    assert ended.status == 0, ended.err
    found = json.loads((out / "results.json").read_text())
    assert ended.json == found and set(found["suites"]) == set(ALL)
    for name, each in found["suites"].items():
        rows = [json.loads(line) for line in (out / f"items/{name}.jsonl").read_text().splitlines()]
        assert len({row["id"] for row in rows}) == len(rows) == 24
        assert each["left_out"] == sum(row["values"] is None for row in rows)
        assert each["source"] and each["formula"] and each["limits"]
        if each["n"] > 1:
            assert each["low"] <= each["figure"] <= each["high"]
    # What does not fit into its context of 64 tokens is left out with a reason
    rows = [json.loads(line) for line in (out / "items/hellaswag.jsonl").read_text().splitlines()]
    assert any("the model's context has 64" in row.get("left_out", "") for row in rows)
    assert "negative words" in found["suites"]["honest"]["note"]
    assert sorted(path.name for path in (out / "items").iterdir()) == sorted(
        f"{name}.jsonl" for name in ALL
    )


def test_a_masked_model(bert: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = benchmark(str(bert), out, SUITES, items=24)
    assert found["suites"]["honest"]["n"] == 24
    texts = json.loads((out / "items/honest.jsonl").read_text().splitlines()[0])["texts"]
    assert len(texts) == 20


def test_a_finished_batch_is_not_asked_again(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    score = CausalModel.score

    def counted(self: CausalModel, items: Any) -> Any:
        asked.append(len(items))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return score(self, items)

    monkeypatch.setattr(CausalModel, "score", counted)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        benchmark(str(llama), out, ["crows_pairs"], items=40, batch=8)
    first = benchmark(str(llama), out, ["crows_pairs"], items=40, batch=8)
    assert asked == [8] * 6
    # A finished suite is not asked at all, and another one may be added
    assert benchmark(str(llama), out, ["crows_pairs"], items=40, batch=8) == first
    assert asked == [8] * 6
    more = benchmark(str(llama), out, ["stereoset:intra-gender"], items=8, batch=8)
    assert set(more["suites"]) == {"crows_pairs", "stereoset:intra-gender"}
    # The same items for every seed, and the same values
    other = benchmark(str(llama), tmp_path / "other", ["crows_pairs"], items=40, batch=8, seed=3)
    assert other["suites"]["crows_pairs"]["figure"] == first["suites"]["crows_pairs"]["figure"]
    difference = paired(*(each / "items/crows_pairs.jsonl" for each in (out, tmp_path / "other")))
    assert (difference["difference"], difference["low"], difference["high"]) == (0, 0, 0)


def test_bad_input_is_told_in_one_sentence(
    llama: Path, bert: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "out"
    benchmark(str(llama), out, ["crows_pairs"], items=8)
    (tmp_path / "empty").mkdir()
    cases = [
        (words(llama, out, "nothing"), "'nothing' is no suite; there are hellaswag"),
        (words(llama, out, "crows_pairs:nothing"), "no items of that kind; it has race-color"),
        (words(llama, out, "crows_pairs:"), "no items of that kind"),
        (words(llama, out, "seat"), "--benchmark-data"),
        (words(llama, out, "crows_pairs", items=9), "other settings (items)"),
        (words(llama, out, "crows_pairs", items=8, seed=1), "other settings (seed)"),
        (words(bert, out, "crows_pairs", items=8), "other settings (model)"),
        (words(bert, tmp_path / "a", "soct"), "needs a causal language model"),
        (words(tmp_path / "empty", tmp_path / "a", "soct"), "no config.json"),
        (words(llama, tmp_path / "a", "soct", adapter=tmp_path / "empty"), "adapter_config.json"),
        (
            words(llama, tmp_path / "a", "soct", **{"benchmark-data": tmp_path / "none"}),
            "no such folder",
        ),
    ]
    for given, message in cases:
        ended = call(*given)
        said = [line for line in ended.err.splitlines() if line]
        assert ended.status == 2 and len(said) == 1 and message in said[0], (given, ended.err)
    assert not (tmp_path / "a" / benchmarks.RESULTS).exists()
