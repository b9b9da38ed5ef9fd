"""Writes a fitted head: its tensors, and the manifest that names its files with their digests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenflow.transforms.models.files import digest_of


def write(
    manifest: Path,
    format_: str,
    version: int,
    files: Sequence[str],
    about: Mapping[str, Any],
    tensors: Mapping[Any, Any] | None = None,
) -> None:
    """Write a model's manifest beside its files.

    `files`: Names of the model's files. `tensors`: What its file .npz holds; None: it is written.
    """
    manifest.parent.mkdir(parents=True, exist_ok=True)
    if tensors is not None:
        (name,) = (each for each in files if each.endswith(".npz"))
        np.savez_compressed(manifest.parent / name, **tensors)
    digests = {name: digest_of(manifest.parent / name) for name in files}
    whole = {"format": format_, "version": version, "files": digests, **about}
    manifest.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
