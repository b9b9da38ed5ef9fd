"""The files of a model. A manifest names them with their digests, and nothing else is loaded."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from evenflow.schemas.errors import EvenflowError

SHIPPED = Path(__file__).parent / "shipped"
REBUILD = (
    "install the package again, or rebuild it with: python -m evenflow.transforms.lab.training"
)


class ModelError(EvenflowError):
    """A model file is missing, damaged or of another kind; the message says what to do."""


def manifest(path: Path, format_: str, version: int) -> dict[str, Any]:
    """Read a model's manifest and check its files.

    Args:
        path: The manifest. The files that it names lie beside it.
        format_: The format that it must have.
        version: The version of this format.

    Returns:
        The content of the manifest.

    Raises:
        ModelError: The manifest or a file is missing, unreadable, or not what it must be.
    """
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


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_manifest(
    path: Path, format_: str, version: int, files: list[str], content: dict[str, Any]
) -> None:
    """Write a manifest beside its files.

    Args:
        path: The manifest.
        format_: The format of the model.
        version: The version of this format.
        files: Names of the model's files, which lie beside the manifest.
        content: What else the manifest says.
    """
    digests = {name: digest_of(path.parent / name) for name in files}
    whole = {"format": format_, "version": version, "files": digests, **content}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
