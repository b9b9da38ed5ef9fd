"""The file of what is learnt above an encoder: it comes back as it was written, and damage is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenflow.transforms import stereotypes
from evenflow.transforms.stereotyping.stereotype_adapter import ABOUT, PATH, Adapter, merged, read, write


def test_it_comes_back(tmp_path: Path) -> None:
    tensors = {"a.down": np.array([[1.5, 2.0]]), "a.up": np.ones((3, 1))}
    write(tmp_path / "a.npz", tensors, "a test")
    found = read(tmp_path / "a.npz")
    assert found.tensors.keys() == tensors.keys()
    assert all(np.array_equal(found.tensors[name], each) for name, each in tensors.items())
    write(tmp_path / "b.npz", tensors | {"a.up": np.zeros((3, 1))}, "a test")
    assert read(tmp_path / "b.npz").digest != found.digest


def test_changes_are_added() -> None:
    names = [f"encoder.layer.3.attention.self.{part}.weight" for part in ("query", "key", "value")]
    weights = {name: np.ones((2, 2), np.float32) for name in (*names, "other")}
    up = np.array([[1.0], [2.0], [0.0], [0.0], [5.0], [6.0]], np.float32)
    learnt = {"encoder.layer.3.attention.self.down": np.array([[1.0, 10.0]], np.float32), "encoder.layer.3.attention.self.up": up}
    found = merged(weights, Adapter(learnt, ""))
    assert found[names[0]].tolist() == [[2, 11], [3, 21]]
    assert found[names[1]].tolist() == [[1, 1], [1, 1]]
    assert found[names[2]].tolist() == [[6, 51], [7, 61]]
    assert weights[names[0]].tolist() == [[1, 1], [1, 1]]
    for other in ({}, weights | {names[1]: np.ones((3, 2), np.float32)}):
        with pytest.raises(ValueError, match=r"encoder\.layer\.3\..*not as in the encoder that was adapted"):
            merged(other, Adapter(learnt, ""))


def test_the_shipped_one_is_of_this_version_and_small() -> None:
    adapter = read()
    assert {"inner.weight", "inner.bias", "outer", "shift", "mix"} < adapter.tensors.keys()
    assert all(np.isfinite(each).all() for each in adapter.tensors.values())
    assert PATH.stat().st_size < 1_500_000


def saved(path: Path, entries: dict[str, Any]) -> None:
    np.savez(path, **entries)


def test_damage_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(stereotypes.ModelError, match="cannot be read"):
        read(path)
    about = {"format": 2, "features": 0, "sha256": "0"}
    for raw in (b"", b"no archive", b"PK\x03\x04", json.dumps(about).encode()):
        path.write_bytes(raw)
        with pytest.raises(stereotypes.ModelError, match="not a model of Evenflow"):
            read(path)
    np.savez(path, a=np.ones(2))
    with pytest.raises(stereotypes.ModelError, match="not a model of Evenflow"):
        read(path)
    saved(path, {ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)})
    with pytest.raises(stereotypes.ModelError, match=r"format 2, features 0; expected format 2"):
        read(path)
    write(path, {"a": np.ones(2)}, "a test")
    with np.load(path, allow_pickle=False) as stored:
        entries: dict[str, Any] = dict(stored)
    saved(path, entries | {"a": np.zeros(2, np.float16)})
    with pytest.raises(stereotypes.ModelError, match="damaged"):
        read(path)
    saved(path, entries | {"a": np.array([{}], object)})
    with pytest.raises(stereotypes.ModelError, match="not a model of Evenflow"):
        read(path)
