"""The metric for lm-eval, in a task of its own."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from step_pages import code_of

import evenflow
from evenflow.lm_eval import Representation

ANSWERS = ["She met her brother.", "He left.", "It rained.", ""]


def test_the_score_is_that_of_measure() -> None:
    metric = Representation("gender")
    items = [metric.process_results({}, [each])["gender_dr"] for each in ANSWERS]
    assert items == [[2, 1], [0, 1], [0, 0], [0, 0]]
    texts = [each for each in ANSWERS if each]
    assert metric.dr(items) == evenflow.measure(texts).attributes["gender"]["dr"]
    assert math.isnan(metric.dr(items[2:]))


def test_several_answers_to_a_prompt_add_up() -> None:
    metric = Representation("gender", {"gate.warn": 0.1})
    assert metric.process_results({}, ANSWERS) == {"gender_dr": [2, 2]}


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(evenflow.ConfigError, match="sex"):
        Representation("sex")
    for answer in (None, b"She"):
        with pytest.raises(evenflow.TextError):
            Representation("gender").process_results({}, [answer])  # type: ignore[list-item]


def test_a_task_of_lm_eval_reports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why = "readers: run `.venv/bin/pip install lm-eval torch`"
    pytest.importorskip("lm_eval", reason=why)
    pytest.importorskip("torch", reason=why)
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Writer(LM):
        """Writes what the prompt says."""

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [ANSWERS[int(each.args[0])] for each in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    (tmp_path / "utils.py").write_text(code_of("lm-eval"))
    (tmp_path / "task.yaml").write_text(code_of("lm-eval", "yaml"))
    prompts = "".join(f"{json.dumps({'text': str(n)})}\n" for n in range(len(ANSWERS)))
    (tmp_path / "prompts.jsonl").write_text(prompts)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    done = simple_evaluate(
        model=Writer(), tasks=["who_is_written_about"], task_manager=manager, bootstrap_iters=0
    )
    assert done is not None
    assert done["results"]["who_is_written_about"]["gender_dr,none"] == 0.0
