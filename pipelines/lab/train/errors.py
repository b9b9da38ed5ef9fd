"""Errors of training whose message is enough for a user."""

from __future__ import annotations

import json
from typing import Any

from evenflow.gates.ledger.files import canonical, changed_settings
from evenflow.schemas.errors import EvenflowError, UsageError

SHOWN = 20  # differences that a refusal names


class TrainInputError(UsageError):
    """Data, a model or settings that cannot be used; the message says what to do."""


class TrainingError(EvenflowError, RuntimeError):
    """Training that cannot go on; the message says why, what is kept and what to do."""


def refuse_other(place: object, begun: bytes, now: dict[str, Any]) -> None:
    """Refuse data and settings that differ from those that a folder was begun with.

    `begun`: What was noted of them, as JSON. Raises TrainInputError.
    """
    if changed := changed_settings(json.loads(begun), json.loads(canonical(now))):
        raise TrainInputError(
            f"{place} was begun with other data or settings; give another output:\n  "
            + "\n  ".join(changed[:SHOWN])
        )
