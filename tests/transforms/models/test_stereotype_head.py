"""The head of stereotypes: what it computes, and files that it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from evenflow.transforms.models import files
from evenflow.transforms.models import stereotype_head as head
from evenflow.transforms.models.encoder import Encoder
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.stereotype_head import StereotypeHead


def test_a_network_of_one_hidden_layer() -> None:
    within, shift, out, last = (np.array(each) for each in ([[1.0], [2.0]], [0.5], [3.0], 0.25))
    # GELU(3.5) is 3.4992 and GELU(-1.5) is -0.1004
    found = head.raw(np.array([[1.0, 1.0], [-2.0, 0.0]]), within, shift, out, last)
    assert found == pytest.approx([3 * 3.4992 + 0.25, 3 * -0.1004 + 0.25], abs=2e-3)


def test_the_shipped_head_judges_what_was_said_of_groups() -> None:
    said = {
        "folks are terrorists.": True,
        "All folks are lazy and stupid.": True,
        "The folk bought a stamp.": False,
        "folks live in this street.": False,
    }
    chances = [each.probability for each in Encoder.shipped().stereotypes(list(said))]
    assert [chance >= 0.5 for chance in chances] == list(said.values())


def test_the_shipped_head_tells_a_creed_from_people() -> None:
    said = {
        "creed is a violent religion.": True,
        "creed is incompatible with democracy.": True,
        "folks are terrorists.": False,
        "All folks are lazy and stupid.": False,
    }
    chances = [each.creed or 0.0 for each in Encoder.shipped().stereotypes(list(said))]
    assert [chance >= 0.5 for chance in chances] == list(said.values())


def test_the_shipped_heads_give_these_logits() -> None:
    own, mean = StereotypeHead(files.SHIPPED), np.linspace(-1, 1, 384)
    assert (own.logit(mean), own.creed(mean)) == pytest.approx((-3.1060420, -2.7323987), abs=1e-6)


@pytest.mark.parametrize("damage", ["missing", "cut", "manifest"])
def test_a_damaged_head_is_named(tmp_path: Path, damage: str) -> None:
    manifest, tensors = head.MANIFEST, head.TENSORS
    for name in (manifest, tensors):
        shutil.copyfile(files.SHIPPED / name, tmp_path / name)
    if damage == "missing":
        (tmp_path / tensors).unlink()
    elif damage == "cut":
        whole = (tmp_path / tensors).read_bytes()
        (tmp_path / tensors).write_bytes(whole[: len(whole) // 2])
    else:
        (tmp_path / manifest).write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match=manifest.removesuffix("json")):
        StereotypeHead(tmp_path)
