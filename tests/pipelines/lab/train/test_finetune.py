"""Fine-tuning: what is read, what is learnt, kills, and bad input, with models of some kB."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

pytest_plugins = ["commands"]

from tiny_models import SMALL, gate_output, tiny_model  # noqa: E402

from evenflow.pipelines.lab.train import finetune as training  # noqa: E402
from evenflow.pipelines.lab.train import memory  # noqa: E402
from evenflow.pipelines.lab.train.errors import TrainingError, TrainInputError  # noqa: E402
from evenflow.pipelines.lab.train.rows import select  # noqa: E402
from evenflow.pipelines.lab.train.trainer import Trainer  # noqa: E402
from evenflow.schemas.config.finetune import FinetuneSettings  # noqa: E402

TEXTS = [["she was a nurse .", "he was a doctor , and the old man said that she is a nurse ."] * 3]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return gate_output(tmp_path / "data", TEXTS)


def settings(**more: object) -> FinetuneSettings:
    return FinetuneSettings.model_validate({**SMALL, **more})


def test_it_learns_and_writes_what_peft_and_people_read(
    data: Path, llama: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "out"
    words = ["--data", data, "--model", llama, "--output", out]
    for key in ("batch=4", "context=16", "rate=0.02"):
        words += ["--set", f"finetune.{key}"]
    ended = call("lab", "finetune", *words, "--steps", 30, "--json")
    assert ended.status == 0, ended.err
    made = json.loads((out / "training.json").read_text())
    assert ended.json == {"output": str(out), **made}
    assert sum(made["losses"][-5:]) < sum(made["losses"][:5]) - 0.5
    assert made["data"]["panes"] == [0] and made["data"]["documents"] == 6
    assert made["settings"]["rank"] == 16 and made["optimizer"] == "AdamW"
    assert {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json"} <= {
        path.name for path in out.iterdir()
    }
    assert not (out / "checkpoint.safetensors").exists()
    before = (out / "training.json").stat().st_mtime_ns
    again = call("lab", "finetune", *words, "--steps", 30)
    assert again.status == 0 and (out / "training.json").stat().st_mtime_ns == before
    other = call("lab", "finetune", *words, "--steps", 31)
    assert other.status == 2 and "settings.steps: 30 -> 31" in other.err


def test_a_micro_batch_changes_nothing_but_rounding(
    data: Path, llama: Path, tmp_path: Path
) -> None:
    one, four = (
        training.finetune(select(data), str(llama), tmp_path / str(n), settings(micro_batch=n))
        for n in (1, 4)
    )
    assert one["losses"] == pytest.approx(four["losses"], rel=1e-4)


def test_weights_and_copies_count(llama: Path, tmp_path: Path) -> None:
    heavy = gate_output(
        tmp_path / "heavy", TEXTS, weight=[[2.0, 0.0] * 3], copy_of=[[None, "x"] * 3]
    )
    alone = gate_output(tmp_path / "alone", [TEXTS[0][::2]])
    own = settings(packing=False)
    whole = training.finetune(select(heavy), str(llama), tmp_path / "a", own)
    assert whole["data"]["copies"] == 3 and whole["data"]["weighted"] == 6
    # The copies have no weight, and the others the same: the losses are those of the others alone
    taken = {**SMALL, "batch": 12, "packing": False, "steps": 1}
    first, second = (
        training.finetune(
            select(each), str(llama), tmp_path / name, FinetuneSettings.model_validate(taken)
        )
        for each, name in ((heavy, "b"), (alone, "c"))
    )
    assert first["losses"] == pytest.approx(second["losses"], rel=1e-5)


def test_weights_count_where_they_are_asked_for(llama: Path, tmp_path: Path) -> None:
    texts = ["she was a nurse .", "he was a doctor .", "the old man said .", "she said and he ,"]
    data = gate_output(tmp_path / "data", [texts], weight=[[0.25, 2.5, 0.5, 0.75]])
    # A step is an epoch, and the model stays as it is
    still = settings(rate=1e-30, weight_decay=0.0, packing=False, steps=1, batch=4).model_dump()
    weighed, plain = (
        training.finetune(
            select(data),
            str(llama),
            tmp_path / how,
            FinetuneSettings.model_validate(still | {"weights": how}),
        )
        for how in ("loss", "off")
    )
    assert weighed["losses"] != plain["losses"] and weighed["data"]["weighted"] == 4


@pytest.mark.parametrize("rank", [0, 4])
def test_a_masked_language_model(data: Path, tmp_path: Path, rank: int) -> None:
    bert = tiny_model(tmp_path / "bert", "bert")
    own = settings(objective="mlm", rank=rank, masked=0.4, steps=40, weight_decay=0.0)
    made = training.finetune(select(data), str(bert), tmp_path / "out", own)
    assert sum(made["losses"][-5:]) < sum(made["losses"][:5])
    name = "adapter_model" if rank else "model"
    assert (tmp_path / "out" / f"{name}.safetensors").exists()


def test_a_merged_model_answers_as_model_and_adapter(
    data: Path, llama: Path, tmp_path: Path
) -> None:
    import torch

    from evenflow.transforms.models.loading import load

    for name, merge in (("adapter", False), ("merged", True)):
        training.finetune(select(data), str(llama), tmp_path / name, settings(merge=merge))
    models = (
        load(str(llama)),
        load(str(llama), str(tmp_path / "adapter")),
        load(str(tmp_path / "merged")),
    )
    with torch.no_grad():
        before, one, other = (each.model(torch.arange(6, 20)[None]).logits for each in models)
    assert torch.allclose(one, other, atol=1e-5) and not torch.allclose(before, other, atol=1e-2)


def test_dropout_of_the_model_is_raised(data: Path, llama: Path, tmp_path: Path) -> None:
    bert = tiny_model(tmp_path / "bert", "bert")
    losses = [
        training.finetune(
            select(data),
            str(bert),
            tmp_path / str(share),
            settings(objective="mlm", masked=1.0, model_dropout=share),
        )["losses"]
        for share in (None, 0.1, 0.5)
    ]
    # 0.1 is what the model's configuration has
    assert losses[0] == losses[1] != losses[2]
    config = json.loads((tmp_path / "bert/config.json").read_text())
    assert config["hidden_dropout_prob"] == 0.1


def test_panes_and_quarantine(tmp_path: Path) -> None:
    out = gate_output(tmp_path / "data", [["a man"], ["a woman"], []], quarantined=[1])
    found = select(out)
    assert (found.panes, found.skipped) == ((0, 2), 1)
    assert [row.text for row in select(out, quarantined="take").rows()] == ["a man", "a woman"]
    with pytest.raises(TrainInputError, match="in quarantine"):
        select(out, slice(0, 2))
    with pytest.raises(TrainInputError, match="no accepted document"):
        select(out, slice(2, 3))
    with pytest.raises(TrainInputError, match="no ledger here"):
        select(tmp_path / "nowhere")
    shard = next((out / "accepted").iterdir())
    shard.write_bytes(shard.read_bytes() + b" ")
    with pytest.raises(TrainInputError, match="not those that the ledger names"):
        list(select(out).rows())


def test_models_that_do_not_serve(data: Path, llama: Path, tmp_path: Path, call: Call) -> None:
    def message(model: Path | str) -> str:
        words = ("--data", data, "--output", tmp_path / "out", "--steps", 1)
        ended = call("lab", "finetune", "--model", model, *words)
        assert ended.status == 2
        return ended.err

    assert "there is no such folder" in message("nowhere")
    (tmp_path / "empty").mkdir()
    assert "there is no config.json" in message(tmp_path / "empty")
    assert "not for the objective causal" in message(tiny_model(tmp_path / "bert", "bert"))
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((llama / name).read_bytes())
    assert "there is no tokenizer" in message(bare)
    small = tiny_model(tmp_path / "small")
    other = json.loads((small / "tokenizer.json").read_text())
    other["model"]["vocab"] |= {f"w{number}": number for number in range(27, 40)}
    (small / "tokenizer.json").write_text(json.dumps(other))
    assert "do not belong together" in message(small)
    (small / "model.safetensors").write_bytes(b"no weights")
    (small / "tokenizer.json").write_bytes((llama / "tokenizer.json").read_bytes())
    assert "cannot be loaded" in message(small)
    words = ("--model", llama, "--data", data, "--output", tmp_path / "o", "--config")
    (tmp_path / "c.yaml").write_text("finetune: {targets: [nothing_proj]}\n")
    assert "Name its layers in targets" in call("lab", "finetune", *words, tmp_path / "c.yaml").err


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_good_state(
    data: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Trainer._loss
    count = 0

    def loss(self: object, *arguments: object) -> object:
        nonlocal count
        count += 1
        return real(self, *arguments) * (float("nan") if count > 6 else 1)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "_loss", loss)
    own = settings(checkpoint_steps=1)
    with pytest.raises(TrainingError, match=r"step 4 is nan; the checkpoint is of step 3.*lower"):
        training.finetune(select(data), str(llama), tmp_path / "out", own)
    assert (tmp_path / "out/checkpoint.safetensors").exists()


def test_too_little_memory_is_said_before_the_weights_are_read(
    data: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 1000)
    (llama / "model.safetensors").rename(tmp_path / "away")
    try:
        with pytest.raises(
            TrainInputError, match=r"needs about 0.0 GiB .*smaller finetune.micro_batch"
        ):
            training.finetune(select(data), str(llama), tmp_path / "out", settings())
    finally:
        (tmp_path / "away").rename(llama / "model.safetensors")
