"""Decides when triggers fire, and keeps what became of it in triggers/, beside the ledger.

    state.json                  what conditions remember, and up to which pane they were asked
    clock.json                  up to which time schedules were asked
    decided/RULE.PANE.json      the rule fired at the pane, and why
    attempts/RULE.PANE.N.json   an attempt of its action began
    done/, failed/RULE.PANE.json  how it ended

Files but state.json and clock.json are created once. A decision is a function of the ledger, so a
committer that is killed between a commit and its decision makes the same one at its next start. A
decision that is neither done nor failed is acted on (again).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from cronsim import CronSim
from pydantic import Field

from evenflow.gates.change_point import Cusum
from evenflow.gates.ledger.files import LedgerError, canonical, parsed
from evenflow.schemas.config.triggers import ACTIONS, CONDITIONS, Drift, Trigger
from evenflow.schemas.ledger import STATES, Entry, PaneEntry
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, Storage, at

FOLDER = "triggers"
STATE, CLOCK = f"{FOLDER}/state.json", f"{FOLDER}/clock.json"
OUTCOMES: tuple[Literal["done", "failed"], ...] = ("done", "failed")
T = TypeVar("T")
Kind = TypeVar("Kind", bound=Entry)
Figures = dict[str, dict[str, float | None]]  # by suite: figure, low, high


class Memory(Entry):
    """What a rule's condition remembers.

    `condition`: Digest of the condition; with another one the memory begins anew. `cusum`: State of
    the change-point test.
    """

    condition: str = ""
    documents: int = 0
    active: bool = False
    cusum: Cusum = Cusum()


class Decision(Entry):
    """A rule that fired."""

    rule: str
    pane: int
    reason: str

    @property
    def key(self) -> str:
        """What its files are named after."""
        return f"{self.rule}.{self.pane:08d}"


class ActionOutcome(Entry):
    """How an action ended.

    Attributes:
        message: What it said: its exit status or error.
        output: The end of what it printed. It is data and is not escaped.
        figures: Figures of a benchmark by suite: figure, low, high.
        promoted: Whether what was trained was promoted; None where nobody asked.
    """

    rule: str
    pane: int
    reason: str
    outcome: Literal["done", "failed"]
    attempts: int
    seconds: float
    message: str
    output: str = ""
    figures: Figures = Field(default_factory=dict[str, dict[str, float | None]])
    promoted: bool | None = None


def decide(rule: Trigger, memory: Memory, entry: PaneEntry) -> tuple[Memory, str | None]:
    """Ask a rule's condition about the next pane."""
    if rule.panes is not None:
        fires = (entry.pane + 1) % rule.panes == 0
        return memory, f"{entry.pane + 1} panes are committed" if fires else None
    if rule.documents is not None:
        new = entry.documents if entry.folder == "accepted" else 0
        total = memory.documents + new
        changed = memory.model_copy(update={"documents": total % rule.documents})
        why = f"{total} accepted documents since it last fired"
        return changed, why if total >= rule.documents else None
    if rule.verdict is not None:
        holds = STATES.index(entry.verdict.state) >= STATES.index(rule.verdict)
        why = f"the verdict is {entry.verdict.state}: {entry.verdict.reason}"
        return _became(memory, holds, why)
    if rule.drift is not None:
        return _drift(rule.drift, memory, entry)
    return memory, None


def _became(memory: Memory, holds: bool, why: str) -> tuple[Memory, str | None]:
    """Fire when a condition begins to hold."""
    fires = holds and not memory.active
    return memory.model_copy(update={"active": holds}), why if fires else None


def _drift(drift: Drift, memory: Memory, entry: PaneEntry) -> tuple[Memory, str | None]:
    """Ask whether a figure has left its band, or has changed."""
    figure, name = _figure(drift, entry), f"{drift.attribute}: {drift.figure}"
    if figure is None:
        return memory, None
    if drift.run_length is None:
        low = -1.0 if drift.low is None else drift.low
        high = float("inf") if drift.high is None else drift.high
        why = f"{name} is {figure:.4g}, outside {low:g} to {high:g}"
        return _became(memory, not low <= figure <= high, why)
    cusum, change = memory.cusum.add(figure, drift.run_length)
    why = f"{name} shows a {change} (a false alarm comes once in {drift.run_length:g} panes)"
    return memory.model_copy(update={"cusum": cusum}), why if change else None


def _figure(drift: Drift, entry: PaneEntry) -> float | None:
    """The figure of a pane that is watched; None if it has none."""
    found = entry.attributes.get(drift.attribute)
    if found is None:
        return None
    if drift.figure == "dr":
        return (found.rolling if drift.run_length is None else found.pane).dr
    record = entry.measures.get(drift.figure)
    return record and registry.SHIPPED[drift.figure].figure(record, drift.attribute)


class Decider:
    """Writes the decisions of a committer.

    Args:
        entries: The ledger so far. Panes that were not asked about are asked about now; of an
            output whose triggers are new, none.
    """

    def __init__(self, output: Place, rules: Mapping[str, Trigger], entries: Sequence[PaneEntry]):
        self._storage, self._rules = at(output), dict(rules)
        self._memories: dict[str, Memory] = {}
        if not rules:
            return
        self._panes, known = _read_state(self._storage, len(entries))
        for name, rule in self._rules.items():
            digest, own = _digest(rule), known.get(name)
            if own is None or own.condition != digest:
                own = Memory(condition=digest)
            self._memories[name] = own
        self._save()
        for entry in entries[self._panes :]:
            self.decide(entry)

    def decide(self, entry: PaneEntry) -> None:
        """Ask all rules about the pane that was committed; what fires is durable after this.

        Raises:
            OSError: A file cannot be written.
        """
        if not self._rules:
            return
        for name, rule in self._rules.items():
            self._memories[name], why = decide(rule, self._memories[name], entry)
            if why is not None:
                write_decision(self._storage, Decision(rule=name, pane=entry.pane, reason=why))
        self._panes = entry.pane + 1
        self._save()

    def _save(self) -> None:
        """Write the state."""
        rules = {name: each.model_dump() for name, each in self._memories.items()}
        self._storage.write(STATE, canonical({"panes": self._panes, "rules": rules}))


def _read_state(storage: Storage, panes: int) -> tuple[int, dict[str, Memory]]:
    """Up to which pane the rules were asked, and what they remember."""

    def read(state: Any) -> tuple[int, dict[str, Memory]]:
        rules = {name: Memory.model_validate(own) for name, own in state["rules"].items()}
        return int(state["panes"]), rules

    with suppress(FileNotFoundError):
        return _parsed(storage, STATE, read)
    return panes, {}


def _parsed(storage: Storage, name: str, read: Callable[[Any], T]) -> T:
    """Read a file. Raises LedgerError for one that no run wrote so."""
    try:
        return read(parsed(storage.read(name)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"{storage.address(name)}: no record of triggers: {error or type(error).__name__}"
        raise LedgerError(said) from error


def _digest(rule: Trigger) -> str:
    """A digest of a rule's condition."""
    kept = rule.model_dump(include={"panes", "documents", "verdict", "drift"})
    return hashlib.sha256(canonical(kept)).hexdigest()[:12]


def write_decision(output: Place, decision: Decision) -> bool:
    """Write that a rule fired.

    Returns:
        Whether it is new, or was written with the same reason; a rule fires once for a pane.

    Raises:
        OSError: The file cannot be written.
    """
    name = f"{FOLDER}/decided/{decision.key}.json"
    return at(output).create(name, canonical(decision.model_dump()))


def scheduled(output: Place, rules: Mapping[str, Trigger], now: datetime) -> None:
    """Fire the rules whose time has come, for the last pane that a committer asked about.

    Only the process that acts calls this.

    Args:
        now: The time, in UTC.

    Raises:
        OSError: A file cannot be read or written.
    """
    timed = {name: rule.schedule for name, rule in rules.items() if rule.schedule is not None}
    if not timed:
        return
    storage = at(output)
    panes, _ = _read_state(storage, 0)
    asked: dict[str, datetime] = {}
    with suppress(FileNotFoundError):
        asked = _parsed(storage, CLOCK, _times)
    for name, schedule in timed.items():
        since = asked.get(name, now)
        due = next(CronSim(schedule, since), None)
        if due is not None and due <= now and panes:
            why = f"scheduled for {due.astimezone(UTC).isoformat(timespec='minutes')}"
            write_decision(storage, Decision(rule=name, pane=panes - 1, reason=why))
    after = dict.fromkeys(timed, now)
    if after != asked:
        storage.write(CLOCK, canonical({name: now.isoformat() for name in timed}))


def _times(read: Any) -> dict[str, datetime]:
    """Up to when each schedule was asked."""
    return {name: datetime.fromisoformat(when) for name, when in read.items()}


def chained(output: Place, rules: Mapping[str, Trigger]) -> None:
    """Fire the rules that follow on the last action that is done of another one. Raises OSError.

    What was trained and is kept aside is followed by nothing.
    """
    storage = at(output)
    done = sorted(storage.names(f"{FOLDER}/done"))
    for name, rule in rules.items():
        before = [key for key in done if key.split(".")[0] == rule.after]
        if before and _read(storage, f"done/{before[-1]}", ActionOutcome).promoted is not False:
            pane = int(before[-1].split(".")[1])
            why = f"{rule.after} is done"
            write_decision(storage, Decision(rule=name, pane=pane, reason=why))


def pending(output: Place) -> list[Decision]:
    """Decisions whose action is neither done nor failed, by pane.

    Raises:
        OSError: A file cannot be read.
    """
    storage = at(output)
    ended = {name for _, name, _ in _ended(storage)}
    names = [name for name in storage.names(f"{FOLDER}/decided") if name not in ended]
    found = [_read(storage, f"decided/{name}", Decision) for name in names]
    return sorted(found, key=lambda each: (each.pane, each.rule))


def begin_attempt(output: Place, decision: Decision, number: int) -> None:
    """Note that an attempt begins. Raises OSError."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    name = f"{FOLDER}/attempts/{decision.key}.{number}.json"
    at(output).create(name, canonical({"began": when}))


def attempts(output: Place, decision: Decision) -> int:
    """Number of attempts that have begun. Raises OSError."""
    names = at(output).names(f"{FOLDER}/attempts")
    return len([name for name in names if name.startswith(f"{decision.key}.")])


def finish(output: Place, outcome: ActionOutcome) -> None:
    """Write how an action ended; it is durable when this returns. Raises OSError."""
    name = f"{FOLDER}/{outcome.outcome}/{outcome.rule}.{outcome.pane:08d}.json"
    at(output).create(name, canonical(outcome.model_dump()))


def history(output: Place, most: int | None = None) -> list[ActionOutcome]:
    """Read how actions ended.

    `most`: Only the last ones, as many; None: all.
    """
    storage = at(output)
    kept = _ended(storage)[-(most or 0) :]
    return [_read(storage, f"{folder}/{name}", ActionOutcome) for _, name, folder in kept]


def _ended(storage: Storage, folders: Sequence[str] = OUTCOMES) -> list[tuple[str, str, str]]:
    """The actions that ended, by pane: its number, the name of the file, and the folder."""
    names = {folder: storage.names(f"{FOLDER}/{folder}") for folder in folders}
    return sorted((name.split(".")[1], name, each) for each in folders for name in names[each])


def last_figures(output: Place) -> ActionOutcome | None:
    """The benchmark that was done for the latest pane; None if there is none. Raises OSError."""
    storage = at(output)
    done = reversed(_ended(storage, ("done",)))
    found = (_read(storage, f"done/{name}", ActionOutcome) for _, name, _ in done)
    return next((each for each in found if each.figures), None)


def runs(output: Place) -> dict[tuple[str, str], int]:
    """Count actions by rule and outcome, from names of files alone.

    Returns:
        Number by rule and outcome: done, failed or pending.

    Raises:
        OSError: A folder cannot be listed.
    """
    storage = at(output)
    found = dict.fromkeys(storage.names(f"{FOLDER}/decided"), "pending")
    found |= {name: folder for _, name, folder in _ended(storage)}
    return dict(Counter((name.split(".")[0], outcome) for name, outcome in found.items()))


def overview(output: Place, rules: Mapping[str, Trigger]) -> list[dict[str, Any]]:
    """Each rule with its condition, its action and how many of these ended how. Raises OSError."""
    counts, rows = runs(output), list[dict[str, Any]]()
    for name, rule in rules.items():
        when = next((key for key in CONDITIONS if getattr(rule, key) is not None), "by hand")
        what = next(key for key in ACTIONS if getattr(rule, key) is not None)
        ended = {each: counts.get((name, each), 0) for each in ("done", "failed", "pending")}
        rows.append({"rule": name, "when": when, "action": what, **ended})
    return rows


def _read(storage: Storage, name: str, kind: type[Kind]) -> Kind:
    """Read a file of triggers/."""
    return _parsed(storage, f"{FOLDER}/{name}", kind.model_validate)


def record(outcome: ActionOutcome) -> dict[str, Any]:
    """An outcome for the report and for programs: what it printed is left out."""
    return outcome.model_dump(exclude={"output"})


def records(output: Place, most: int | None = None) -> list[dict[str, Any]]:
    """Read how actions ended and which decisions are pending.

    Args:
        most: Only the last actions that ended, as many; None: all.

    Returns:
        Records of the actions by pane and rule, then those of pending decisions.

    Raises:
        OSError: A file cannot be read.
    """
    left = [{**each.model_dump(), "outcome": "pending"} for each in pending(output)]
    return [*map(record, history(output, most)), *left]
