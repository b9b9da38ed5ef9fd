"""Commands on the ledger of a run: `evenflow gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import BLOCKED, Session, say
from evenflow.schemas.words import counted, ranges

if TYPE_CHECKING:
    from evenflow.gates.ledger.history import History
    from evenflow.schemas.config import Config
    from evenflow.transforms.storage.storage import Storage


def gate_status(directory: options.Output) -> options.Shown:
    """Show the state of a gate from its ledger.

    Exit status: 0 if one may train on accepted/ or nothing was judged, 3 if a blocked pane waits
    for a decision, or the gate is held.

    Examples:
        evenflow gate status out
        evenflow gate status out --json && train.sh
    """
    from evenflow.gates import facts, hold
    from evenflow.pipelines.terminal import tables

    history, config, meta = opened(directory)
    held = hold.held_reason(directory, history.totals, config)
    status = facts.of(history.totals, bool(meta.get("finished")), held, config, directory)
    ended = 0 if status.train.may else BLOCKED
    return options.Shown(status.model_dump(), lambda _: tables.gate(status, directory), ended)


def gate_why(
    directory: options.Output,
    *,
    pane: options.Natural | None = None,
    attribute: str | None = None,
) -> options.Shown:
    """Explain a pane's verdict: the rule, and what weighs most.

    The excess is what the groups that are named too often have beyond their target, in mentions;
    labels and documents are listed by their share of it in the rolling window.

    Args:
        pane (N): The pane.  [default: the last blocked one]
        attribute: Explain this attribute only.

    Examples:
        evenflow gate why out
        evenflow gate why out --pane 3 -a gender
    """
    from evenflow.pipelines.pages.report.why import default_pane, why
    from evenflow.pipelines.terminal import tables
    from evenflow.schemas.config import ConfigError

    history, config, _ = opened(directory)
    number = default_pane(history) if pane is None else pane
    if number is None or number >= len(history):
        raise options.wrong("--pane", no_pane(number, len(history)))
    if attribute is not None and attribute not in (known := history[number].attributes):
        raise options.wrong("--attribute", f"{attribute!r} is none of {', '.join(known)}")
    if config is None:
        raise ConfigError(f"{directory}: its configuration is from another version")
    found = why(directory, history, config, number, attribute, pane is None)
    return options.Shown(found, tables.why)


def gate_hold(directory: options.Output, *, reason: str) -> None:
    """Hold a gate: no pane is committed until it is released.

    A run on files stops after the current pane. A run on a topic waits. The ledger notes who did
    it, when and why.

    Examples:
        evenflow gate hold out --reason 'the source is being looked at'
    """
    from evenflow.gates import hold

    word = hold.add_event(directory, "hold", _reason(reason), len(opened(directory)[0]))
    say(f"held by {word.who}, {_after(word.panes)}: {word.reason}")


def gate_release(directory: options.Output, *, reason: str) -> None:
    """Release a held gate: after a blocked pane, or after a hold.

    The blocked pane stays in quarantine. A run on files is started again with the same command; a
    run on a topic that still waits goes on by itself. The ledger notes who did it, when and why.

    Examples:
        evenflow gate release out --reason 'one book, looked at by Ada'
    """
    from evenflow.gates import facts, hold

    history, config, _ = opened(directory)
    totals = history.totals
    if hold.held_reason(directory, totals, config) is None:
        why = f"{directory} is not held: nothing to release, and the reason is not kept"
        if step := facts.answer(totals, True, None, config, directory).next:
            why += f"; next: {step}"
        raise options.wrong("DIR", why)
    word = hold.add_event(directory, "release", _reason(reason), totals.panes)
    say(f"released by {word.who}, {_after(word.panes)}: {word.reason}")


def gate_accept(
    directory: options.Output,
    *,
    pane: Sequence[options.Panes] = (),
    reason: str = "",
    by: str | None = None,
    reject: bool = False,
    undo: bool = False,
) -> None:
    """Accept panes that were set aside, or reject panes, after review.

    With a pane its sources are accepted that were set aside of it, and all in that file.

    The decision is an entry of its own in the ledger. No file moves: export, the rolling figures of
    later panes, report, board, metrics and training count the panes as decided. A gate that is held
    because of an accepted pane goes on. A rejected pane waits for no decision any more.

    Args:
        pane (N..M): These panes: N..M, N.. or N; repeatable.  [default: all that wait for a
            decision]
        reject: The panes leave what is accepted, or stay in quarantine.
        reason (TEXT): The reason; the ledger keeps it. --undo needs none.
        undo: The gate's own verdict counts again.

    Examples:
        evenflow gate accept out --reason 'looked at the new source'
        evenflow gate accept out --pane 6..9 --reason 'one author' --by Ada
        evenflow gate accept out --pane 3 --reject --reason 'the wrong source'
    """
    from evenflow.gates.ledger import reviews

    if reject and undo:
        raise options.wrong("--undo", "give --reject or --undo")
    action = "reject" if reject else "undo" if undo else "accept"
    history = opened(directory)[0]
    count = len(history)
    if not pane:
        if action != "accept":
            raise options.wrong("--pane", f"say which panes; {no_pane(None, count)}")
        waiting = ranges(reviews.waiting(history, history.reviews))
        if not waiting:
            say("no pane waits for a decision; nothing was written")
        pane = [options.panes(each) for each in waiting]
    for each in pane:
        if not range(count)[each] or (each.stop is not None and each.stop > count):
            raise options.wrong(
                "--pane", no_pane(count if each.stop is None else each.stop - 1, count)
            )
    for chosen in (range(count)[each] for each in pane):
        made = reviews.add(directory, action, chosen, _reason(reason or "undone" * undo), by)
        named = f"pane{'s' * (len(chosen) > 1)} {ranges(chosen)[0]}"
        if made is None:
            say(f"{named}: the decision is there already; nothing was written")
            continue
        say(f"{named}: {action} by {made.who}: {made.reason}")
        entries, where = list(history.some(chosen)), reviews.FOLDERS.get(action)
        if own := sum(each.folder == where for each in entries):
            say(f"the gate itself had {action}ed {own} of {len(chosen)}")
        files = filter(None, map(reviews.aside, entries)) if action == "accept" else ()
        if rows := sum(each.rows for each in files):
            say(f"of these, {counted(rows, 'document')} that were set aside count from now on")


def gate_report(directory: options.Output, *, session: Session) -> None:
    """Rebuild report.html and report.json from the ledger.

    Examples:
        evenflow gate report out
    """
    from evenflow.pipelines.pages.report.report import build

    session.output = directory
    say(build(directory))


def no_pane(number: int | None, count: int) -> str:
    """Say which panes there are."""
    there = f"there are panes 0..{count - 1}" if count else "there is no pane yet"
    return there if number is None else f"there is no pane {number}; {there}"


def opened(directory: Storage) -> tuple[History, Config | None, Mapping[str, Any]]:
    """Open the ledger of an output: its panes, the configuration of its run, and its metadata."""
    from evenflow.gates.ledger.files import read_meta
    from evenflow.gates.ledger.history import History
    from evenflow.schemas.config import recorded

    meta = read_meta(directory)
    config = recorded(meta)
    return History(directory, config), config, meta or {}


def _after(panes: int) -> str:
    """After which pane a hold or release stands."""
    return f"after pane {panes - 1}" if panes else "before the first pane"


def _reason(reason: str) -> str:
    """The reason, which may not be blank."""
    if not reason.strip():
        raise options.wrong("--reason", "a reason was expected")
    return reason
