"""The conversion's reading of safetensors files (the graph itself is tested with the detector that uses it)."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from evenflow.transforms.stereotype_convert import tensors


def test_tensors(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
            "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
        }
    ).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 8 + values.tobytes())
    found = tensors(path)
    assert list(found) == ["a"] and np.array_equal(found["a"], values)


@pytest.mark.parametrize("raw", [b"", b"short", struct.pack("<Q", 4) + b"none", struct.pack("<Q", 2) + b"\xff\xff"])
def test_what_is_none(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="not a safetensors file"):
        tensors(path)
