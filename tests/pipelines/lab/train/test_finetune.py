"""Fine-tuning: what is read, what is learnt, kills, and bad input, with models of some kB."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

pytest_plugins = ["commands"]

from tiny_models import SMALL, gate_output, tiny_model  # noqa: E402

from evenflow.pipelines.lab.train import checkpoint, memory  # noqa: E402
from evenflow.pipelines.lab.train import finetune as training  # noqa: E402
from evenflow.pipelines.lab.train.errors import TrainingError, TrainInputError  # noqa: E402
from evenflow.pipelines.lab.train.held_out import over, split  # noqa: E402
from evenflow.pipelines.lab.train.packing import Corpus, Document  # noqa: E402
from evenflow.pipelines.lab.train.rows import select  # noqa: E402
from evenflow.pipelines.lab.train.trainer import Trainer  # noqa: E402
from evenflow.schemas.config import ConfigError  # noqa: E402
from evenflow.schemas.config import load as load_config  # noqa: E402
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
    words = ("--data", data, "--model", llama, "--output", out, "--batch", 4, "--context", 16)
    ended = call("lab", "finetune", *words, "--steps", 30, "--rate", 0.02, "--json")
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
    again = call("lab", "finetune", *words, "--steps", 30, "--rate", 0.02)
    assert again.status == 0 and (out / "training.json").stat().st_mtime_ns == before
    other = call("lab", "finetune", *words, "--steps", 31, "--rate", 0.02)
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
        tmp_path / "heavy",
        TEXTS,
        weight=[[2.0, 0.0] * 3],
        copy_of=[[None, "x"] * 3],
    )
    alone = gate_output(tmp_path / "alone", [TEXTS[0][::2]])
    own = settings(packing=False, clip=None)
    whole = training.finetune(select(heavy), str(llama), tmp_path / "a", own)
    assert whole["data"]["copies"] == 3 and whole["data"]["weighted"] == 6
    # The copies have no weight, and the others the same: the losses are those of the others alone
    taken = {**SMALL, "batch": 12, "packing": False, "clip": None, "steps": 1}
    first, second = (
        training.finetune(
            select(each), str(llama), tmp_path / name, FinetuneSettings.model_validate(taken)
        )
        for each, name in ((heavy, "b"), (alone, "c"))
    )
    assert first["losses"] == pytest.approx(second["losses"], rel=1e-5)


def test_weighted_loss_and_sampler_are_equal_in_expectation(
    llama: Path, tmp_path: Path, call: Call
) -> None:
    texts = ["she was a nurse .", "he was a doctor .", "the old man said .", "she said and he ,"]
    data = gate_output(tmp_path / "data", [texts], weight=[[0.25, 2.5, 0.5, 0.75]])
    # A step is an epoch, and the model stays as it is
    still = settings(
        rate=1e-30, weight_decay=0.0, packing=False, steps=1200, checkpoint_steps=10**6
    ).model_dump()
    weighed, sampled, plain = (
        training.finetune(
            select(data),
            str(llama),
            tmp_path / how,
            FinetuneSettings.model_validate(still | {"weights": how, "steps": steps}),
        )["losses"]
        for how, steps in (("loss", 1), ("sample", 1200), ("off", 1))
    )
    error = stdev(sampled) / len(sampled) ** 0.5
    assert error < abs(plain[0] - weighed[0]) / 6
    assert abs(fmean(sampled) - weighed[0]) < 3 * error

    words = ("--data", data, "--model", llama, "--output", tmp_path / "c", "--steps", 1)
    assert call("lab", "finetune", *words, "--context", 16, "--weights", "sample").status == 0
    made = json.loads((tmp_path / "c/training.json").read_text())
    assert made["settings"]["weights"] == "sample" and made["data"]["weighted"] == 4


@pytest.mark.parametrize(("given", "means"), [(True, "loss"), (False, "off"), ("sample", "sample")])
def test_weights_were_once_true_or_false(given: object, means: str) -> None:
    assert FinetuneSettings.model_validate({"weights": given}).weights == means


@pytest.mark.parametrize("rank", [0, 4])
def test_a_masked_language_model(data: Path, tmp_path: Path, rank: int) -> None:
    bert = tiny_model(tmp_path / "bert", "bert")
    own = settings(objective="mlm", rank=rank, masked=0.4, steps=40, weight_decay=0.0)
    made = training.finetune(select(data), str(bert), tmp_path / "out", own)
    assert sum(made["losses"][-5:]) < sum(made["losses"][:5])
    name = "adapter_model" if rank else "model"
    assert (tmp_path / "out" / f"{name}.safetensors").exists()


def test_what_is_held_out_stops_the_training(
    data: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import load_file

    real = Trainer._score
    given, sums = iter([5.0, 4.0, 4.5, 4.0, 1.0]), []

    def score(self: Trainer, held: Corpus) -> float:
        assert 0 < real(self, held) < 10
        sums.append(
            sum(each.abs().sum().item() for each in checkpoint.trained(self._model).values())
        )
        return next(given)

    monkeypatch.setattr(Trainer, "_score", score)
    own = settings(held_out=2, patience=2, checkpoint_steps=2, steps=20)
    made = training.finetune(select(data), str(llama), tmp_path / "out", own)
    assert made["held_out"] == [(2, 5.0), (4, 4.0), (6, 4.5), (8, 4.0)] and made["best_step"] == 4
    assert len(made["losses"]) == 8 and made["data"]["held_out"] == 2
    # The weights that are saved are those of the best score
    saved = load_file(tmp_path / "out/adapter_model.safetensors")
    assert sum(float(each.abs().sum()) for each in saved.values()) == pytest.approx(sums[1])
    assert len(set(sums)) == 4
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert not {"checkpoint.safetensors", "best.safetensors"} & files


def test_documents_are_held_out_by_their_ids() -> None:
    documents = [Document(str(n), [n], 1.0) for n in range(20)]
    trained, held = split(documents, 0.2)
    assert len(held) == 4 and sorted([*trained, *held]) == sorted(documents)
    assert split(documents[::-1], 4)[1] == held[::-1] and split(documents, 0) == (documents, [])
    with pytest.raises(TrainInputError, match="20 of 20 documents would be held out"):
        split(documents, 20)
    assert [over([(1, 2.0), (2, 1.0), (3, 1.0)], n) for n in (1, 2, None)] == [True, False, False]


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
    with pytest.raises(ConfigError, match="patience: held_out was expected"):
        load_config(None, {"finetune.patience": 2})


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
    with pytest.raises(TrainingError, match=r"step 4 is nan; the model after step 3 .*lower"):
        training.finetune(select(data), str(llama), tmp_path / "out", own)
    assert (tmp_path / "out/last-good/adapter_model.safetensors").exists()


def test_too_little_memory_is_said_before_the_weights_are_read(
    data: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 1000)
    (llama / "model.safetensors").rename(tmp_path / "away")
    try:
        with pytest.raises(TrainInputError, match=r"needs about 0.0 GiB .*smaller --micro-batch"):
            training.finetune(select(data), str(llama), tmp_path / "out", settings())
    finally:
        (tmp_path / "away").rename(llama / "model.safetensors")


def test_a_full_gpu_gets_half_as_much_at_once(
    data: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    real = Trainer._loss

    def run(most: int, name: str) -> dict[str, object]:
        def loss(self: Trainer, taken: object, targets: object, part: slice) -> object:
            if part.stop - part.start > most:
                raise torch.OutOfMemoryError
            return real(self, taken, targets, part)  # type: ignore[arg-type]

        monkeypatch.setattr(Trainer, "_loss", loss)
        return training.finetune(select(data), str(llama), tmp_path / name, settings(micro_batch=4))

    assert run(2, "half")["halved"] == 4
    with pytest.raises(TrainingError, match="does not suffice for 2 sequences"):
        run(1, "none")


def test_a_full_disk_ends_with_a_sentence(
    data: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "out"))

    monkeypatch.setattr(checkpoint, "save", full)
    (tmp_path / "c.yaml").write_text("finetune: {checkpoint_steps: 1, batch: 2}\n")
    words = ("--data", data, "--model", llama, "--output", tmp_path / "out")
    ended = call("lab", "finetune", *words, "--config", tmp_path / "c.yaml", "--steps", 2)
    assert ended.status == 1 and "make room, then run the same command again" in ended.err
