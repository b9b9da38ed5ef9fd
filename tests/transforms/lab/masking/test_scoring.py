"""Scores of sentences: the definition on models whose answers are known, and what has no score."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from parts import needs_training

needs_training("torch", "transformers")

from tiny_fillers import constant  # noqa: E402
from tiny_models import SPECIAL, WORDS, tiny_model  # noqa: E402

from evenflow.transforms.lab.language_models.masked import MaskedModel  # noqa: E402
from evenflow.transforms.lab.masking.scoring import LONG, MASK, SEVERAL, MaskedScorer  # noqa: E402
from evenflow.transforms.lab.masking.sentences import Sentence, SentenceFinder  # noqa: E402
from evenflow.transforms.models.loading import load  # noqa: E402
from evenflow.wordlists import loader  # noqa: E402

GENDER = loader.load("gender")
FINDER = SentenceFinder(GENDER)
VOCABULARY = len(SPECIAL) + len(WORDS.split())


def sentences(*texts: str) -> list[Sentence]:
    return [found for text in texts for found in FINDER.find(text)]


def masked(folder: Path, **more: Any) -> MaskedScorer:
    return MaskedScorer(MaskedModel(load(str(folder))), GENDER.groups, **more)


def test_the_score_is_the_mean_difference_of_logarithms(tmp_path: Path) -> None:
    scores = {"she": 2.0, "he": 0.5, "woman": -1.0, "man": 3.0, "her": 1.0, "his": 1.0, "old": 1.5}
    scorer = masked(constant(tmp_path, **scores))
    found = scorer.score(
        sentences("that she said", "the man said", "that he was a woman in her old age")
    )
    [one], [other], [both] = found
    assert one.pair == ("female", "male")
    assert (one.mean, other.mean) == pytest.approx((1.5, -4.0), abs=1e-5)
    assert other.score == pytest.approx(4.0, abs=1e-5)
    # he or she: 1.5 for female, woman: 4 for male, her: even
    assert both.mean == pytest.approx((1.5 - 4.0 + 0.0) / 3, abs=1e-5)
    [said] = one.said
    total = sum(map(math.exp, scores.values())) + VOCABULARY - len(scores)
    wanted = [math.exp(scores[word]) / total for word in said.words]
    assert said.words == ("she", "he")
    assert said.probabilities == pytest.approx(wanted, abs=1e-6)
    assert said.would_say == ("man", "she", "old")


def test_every_word_is_masked_at_once_and_batches_do_not_matter(tmp_path: Path) -> None:
    import torch

    folder = tiny_model(tmp_path, "bert")
    texts = ["that she was a nurse in the old", "he said", "the woman and her doctor", "his nurse"]
    scorer = masked(folder)
    found = scorer.score(sentences(*texts))
    one = [masked(folder, batch_tokens=1).score(sentences(text))[0] for text in texts]
    for many, alone in zip(found, one, strict=True):
        assert many[0].mean == pytest.approx(alone[0].mean, abs=1e-4)
        assert [each.would_say for each in many[0].said] == [s.would_say for s in alone[0].said]
    # By hand: “the [MASK] and [MASK] doctor”
    loaded = load(str(folder))
    ids = loaded.tokenizer("the [MASK] and [MASK] doctor", return_tensors="pt")
    with torch.no_grad():
        logits = loaded.model(**ids).logits[0].double()
    word = loaded.tokenizer.convert_tokens_to_ids
    wanted = [
        logits[1, word("woman")] - logits[1, word("man")],
        logits[3, word("her")] - logits[3, word("his")],
    ]
    assert found[2][0].mean == pytest.approx(float(sum(wanted)) / 2, abs=1e-5)


def test_what_cannot_be_scored_is_counted(tmp_path: Path) -> None:
    scorer = masked(constant(tmp_path, she=1.0))
    found = scorer.score(
        sentences(
            "the businesswoman said",  # no token of its own
            "she said and the actress was old",  # one of two words is scored, both are masked
            f"she said {'and ' * 70}",
            "she said [MASK]",
            "he or she was old",  # even already: nothing to score
        )
    )
    assert [len(each) for each in found] == [0, 1, 0, 0, 0]
    assert len(found[1][0].said) == 1 and found[1][0].mean == pytest.approx(1.0, abs=1e-5)
    assert dict(scorer.left.words) == {"businesswoman": 1, "actress": 1}
    assert scorer.left.sentences == {SEVERAL: 2, LONG: 1, MASK: 1}
