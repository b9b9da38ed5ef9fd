"""The files of a model. A manifest names them with their digests, and nothing else is loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenflow.transforms.text.shipped import ModelError as ModelError

SHIPPED = Path(__file__).parent / "shipped"
REBUILD = "install the package again"


def about(path: Path, format_: str, version: int) -> dict[str, Any]:
    """Read a model's manifest alone. Raises ModelError."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path}: the model is missing; {REBUILD}") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: the model cannot be read ({error}); {REBUILD}") from error
    found = (read.get("format"), read.get("version")) if isinstance(read, dict) else None
    if found != (format_, version):
        raise ModelError(
            f"{path}: a model of format {format_!r}, version {version}, was expected, not {found};"
            f" {REBUILD}"
        )
    return read


def manifest(path: Path, format_: str, version: int) -> dict[str, Any]:
    """Read a model's manifest and check its files.

    Args:
        path: The manifest. The files that it names lie beside it.

    Raises:
        ModelError: The manifest or a file is missing, unreadable, or not what it must be.
    """
    read = about(path, format_, version)
    for name, digest in read["files"].items():
        beside = path.parent / Path(name).name
        if not beside.is_file():
            raise ModelError(f"{beside}: missing, though {path.name} names it; {REBUILD}")
        if (own := digest_of(beside)) != digest:
            raise ModelError(
                f"{beside}: damaged or of another model (SHA-256 {own[:12]}…, not {digest[:12]}…);"
                f" {REBUILD}"
            )
    return read


@contextmanager
def usable(model: Path | str) -> Iterator[None]:
    """Turn what libraries raise as they read or run a model into a ModelError.

    Some raise types of their own, even Exception itself.
    """
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        text = f"{model}: the model cannot be used ({type(error).__name__}: {error}); {REBUILD}"
        raise ModelError(text) from error


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
