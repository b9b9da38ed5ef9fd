"""What is learnt above a sentence encoder, as one file: low-rank changes of its layers (LoRA; Hu et al., 2021), and heads.

The encoder itself is not shipped: `stereotype_convert` takes it from a package and adds the changes. The file is an .npz
without objects, numbers in float16, with its SHA-256, which is also what an encoder's folder says it was made with.
`tests/benchmarks/train_stereotype_minilm.py` writes it and names the data.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms import stereotypes
from evenflow.transforms.stereotyping.stereotype_features import VERSION

PATH = Path(__file__).with_name("stereotype_minilm_model.npz")
FORMAT = 2
ABOUT = "about"  # the entry that says what the file is: JSON in bytes
DOWN, UP = ".down", ".up"  # endings of the two factors of a weight's change
# The parts of a layer that are changed, each with the weights that its change is laid over, one below the other.
PARTS = {
    "attention.self": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "attention.output": ("attention.output.dense",),
    "intermediate": ("intermediate.dense",),
    "output": ("output.dense",),
}

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Adapter:
    """tensors: the factors `encoder.layer.N.PART.down` (r, in) and `.up` (out, r), and the heads'. digest: of the file."""

    tensors: Mapping[str, Floats]
    digest: str


def read(path: Path = PATH) -> Adapter:
    """An adapter as `write` wrote it. Raises ModelError for a file that is missing, damaged, or of another version."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            raw = {name: np.asarray(stored[name]) for name in stored.files}
        about = json.loads(raw.pop(ABOUT).tobytes())
        found, digest = (about["format"], about["features"]), str(about["sha256"])
    except OSError as error:
        raise stereotypes.ModelError(f"{path}: cannot be read: {error.strerror or error}; {stereotypes.WHAT_TO_DO}") from error
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, RecursionError) as error:
        raise stereotypes.ModelError(f"{path}: not a model of Evenflow; {stereotypes.WHAT_TO_DO}") from error
    if found != (FORMAT, VERSION):
        wanted = f"expected format {FORMAT}, features {VERSION}"
        raise stereotypes.ModelError(f"{path}: format {found[0]}, features {found[1]}; {wanted}; {stereotypes.WHAT_TO_DO}")
    if digest != _digest(raw):
        raise stereotypes.ModelError(f"{path}: damaged (its SHA-256 is not the one it names); {stereotypes.WHAT_TO_DO}")
    return Adapter({name: each.astype(np.float32) for name, each in raw.items()}, digest)


def write(path: Path, tensors: Mapping[str, npt.ArrayLike], source: str) -> None:
    """Writes an adapter, in float16, with its digest. source: of what it was trained on."""
    raw = {name: np.asarray(each, np.float16) for name, each in sorted(tensors.items())}
    about = {"format": FORMAT, "features": VERSION, "source": source, "sha256": _digest(raw)}
    said = np.frombuffer(json.dumps(about).encode(), np.uint8)
    arrays: dict[str, Any] = {ABOUT: said, **raw}
    np.savez_compressed(path, **arrays)


def merged(weights: Mapping[str, Floats], adapter: Adapter) -> dict[str, Floats]:
    """An encoder's weights by name with the changes added. Raises ValueError if they are of another encoder."""
    out = dict(weights)
    for name, down in adapter.tensors.items():
        if name.endswith(DOWN):
            layer = name.removesuffix(DOWN)
            change = (adapter.tensors[layer + UP] @ down).astype(np.float32)
            number, part = layer.removeprefix("encoder.layer.").split(".", 1)
            names = [f"encoder.layer.{number}.{each}.weight" for each in PARTS[part]]
            for each, rows in zip(names, np.split(change, len(names)), strict=True):
                if each not in out or out[each].shape != rows.shape:
                    raise ValueError(f"{each}: not as in the encoder that was adapted (all-MiniLM-L6-v2)")
                out[each] = (out[each] + rows).astype(np.float32)
    return out


def _digest(raw: Mapping[str, npt.NDArray[Any]]) -> str:
    """SHA-256 of the arrays: names, kinds, shapes and bytes."""
    digest = hashlib.sha256()
    for name, each in sorted(raw.items()):
        digest.update(f"{name} {each.dtype.str} {each.shape}\n".encode())
        digest.update(np.ascontiguousarray(each).tobytes())
    return digest.hexdigest()
