"""Errors of training whose message is enough for a user."""

from __future__ import annotations

from evenflow.schemas.errors import USAGE, EvenflowError


class TrainInputError(EvenflowError, ValueError):
    """Data, a model or settings that cannot be used; the message says what to do."""

    status = USAGE


class TrainingError(EvenflowError, RuntimeError):
    """Training that cannot go on; the message says why, what is kept and what to do."""
