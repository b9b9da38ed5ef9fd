"""Fine-tuning on a stream: windows, replay, warm starts, and what is kept aside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parts import needs_training

needs_training("torch", "transformers", "peft")

import tiny_models  # noqa: E402
from tiny_models import gate_output  # noqa: E402

from evenflow.gates import triggers  # noqa: E402
from evenflow.gates.ledger import reviews  # noqa: E402
from evenflow.gates.triggers import ActionOutcome, Decision  # noqa: E402
from evenflow.pipelines.lab.train import finetune as training  # noqa: E402
from evenflow.pipelines.lab.train.errors import TrainInputError  # noqa: E402
from evenflow.pipelines.lab.train.rows import select  # noqa: E402
from evenflow.pipelines.triggers.worker import act  # noqa: E402
from evenflow.schemas.config import Config  # noqa: E402
from evenflow.schemas.config.finetune import FinetuneSettings  # noqa: E402

PANES = [[f"she was the nurse and he was the doctor {n} ."] * 8 for n in range(4)]
SMALL = {**tiny_models.SMALL, "steps": 2}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return gate_output(tmp_path / "out", PANES, quarantined=[2])


def test_a_window_with_replay_of_the_panes_before(output: Path) -> None:
    every = select(output)
    assert every.panes == (0, 1, 3) and "replay" not in every.record()
    last = select(output, window=1)
    assert last.panes == (3,) and len(list(last.rows())) == 8
    both = select(output, window=1, replay=1.0)
    assert both.panes == (3,) and both.replay == 0.5
    drawn = [row.id for row in both.rows()]
    assert drawn[:8] == [row.id for row in last.rows()]
    assert 0 < len(drawn[8:]) < 16 and not any(each.startswith("3") for each in drawn[8:])
    assert [row.id for row in both.rows()] == drawn
    assert select(output, window=9, replay=1.0).rows and not select(output, window=9).replayed


def test_an_adapter_is_gone_on_with_and_must_fit(output: Path, llama: Path, tmp_path: Path) -> None:
    def trained(name: str, adapter: Path | None = None, **more: Any) -> dict[str, Any]:
        own = FinetuneSettings.model_validate({**SMALL, **more})
        return training.finetune(select(output), str(llama), tmp_path / name, own, adapter=adapter)

    trained("a", steps=20)
    warm, cold = trained("b", tmp_path / "a"), trained("c")
    assert warm["losses"][0] < cold["losses"][0] - 0.2
    assert len(warm["adapter"]) == 64 and warm["adapter"] != warm["model"] == cold["model"]
    for more, said in (
        ({"rank": 8}, "do not fit"),
        ({"alpha": 3}, "other targets or alpha"),
        ({"targets": ["q_proj"]}, "other targets or alpha"),
        ({"rank": 0}, "give a whole model"),
    ):
        with pytest.raises(TrainInputError, match=said):
            trained(f"wrong {more}", tmp_path / "a", **more)


def rules(llama: Path, rate: float = 0.02, **own: Any) -> Config:
    action = {"model": str(llama), "warm": True, "keep": 1, **own}
    train = {"finetune": action, "tries": 1}
    return Config.model_validate(
        {
            "finetune": SMALL | {"window": 1, "replay": 0.5, "rate": rate},
            "triggers": {"train": train, "then": {"after": "train", "command": ["true"]}},
        }
    )


def fired(output: Path, config: Config, pane: int) -> list[ActionOutcome]:
    triggers.write_decision(output, Decision(rule="train", pane=pane, reason="x"))
    return act(output, config)


def test_a_stream_promotes_what_is_no_worse_and_keeps_the_rest_aside(
    output: Path, llama: Path
) -> None:
    made = output / "triggers" / "models"

    def check(margin: float) -> Config:
        # So low a rate that all is answered as before: the margin alone decides
        promote = {"suites": ["crows_pairs:gender"], "items": 12, "margin": margin}
        return rules(llama, 1e-9, promote=promote)

    first, then = fired(output, check(1.0), 0)
    assert first.promoted and first.message.startswith("promoted: no figure is worse than base by")
    assert set(first.figures) == {"crows_pairs:gender"} and then.outcome == "done"
    [refused] = fired(output, check(0.0), 1)
    assert refused.outcome == "done" and refused.promoted is False and not refused.figures
    assert refused.message.startswith("kept aside: crows_pairs:gender may be worse than base")
    assert "worse than last" in refused.message
    third, _ = fired(output, check(1.0), 3)
    assert third.message.startswith("promoted: no figure is worse than base and last by")
    record = json.loads((made / "train.00000003" / "training.json").read_text())
    assert record["data"]["panes"] == [3] and "replayed" in record["data"]
    # It went on from the first, not from what was kept aside
    assert (made / "train.00000001").exists() and not (made / "train.00000000").exists()
    decision = json.loads((made / "train.00000003.checked" / "decision.json").read_text())
    assert [each["against"] for each in decision["compared"]] == ["base", "last"]
    assert triggers.last_figures(output) == third


def test_without_a_promotion_the_last_trained_is_gone_on_with(output: Path, llama: Path) -> None:
    for pane in (0, 1):
        found, _ = fired(output, rules(llama), pane)
        assert found.outcome == "done" and found.promoted is None, found.output
    made = output / "triggers" / "models"
    assert [each.name for each in made.glob("*[0-9]")] == ["train.00000001"]
    assert "adapter" in json.loads((made / "train.00000001" / "training.json").read_text())


def test_an_experiment_is_run_on_what_was_accepted(
    output: Path, llama: Path, tmp_path: Path
) -> None:
    file = tmp_path / "paper.yaml"
    file.write_text(
        f"model: {llama}\ninput: [x]\noutput: y\nseeds: [0]\narms: [pretrained, original]\n"
        f"finetune: {json.dumps(SMALL | {'rate': 0.5})}\n"
        'benchmark: {suites: {"crows_pairs:gender": 6}}\n'
    )
    rule = {"experiment": {"file": str(file)}, "tries": 1}
    triggers.write_decision(output, Decision(rule="try", pane=2, reason="x"))
    [found] = act(output, Config.model_validate({"triggers": {"try": rule}}))
    assert found.outcome == "done", found.output
    assert found.message.startswith("0 of 1 differences from their control")
    made = json.loads((output / "triggers/models/try.00000002/paper.json").read_text())
    assert made["arms"]["original"]["documents"] == 16  # of pane 0 and 1; pane 2 is aside
    reviews.add(output, "accept", range(2, 3), "read", "Ada")
    triggers.write_decision(output, Decision(rule="again", pane=3, reason="x"))
    [found] = act(output, Config.model_validate({"triggers": {"again": rule}}))
    assert found.outcome == "done", found.output
    made = json.loads((output / "triggers/models/again.00000003/paper.json").read_text())
    assert made["arms"]["original"]["documents"] == 32  # pane 2 counts, and stays in quarantine/
    file.write_text("model: x\n")
    triggers.write_decision(output, Decision(rule="try", pane=3, reason="x"))
    [refused] = act(output, Config.model_validate({"triggers": {"try": rule}}))
    assert refused.outcome == "failed" and "paper.yaml:1: " in refused.output
