"""The base of every error whose message is enough for a user."""

from __future__ import annotations

from typing import ClassVar

FAILED, USAGE = 1, 2  # exit statuses: a failure; wrong usage, configuration or input


class EvenflowError(Exception):
    """What went wrong, in words for a user.

    Attributes:
        status: The exit status of a command that it ends.
    """

    status: ClassVar[int] = FAILED


class UsageError(EvenflowError, ValueError):
    """Wrong usage, configuration or input; the message says what to do."""

    status = USAGE
