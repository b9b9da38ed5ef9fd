"""What a line of output may hold: text that cannot steer a terminal, and events as JSON.

Every command imports this, help too, so it imports little.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from evenflow.schemas.words import counted as counted

JOINER = re.compile(r"\s+\u2063\s+")  # of a document's parts, see io.parts


def visible(text: str) -> str:
    """Make text that cannot steer a terminal.

    Returns:
        The text with blanks and line breaks as blanks, and with control characters, bidi marks,
        zero-width characters and lone surrogates as escapes. Parts of a chat have “ / ” between.
    """
    return "".join(map(_visible, JOINER.sub(" / ", text)))


def _visible(character: str) -> str:
    """A character, a blank, or an escape."""
    if character.isprintable():
        return character
    if character in "\n\r\t" or unicodedata.category(character)[0] == "Z":
        return " "
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def event(name: str, fields: Mapping[str, Any]) -> str:
    """Format an event as a JSON line.

    Returns:
        A JSON object with event, time (ISO 8601 in UTC) and the fields, without a line end.
    """
    return json.dumps(
        {"event": name, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **fields}
    )
