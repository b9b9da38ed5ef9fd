"""The journal of a draft's review: one JSON line a decision, appended and never changed.

A line is on disk before its decision counts. A kill in the middle of a line loses that line alone.
Several reviewers and processes may append at once.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evenflow.transforms.lab.word_lists.draft import Draft, DraftError

Action = Literal["accept", "reject", "merge", "pair", "comment", "undo"]
ACTIONS: tuple[Action, ...] = get_args(Action)
ENDING = ".journal.jsonl"
LONGEST = 2000  # characters of a comment


class Entry(BaseModel):
    """A line of the journal.

    `at`: When, in UTC.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: str
    reviewer: str = Field(min_length=1, max_length=100)
    word: str
    action: Action
    value: str = Field(default="", max_length=LONGEST)


@dataclass(frozen=True)
class Opinion:
    """What a reviewer has decided about a word.

    `group`: The group that it was accepted for; None: rejected.
    """

    group: str | None = None
    merged: str = ""
    pairs: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    decided: bool = False


Opinions = dict[str, dict[str, Opinion]]  # by reviewer and word


@dataclass
class ReviewState:
    """What reviewers have decided, decision by decision."""

    entries: int = 0
    opinions: Opinions = field(default_factory=dict)
    _actions: dict[tuple[str, str], tuple[Entry, ...]] = field(default_factory=dict)
    _words: dict[str, list[str]] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        """Take a decision into account."""
        self.entries += 1
        who, place = entry.reviewer, (entry.reviewer, entry.word)
        own = self._actions.get(place, ())
        words = self._words.setdefault(who, [])
        if entry.action != "undo":
            own = (*own, entry)
            words.append(entry.word)
        elif own:
            own = own[:-1]
            del words[len(words) - 1 - words[::-1].index(entry.word)]
        self._actions[place] = own
        self.opinions.setdefault(who, {})[entry.word] = _opinion(own)

    def last_of(self, reviewer: str) -> str | None:
        """The word of a reviewer's last action that still counts, which undo takes back next."""
        words = self._words.get(reviewer)
        return words[-1] if words else None


class Journal:
    """The journal of a draft."""

    def __init__(self, draft: Draft, path: Path):
        self.draft = draft
        self.path = path.with_name(path.name + ENDING)
        self._candidates = {each.word: each for each in draft.candidates}

    def state(self) -> ReviewState:
        """What all reviewers have decided so far.

        What follows the last line break of the file is no decision yet.

        Raises:
            DraftError: A line is none of this draft's journal.
        """
        found = ReviewState()
        data = self.path.read_bytes() if self.path.exists() else b""
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            try:
                entry = Entry.model_validate_json(line)
                self._check(entry.word, entry.action, entry.value)
            except (ValidationError, DraftError) as error:
                raise DraftError(
                    f"{self.path}:{number}: no decision of a review of this draft"
                ) from error
            found.add(entry)
        return found

    def add(self, reviewer: str, word: str, action: Action, value: str = "") -> Entry:
        """Append a decision; it is on disk when this returns."""
        self._check(word, action, value)
        try:
            entry = Entry(
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                reviewer=reviewer.strip(),
                word=word,
                action=action,
                value=value,
            )
        except ValidationError as error:
            raise DraftError(f"a decision's {error.errors()[0]['loc'][0]} is unusable") from error
        line = (json.dumps(entry.model_dump(), ensure_ascii=True) + "\n").encode()
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            end = file.read().rfind(b"\n") + 1  # what a kill has left after it is no line
            os.ftruncate(file.fileno(), end)
            try:
                written = os.write(file.fileno(), line)
                if written < len(line):
                    raise OSError(28, "No space left on device", str(self.path))
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), end)
                raise
        return entry

    def confirm(self, reviewer: str, word: str) -> None:
        """Append that a word and its proposed counterparts are right, and belong together."""
        candidate = self._candidates.get(word)
        if candidate is None:
            raise DraftError(f"{word!r} is no word of the draft")
        own = self.state().opinions.get(reviewer.strip(), {})
        for other in candidate.counterparts.values():
            if (found := self._candidates.get(other)) is not None:
                if not own.get(other, Opinion()).decided:
                    self.add(reviewer, other, "accept", found.group)
                self.add(reviewer, word, "pair", other)
        self.add(reviewer, word, "accept", candidate.group)

    def _check(self, word: str, action: Action, value: str) -> None:
        """Refuse a decision that does not fit the draft."""
        candidate = self._candidates.get(word)
        if candidate is None:
            raise DraftError(f"{word!r} is no word of the draft")
        if action == "accept" and value not in self.draft.groups:
            raise DraftError(f"{value!r} is none of {', '.join(self.draft.groups)}")
        if action in ("merge", "pair") and (value not in self._candidates or value == word):
            raise DraftError(f"{value!r} is no other word of the draft")


def _opinion(own: Sequence[Entry]) -> Opinion:
    """An opinion from the actions on one word."""
    decision = next(
        (each for each in reversed(own) if each.action in ("accept", "reject", "merge")), None
    )
    return Opinion(
        group=decision.value if decision and decision.action == "accept" else None,
        merged=decision.value if decision and decision.action == "merge" else "",
        pairs=tuple(dict.fromkeys(each.value for each in own if each.action == "pair")),
        comments=tuple(each.value for each in own if each.action == "comment"),
        decided=decision is not None,
    )
