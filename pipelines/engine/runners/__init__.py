"""Runners of Beam, and how they fail."""

from __future__ import annotations

from evenflow.schemas.errors import EvenflowError


class WorkerError(EvenflowError, RuntimeError):
    """A worker process died."""


class RunnerError(WorkerError):
    """The runner or one of its workers failed; the message says what is known."""
