"""What a line of output may hold: text that cannot steer a terminal, and events as JSON.

Every command imports this, help too, so it imports little.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def visible(text: str) -> str:
    """Text that cannot steer a terminal: blanks and line breaks as blanks, what does not show as
    escapes.

    So control characters, bidi marks, zero-width characters and lone surrogates can be seen.
    """
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if character in "\n\r\t" or unicodedata.category(character)[0] == "Z":
        return " "
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def event(name: str, fields: Mapping[str, Any]) -> str:
    """A JSON line."""
    return json.dumps(
        {"event": name, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields}
    )
