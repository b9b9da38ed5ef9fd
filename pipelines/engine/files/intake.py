"""What a run on files finds at each look, and what of it is left to read.

An input may grow: by whole files, and files by what is appended to them. What a look finds is read
as one round, file by file in the order of their names. ledger/meta.json has of the present round

    settings.input   bytes of each file that belong to the round
    earlier          the first pane of the round, and the bytes of each file that were read before;
                     0 of a file of which a round that was not read to its end has read a part
    stored           what each file was like when what panes have read of it was last compared

A round is noted before its first pane is made. So each start finds what is left from the ledger: of
the round's files those behind the last pane's, and of a file that was read in part what follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import Any

from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.files import cutting
from evenflow.pipelines.engine.files.cutting import ChangedError
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.schemas.ledger import META, SourceRange
from evenflow.transforms.io import files, formats, growth
from evenflow.transforms.io.growth import Facts
from evenflow.transforms.storage.storage import Storage, Stored

POLL_SECONDS = 1.0  # between two looks at an input that may grow
POLL_SHARE = 10  # looks take at most this share of the time


@dataclass
class Rest:
    """What is left to read at a look.

    `names`: The files, in order, with the bytes that count. `input`: The bytes of each file of the
    round, by its name in meta.json.
    """

    names: dict[str, int]
    begin: cutting.Begin
    input: dict[str, int]
    earlier: dict[str, Any]
    whole: bool = False
    _before: dict[str, int] = field(default_factory=dict[str, int])

    def done(self, last: str, stored: int) -> tuple[int, int]:
        """Say how far the round is.

        `stored`: How many of its bytes were read.

        Returns bytes that are done, and bytes of all files, as stored.
        """
        total = sum(self.input.values())
        if not self._before:
            begin = total - sum(self.names.values())
            sums = accumulate(self.names.values(), initial=begin)
            self._before = dict(zip(map(files.printable, self.names), sums, strict=False))
        return self._before[last] + stored, total


@dataclass
class Intake:
    """Finds a run's input, checks what was read of it, and says what is left.

    `follow`: Seconds without anything new after which a pane that is not full is read; None: the
    input ends with what the first look finds. `final`: Whether a last line without an end is read
    as it is; else it waits for a later run where it is no whole record. `strict`: Whether a file
    that nothing reads is an error. `unread`: How many there are, by how their names end.
    """

    inputs: list[str]
    output: Storage
    follow: float | None = None
    note: Callable[[str], None] = lambda text: None
    final: bool = False
    strict: bool = False
    unread: dict[str, int] = field(default_factory=dict[str, int])
    found: dict[str, Stored] = field(default_factory=dict[str, Stored])
    stored: dict[str, Facts] = field(default_factory=dict[str, Facts])
    now: Rest = field(default_factory=lambda: Rest({}, cutting.START, {}, {}))
    _told: set[str] = field(default_factory=set[str])
    _ranges: dict[str, SourceRange] = field(default_factory=dict[str, SourceRange])
    _seen: int = 0  # panes whose ranges are in _ranges

    def look(self, known: Mapping[str, Any]) -> dict[str, Stored]:
        """Find the files.

        Returns the files that can be read, in order. Of a local file of lines that may grow, the
        bytes up to the end of its last whole line count.
        """
        try:
            looked = files.find(self.inputs, self.strict)
            self.unread = looked.unread
            self._tell(looked)
            found = looked.files
        except files.InputError as error:
            if self.follow is None or isinstance(error, files.UnreadableError):
                raise
            found = {}
        found = {name: found[name] for name in outside(found, self.output)}
        read = sizes(known) | {name: each.bytes for name, each in self.found.items()}
        if self.follow is None:
            if not found:
                raise files.InputError(
                    f"{', '.join(self.inputs)}: nothing there but this run's own output"
                )
            whole = {name: self._whole(name, each, read.get(name)) for name, each in found.items()}
            self._note_waiting(
                {name: found[name].bytes - each.bytes for name, each in whole.items()}
            )
            return whole
        return {
            name: each
            for name, stored in found.items()
            if (each := self._readable(name, stored, read.get(name)))
        }

    def _tell(self, found: files.Found) -> None:
        """Tell of what is left out, once, but not of this run's own output."""
        others = [each for each in found.outputs if outside([f"{each}/{META}"], self.output)]
        for text in found._replace(outputs=others).said:
            if text not in self._told:
                self.note(text)
            self._told.add(text)

    def _whole(self, name: str, stored: Stored, read: int | None) -> Stored:
        """A local file as far as it has whole records: of lines, or of frames that are compressed.

        `read`: Its bytes that are part of the input already; whatever they are, they stay it.
        """
        own = formats.of(name)
        has_frames = own.unpack is not None and not own.is_text
        if self.final or "://" in name or stored.bytes == read:
            return stored
        if not (own.may_grow or has_frames):
            return stored
        find = growth.whole_frames if has_frames else growth.whole_records
        whole = find(name, stored.bytes)
        return stored._replace(bytes=max(whole, min(read or 0, stored.bytes)))

    def _note_waiting(self, waiting: Mapping[str, int]) -> None:
        """Tell of lines that wait, by the bytes of each file that do."""
        left = {name: size for name, size in waiting.items() if size}
        for name, size in list(left.items())[:1]:
            more = f" (so do those of {len(left) - 1:,} more files)" if len(left) > 1 else ""
            last = f"the last line ({size:,} bytes) has no end and is no whole record"
            if formats.of(name).unpack is not None:
                last = f"the last compressed member ({size:,} bytes) has no end"
            self.note(
                f"{files.printable(name)}: {last}; it waits for the next run{more}. End it, or give"
                " --final to read it as it is"
            )

    def _readable(self, name: str, stored: Stored, read: int | None) -> Stored | None:
        """A file of an input that grows, as far as it can be read; None: not yet.

        An object of a store is whole. A file that is not of plain lines may still be written until
        it has been left alone for a while, and what is not whole of it then waits.
        """
        if "://" in name:
            return stored
        before = self.found.get(name)
        if before is not None and before[2:] == stored[2:]:
            return before
        if formats.of(name).is_plain:
            whole = growth.whole_lines(name, stored.bytes)
            return stored._replace(bytes=max(whole, min(read or 0, stored.bytes)))
        settled = abs(time.time() - (stored.modified or 0) / 1e9) >= (self.follow or 0)
        if settled or (before is None and read is not None):
            return self._whole(name, stored, read)
        return before

    def rest(self, found: dict[str, Stored], entries: History, known: Mapping[str, Any]) -> Rest:
        """Find what is left to read."""
        names = {files.printable(name): name for name in found}
        earlier, before = known.get("earlier") or {"pane": 0, "read": {}}, sizes(known)
        last = entries[-1].source[-1].file if len(entries) else None
        read = dict(earlier["read"])
        if known.get("finished"):
            read = before
        elif last is not None and len(entries) > earlier["pane"]:
            read |= {
                name: before[name]
                for name in takewhile(lambda name: name != last, names)
                if name in before
            }
        left = {
            name: found[name].bytes
            for text, name in names.items()
            if read.get(text) != found[name].bytes
        }
        begun = {text for text, name in names.items() if name in left and text in {*read, last}}
        ranges = {each.file: each for each in entries[-1].source} if len(entries) else {}
        if not begun <= ranges.keys():  # else the ledger need not be read
            ranges = self.ranges(entries)
        segments = {
            names[text]: cutting.Segment(names[text], each.first, each.last, each.offset)
            for text in begun
            if (each := ranges.get(text))
        }
        now = {text: found[name].bytes for text, name in names.items()}
        if before != now:
            begun_last = {} if last is None else {last: 0}  # its range is in the ledger
            earlier = {"pane": len(entries), "read": begun_last | read}
        self.now = Rest(left, cutting.Begin(len(entries), segments), now, earlier)
        return self.now

    def facts(self) -> dict[str, list[Any]]:
        """What meta.json is to say of the files."""
        return {name: [*each] for name, each in self.stored.items()}

    def root(self, found: Mapping[str, Stored], known: Mapping[str, Any]) -> str:
        """The folder that made ids hold the path below: the first start's, for ever."""
        if "root" in known:
            return known["root"]
        if self.follow is not None:
            return files.root(map(files.beginning, self.inputs))
        before = sizes(known)
        return files.root([name for name in found if files.printable(name) in before] or found)

    def ranges(self, entries: History) -> dict[str, SourceRange]:
        """The last range that panes have read of each file, by its name as the ledger has it."""
        for entry in entries.some(range(self._seen, len(entries))):
            self._ranges |= {each.file: each for each in entry.source}
        self._seen = len(entries)
        return self._ranges

    def compare_again(
        self, found: dict[str, Stored], entries: History, known: Mapping[str, Any]
    ) -> None:
        """Compare the files as they are once all is read; one that is gone has changed."""
        after, gone = files.find(self.inputs).files, Stored("", 0)
        now = {
            name: self._whole(name, after[name], each.bytes) if name in after else gone
            for name, each in found.items()
        }
        self.compare(now, entries, known)

    def compare(self, found: dict[str, Stored], entries: History, known: Mapping[str, Any]) -> None:
        """Compare what panes have read with the files that may have changed, by digests."""
        fresh = {files.printable(name): (name, each) for name, each in found.items()}
        if not self.stored:
            self.stored = {text: Facts(*each) for text, each in known.get("stored", {}).items()}
        now = {
            text: before
            if (before := self.stored.get(text)) is not None and before.hold(name, each)
            else growth.facts(name, each)
            for text, (name, each) in fresh.items()
        }
        doubtful = [
            fresh[text][0]
            for text in sizes(known)
            if text in now and now[text] is not self.stored.get(text)
        ]
        try:
            cutting.check_unchanged(doubtful, entries)
        except ChangedError as error:
            name = fresh[error.file][0]
            if growth.goes_on(name, sizes(known).get(name, 0)):
                raise error.grown() from None
            raise
        self.found, self.stored = found, now

    def followed(self, entries: History, known: Callable[[], dict[str, Any]]) -> Iterator[Rest]:
        """Wait for more, again and again."""
        assert self.follow is not None
        changed, waits = time.monotonic(), True
        while True:
            began = time.monotonic()
            found = self.look({})
            if found != self.found:
                self._grown(found, entries)
                changed, waits = time.monotonic(), True
            elif waits and began - changed >= self.follow:
                waits = False
            else:
                time.sleep(max(POLL_SECONDS, (time.monotonic() - began) * POLL_SHARE))
                continue
            rest = self.rest(found, entries, known())
            rest.whole = waits
            yield rest

    def _grown(self, found: dict[str, Stored], entries: History) -> None:
        """Check files that have changed since the last look.

        Of a file that seems to have grown only the sample is compared, since it may grow at every
        look. The next start compares all of it: `stored` stays as it was.
        """
        if gone := sorted(self.found.keys() - found.keys()):
            raise RunError(f"{gone[0]}: it was part of the input and is gone; put it back")
        fresh: dict[str, Facts] = {}
        doubtful: list[str] = []
        for name, each in found.items():
            text, before = files.printable(name), self.found.get(name)
            if before is None:
                fresh[text] = growth.facts(name, each)
            elif before != each:
                same = "://" not in name and _inode(before) == _inode(each)
                if not (same and each.bytes >= before.bytes and self.stored[text].sampled(name)):
                    fresh[text] = growth.facts(name, each)
                    doubtful.append(name)
        cutting.check_unchanged(doubtful, entries)
        self.found, self.stored = found, {**self.stored, **fresh}


def _inode(stored: Stored) -> str:
    """The inode of a local file, which a file that replaces it does not have."""
    return (stored.identity or "").partition("-")[0]


def sizes(known: Mapping[str, Any]) -> dict[str, int]:
    """The bytes of each file that belong to the round that meta.json describes."""
    noted = (known.get("settings") or {}).get("input") or {}
    return {files.absolute(name): size for name, size in noted.items()}  # once noted as given


def outside(names: Iterable[str], output: Storage) -> list[str]:
    """The names of files that are not in the output."""
    root = output.url if output.local is None else str(output.local.resolve())
    return [name for name, path in files.real_paths(names) if not path.startswith(f"{root}/")]
