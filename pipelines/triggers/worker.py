"""Acts on decisions, one after the other, in a process or in a thread beside a run.

1. A decision is in decided/. After a kill here the action is begun.
2. attempts/ gets a file. After a kill during the action it is begun again: the processes of an
   action end with the process that began them.
3. done/ or failed/ gets the outcome. After a kill here nothing is repeated.

One process acts at a time, by a lease on triggers/, so that no action runs twice at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

from evenflow.gates import triggers
from evenflow.gates.lease import Lease
from evenflow.gates.lock import LockedError
from evenflow.gates.triggers import ActionOutcome, Decision
from evenflow.pipelines.triggers.actions import Attempt, Interrupted, attempt
from evenflow.schemas.config import Config
from evenflow.transforms.storage.storage import Place, Storage, at

LOOK_SECONDS, LOOK_SECONDS_STORE = 1.0, 30.0  # between two looks for decisions


def act(output: Place, config: Config, stop: threading.Event | None = None) -> list[ActionOutcome]:
    """Act on every decision that is pending, and on those that follow from them.

    Args:
        config: The configuration. A decision of a rule that it no longer has is left alone.

    Raises:
        LockedError: Another process acts.
        OSError: A file cannot be read or written.
    """
    storage, stop = at(output), stop or threading.Event()

    def due() -> list[Decision]:
        triggers.chained(storage, config.triggers)
        return [each for each in triggers.pending(storage) if each.rule in config.triggers]

    ended: list[ActionOutcome] = []
    timed = any(rule.schedule is not None for rule in config.triggers.values())
    if not timed and not due():
        return ended  # without a lease, which costs requests in a store
    with Lease(storage.below(triggers.FOLDER)):
        triggers.scheduled(storage, config.triggers, datetime.now(UTC))
        while not stop.is_set() and (left := due()):
            with suppress(Interrupted):
                ended.append(_act_on(storage, config, left[0], stop))
    return ended


def _act_on(
    storage: Storage, config: Config, decision: Decision, stop: threading.Event
) -> ActionOutcome:
    """Try an action until it is done or its tries are spent. Raises Interrupted."""
    rule = config.triggers[decision.rule]
    begun = triggers.attempts(storage, decision)
    for number in range(1, rule.tries + 1):
        triggers.begin_attempt(storage, decision, begun + number)
        began = time.monotonic()
        found = attempt(storage, config, decision, stop)
        if found.ok or found.hopeless or number == rule.tries:
            outcome = _outcome(decision, found, begun + number, time.monotonic() - began)
            triggers.finish(storage, outcome)
            return outcome
        if stop.wait(rule.backoff * 2 ** (number - 1)):
            raise Interrupted
    raise AssertionError("a rule has at least one try")


def _outcome(decision: Decision, found: Attempt, attempts: int, seconds: float) -> ActionOutcome:
    """The record of an action."""
    return ActionOutcome(
        **decision.model_dump(),
        outcome="done" if found.ok else "failed",
        attempts=attempts,
        seconds=round(seconds, 3),
        message=found.message,
        output=found.output,
        figures=found.figures,
        promoted=found.promoted,
    )


@contextmanager
def acting(
    output: Place, config: Config, note: Callable[[str], None]
) -> Iterator[list[ActionOutcome]]:
    """Act beside what the block does, and at its end on what is left.

    Args:
        config: The configuration; without triggers nothing is done.
        note: Called with what a user should know.

    Yields:
        How actions ended, which grows.
    """
    ended: list[ActionOutcome] = []
    if not config.triggers:
        yield ended
        return
    stop, finish = threading.Event(), threading.Event()
    storage = at(output)
    pause = LOOK_SECONDS if storage.local is not None else LOOK_SECONDS_STORE

    def work() -> None:
        last, said = False, ""
        while not last and not stop.is_set():
            last = finish.wait(pause)
            try:
                ended.extend(act(storage, config, stop))
            except LockedError:
                if last:
                    note("another process acts on the triggers: see `evenflow gate trigger`")
            except Exception as error:  # the run goes on, and the decision stays
                if said != str(error):
                    note(f"triggers: {error}")
                said = str(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield ended
        finish.set()
        if triggers.pending(storage):
            note("waiting for the actions of triggers")
        thread.join()
    finally:
        stop.set()
        finish.set()
        thread.join(10)
