"""Errors of training whose message is enough for a user."""

from __future__ import annotations


class TrainInputError(ValueError):
    """Data, a model or settings that cannot be used; the message says what to do."""


class TrainingError(RuntimeError):
    """Training that cannot go on; the message says why, what is kept and what to do."""
