"""CrowS-Pairs beside lm-eval: the same pairs, the same model, and its own rule for a pair."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_model

from evenflow.transforms.lab.benchmarks import crows_pairs
from evenflow.transforms.lab.benchmarks.data import Data
from evenflow.transforms.lab.language_models.causal import CausalModel
from evenflow.transforms.models.loading import load

PAIRS = 300


def test_pairs_count_as_in_lm_eval(tmp_path: Path) -> None:
    why = "readers: run `.venv/bin/pip install 'lm-eval>=0.4.9'`"
    lm_eval = pytest.importorskip("lm_eval", reason=why)
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    path = Path(lm_eval.__path__[0], "tasks", "crows_pairs", "utils.py")
    spec: Any = importlib.util.spec_from_file_location("crows_pairs_utils", path)
    rules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rules)

    loaded = load(str(tiny_model(tmp_path)))
    items = crows_pairs.read(Data())[:PAIRS]
    own = CausalModel(loaded)
    # The tiny model's context is short; what is compared is how a pair is judged
    items = [item for item in items if max(map(len, map(str.split, item.content.values()))) < 40]
    ours = crows_pairs.ask(own, [crows_pairs.prepare(own, item, 0) for item in items])

    peer: Any = HFLM(pretrained=loaded.model, tokenizer=loaded.tokenizer, device="cpu")
    documents = [
        {"sent_more": item.content["more"], "sent_less": item.content["less"]} for item in items
    ]
    asked = [
        Instance("loglikelihood", document, ("", choice), number)
        for document in documents
        for number, choice in enumerate(rules.doc_to_choice(document))
    ]
    said = peer.loglikelihood(asked, disable_tqdm=True)
    ties = 0
    for document, mine, pair in zip(
        documents, ours, zip(said[::2], said[1::2], strict=True), strict=True
    ):
        theirs = rules.process_results(document, pair)
        values = mine["values"]
        assert values["difference"] == pytest.approx(theirs["likelihood_diff"], abs=1e-3)
        if theirs["likelihood_diff"] == 0 or theirs["likelihood_diff"] > 1e-3:  # no rounding
            assert values["stereotypical"] == theirs["pct_stereotype"]
        ties += values["difference"] == 0
    assert 10 < ties < len(items) - 10  # of words that the tiny model does not know
