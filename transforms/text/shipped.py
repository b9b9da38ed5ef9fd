"""Shipped files that have no manifest of their own: read only as they were shipped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from evenflow.schemas.errors import EvenflowError

ROOM = Path(__file__).parents[1]
DIGESTS = ROOM / "digests.json"  # of the files, by path below ROOM
AGAIN = "install the package again; who has made the file anew writes its SHA-256 there"


class ModelError(EvenflowError):
    """A model file is missing, damaged or of another kind; the message says what to do."""


def data(path: Path) -> bytes:
    """Read a shipped file that has no manifest of its own, if it is as it was shipped.

    Args:
        path: The file; `transforms/digests.json` names it.

    Raises:
        ModelError: The file is missing or damaged.
    """
    try:
        known = json.loads(DIGESTS.read_bytes())[path.relative_to(ROOM).as_posix()]
        found = path.read_bytes()
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{path}: it or {DIGESTS} cannot be read ({error}); {AGAIN}") from error
    if (own := hashlib.sha256(found).hexdigest()) != known:
        said = f"(SHA-256 {own[:12]}…, not {known[:12]}…)"
        raise ModelError(f"{path}: damaged or another file {said}; {AGAIN}")
    return found
