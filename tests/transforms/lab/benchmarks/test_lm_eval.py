"""Three tasks beside lm-eval: the same items, the same model, and its own rules for an item."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import tiny_model

from evenflow.transforms.lab.benchmarks import bbq, crows_pairs, hellaswag
from evenflow.transforms.lab.benchmarks.data import Data
from evenflow.transforms.lab.language_models.causal import CausalModel
from evenflow.transforms.models.loading import load

PAIRS = 300


def rules_of(task: str) -> Any:
    """The rules of a task of lm-eval."""
    why = "readers: run `.venv/bin/pip install 'lm-eval>=0.4.9'`"
    lm_eval = pytest.importorskip("lm_eval", reason=why)
    path = Path(lm_eval.__path__[0], "tasks", task, "utils.py")
    spec: Any = importlib.util.spec_from_file_location(f"{task}_utils", path)
    rules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rules)
    return rules


def likelihoods(loaded: Any, pairs: list[tuple[str, str]]) -> list[float]:
    """What lm-eval says of contexts with their endings."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    peer: Any = HFLM(pretrained=loaded.model, tokenizer=loaded.tokenizer, device="cpu")
    asked = [Instance("loglikelihood", {}, pair, at) for at, pair in enumerate(pairs)]
    return [each for each, _ in peer.loglikelihood(asked, disable_tqdm=True)]


def test_pairs_count_as_in_lm_eval(tmp_path: Path) -> None:
    rules = rules_of("crows_pairs")
    loaded = load(str(tiny_model(tmp_path)))
    items = crows_pairs.read(Data())[:PAIRS]
    own = CausalModel(loaded)
    # The tiny model's context is short; what is compared is how a pair is judged
    items = [item for item in items if max(map(len, map(str.split, item.content.values()))) < 40]
    ours = crows_pairs.ask(own, [crows_pairs.prepare(own, item, 0) for item in items])
    documents = [
        {"sent_more": item.content["more"], "sent_less": item.content["less"]} for item in items
    ]
    asked = [("", choice) for each in documents for choice in rules.doc_to_choice(each)]
    said = likelihoods(loaded, asked)
    ties = 0
    for document, mine, pair in zip(
        documents, ours, zip(said[::2], said[1::2], strict=True), strict=True
    ):
        theirs = rules.process_results(document, [(each, False) for each in pair])
        values = mine["values"]
        assert values["difference"] == pytest.approx(theirs["likelihood_diff"], abs=1e-3)
        if theirs["likelihood_diff"] == 0 or theirs["likelihood_diff"] > 1e-3:  # no rounding
            assert values["stereotypical"] == theirs["pct_stereotype"]
        ties += values["difference"] == 0
    assert 10 < ties < len(items) - 10  # of words that the tiny model does not know


def test_endings_are_chosen_as_in_lm_eval(tmp_path: Path) -> None:
    clean = rules_of("hellaswag").preprocess
    loaded = load(str(tiny_model(tmp_path, max_position_embeddings=512)))
    own, items = CausalModel(loaded), hellaswag.read(Data())[:PAIRS]
    ours = hellaswag.ask(own, [hellaswag.prepare(own, item, 0) for item in items])
    endings = [[clean(each) for each in item.content["endings"]] for item in items]
    asked = [
        (clean(item.content["ctx"]), f" {each}")
        for item, own in zip(items, endings, strict=True)
        for each in own
    ]
    said = np.array(likelihoods(loaded, asked)).reshape(-1, 4)
    labels = np.array([int(item.content["label"]) for item in items])
    lengths = np.array([[len(each) for each in own] for own in endings])
    clear = np.ptp(np.sort(said, axis=1)[:, -2:], axis=1) > 1e-3  # sums of batches differ below
    for name, scores in (("correct", said), ("normalised", said / lengths)):
        theirs = (scores.argmax(axis=1) == labels).astype(int)
        mine = np.array([each["values"][name] for each in ours])
        assert mine[clear].tolist() == theirs[clear].tolist()
    assert clear.sum() > PAIRS / 2 and labels.std() > 0


class Mapped(list[Any]):
    """Documents that lm-eval's rules map."""

    def map(self, change: Any) -> list[Any]:
        return [change(each) for each in self]


def test_answers_count_as_in_lm_eval() -> None:
    rules, items = rules_of("bbq"), bbq.read(Data())[::7]
    documents = rules.process_docs(Mapped(dict(item.content) for item in items))
    values: list[dict[str, int]] = []
    theirs: list[tuple[Any, ...]] = []
    for number, (item, document) in enumerate(zip(items, documents, strict=True)):
        document["label"] = next(
            n for n, each in enumerate(bbq.ANSWERS) if document[each] in bbq.UNKNOWN
        )
        groups = [each[-1] for each in item.content["answer_info"].values() if each]
        answers = (
            *(item.content[each] for each in bbq.ANSWERS),
            *(f"It was the {each}." for each in groups),
            "I do not know.", "Not enough information, sorry", "Nobody, I think.", "",
        )  # fmt: skip
        said = answers[number % len(answers)]
        values.append(bbq.judged(item.content, said))
        found = rules.process_results_generate_until(document, [said])
        theirs.append(found["amb_bias_score"])
    means = np.array([[each[name] for name in ("correct", "named", "biased")] for each in values])
    mine = bbq.bias(means.mean(axis=0, keepdims=True), np.array([len(items)]))
    assert len(items) > 500 and 0.1 < means[:, 1].mean() < 0.9
    assert means[:, 0].tolist() == [each[0] for each in theirs]
    assert float(mine[0]) == pytest.approx(rules.agg_amb_bias_scores(theirs), abs=1e-12)
