"""Mailboxes (RFC 4155): a document is the plain text of a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, BinaryIO, cast


class MailReader:
    """Reads the messages of a mailbox."""

    def read(self, file: BinaryIO) -> Iterator[dict[str, Any]]:
        """Give id, text, subject and date of each message; without a plain text, text is null."""
        for raw in messages(file):
            message = cast(EmailMessage, message_from_bytes(raw, policy=default))
            yield {
                "id": message["message-id"] and str(message["message-id"]),
                "text": plain_text(message),
                "subject": message["subject"] and str(message["subject"]),
                "date": message["date"] and str(message["date"]),
            }


def messages(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of each message: what stands between lines that begin with “From ”."""
    lines: list[bytes] = []
    begun, blank = False, True
    for line in file:
        if blank and line.startswith(b"From "):
            if begun:
                yield b"".join(lines)
            lines, begun = [], True
        elif begun:
            lines.append(line[1:] if re.match(rb">+From ", line) else line)
        elif line.strip():
            raise ValueError("a mailbox begins with a line of “From ”")
        blank = not line.strip()
    if begun:
        yield b"".join(lines)


def plain_text(message: EmailMessage) -> str | None:
    """The plain text of a message; None where it has none that can be decoded."""
    body = message.get_body(("plain",))
    try:
        return None if body is None else body.get_content()
    except (KeyError, LookupError):  # a kind or a set of characters that Python does not know
        return None
