"""The importance of words by an encoder, against the model's own states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from parts import needs_training
from tiny_models import tiny_model

from evenflow.transforms.measures.bias_score.importance import max_pool_shares
from evenflow.transforms.measures.bias_score.pooled import PooledShares
from evenflow.transforms.measures.bias_score.vectors import VectorsError


def test_shares_are_those_of_the_models_states(tmp_path: Path) -> None:
    needs_training("torch", "transformers")
    import torch
    from transformers import AutoModel, AutoTokenizer

    bert, text = tiny_model(tmp_path / "bert", "bert"), "the nurse said that she was young"
    tokenizer = AutoTokenizer.from_pretrained(bert)
    given = tokenizer(text, return_tensors="pt")
    with torch.inference_mode():
        states = AutoModel.from_pretrained(bert)(**given)[0][0].double().numpy()
    pieces, owners = max_pool_shares(states), given.word_ids()
    by_hand = np.zeros(7)
    for share, owner in zip(pieces, owners, strict=True):
        if owner is not None:
            by_hand[owner] += share
    shares = PooledShares(str(bert))
    np.testing.assert_allclose(shares(text), by_hand / by_hand.sum(), atol=1e-6)
    assert shares("…").tolist() == []
    assert shares("pretty \ud800 pretty").shape == (2,)


def test_a_model_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    needs_training("torch", "transformers")
    with pytest.raises(VectorsError, match="not an encoder"):
        PooledShares(str(tiny_model(tmp_path / "llama")))
