"""The sieve: it lets through what the encoder should read, whatever stands beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from evenflow.transforms.measures.stereotypes import calibration
from evenflow.transforms.models import files
from evenflow.transforms.models.encoder import TABLE, VOCABULARY, WIDTH
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.sieve import GRAPH, NAME, PieceMeans, Sieve

FILES = (f"{NAME}.json", f"{NAME}.npz", GRAPH, TABLE, VOCABULARY)


def test_it_clears_what_plainly_states_no_stereotype() -> None:
    passes = {
        "All folks are lazy and stupid.": True,
        "folks are terrorists, and creed is a violent religion.": True,
        "The folk sold her two stamps on Monday.": False,
        "The treaty between both folks was signed in the spring of that year.": False,
    }
    chances = Sieve.shipped().stereotypes(list(passes))
    least = calibration.shipped().cleared
    assert [chance >= least for chance in chances] == list(passes.values())


def test_a_sentence_has_the_same_probability_alone_and_among_others() -> None:
    texts = ["folks are lazy", "", "漢字 folks", "\ud800", "word " * 4000]
    own = Sieve.shipped()
    together = own.stereotypes(texts)
    assert together == [own.stereotypes([text])[0] for text in texts]
    assert all(0 < chance < 1 for chance in together)


def test_capitals_count_and_blanks_do_not() -> None:
    means = PieceMeans(files.SHIPPED)
    small, large = means.of("the folk sang"), means.of("The folk sang")
    assert small.shape == (WIDTH,)
    assert not np.array_equal(small, large)
    assert np.array_equal(small, means.of("the folk  sang"))


@pytest.mark.parametrize("missing", FILES)
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    for name in FILES:
        if name != missing:
            shutil.copyfile(files.SHIPPED / name, tmp_path / name)
    with pytest.raises(ModelError, match=missing):
        Sieve(tmp_path)
