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
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.schemas.ledger import SourceRange
from evenflow.schemas.output import META
from evenflow.transforms.io import files, formats, growth
from evenflow.transforms.io.growth import Facts
from evenflow.transforms.storage.storage import Storage, Stored

POLL_SECONDS = 1.0  # between two looks at an input that may grow
POLL_SHARE = 10  # looks take at most this share of the time


@dataclass
class Rest:
    """What is left to read at a look.

    Attributes:
        names: The files, in order, with the bytes that count.
        begin: Where cutting goes on.
        input: The bytes of each file of the round, by its name in meta.json.
        earlier: What meta.json says of what was read before.
        whole: Whether a pane that more documents would fit into waits.
    """

    names: dict[str, int]
    begin: cutting.Begin
    input: dict[str, int]
    earlier: dict[str, Any]
    whole: bool = False
    _before: dict[str, int] = field(default_factory=dict[str, int])

    def done(self, last: str, stored: int) -> tuple[int, int]:
        """Say how far the round is.

        Args:
            last: The last file that was read, by its name in meta.json.
            stored: How many of its bytes were read.

        Returns:
            Bytes that are done, and bytes of all files, as stored.
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

    Attributes:
        inputs: Paths, folders or globs.
        output: The output.
        follow: Seconds without anything new after which a pane that is not full is read; None: the
            input ends with what the first look finds.
        note: Called with what a user should know.
        found: What the last look has found, by name, in order.
        stored: What the files were like when they were last compared.
        now: What was last said to be left.
    """

    inputs: list[str]
    output: Storage
    follow: float | None = None
    note: Callable[[str], None] = lambda text: None
    found: dict[str, Stored] = field(default_factory=dict[str, Stored])
    stored: dict[str, Facts] = field(default_factory=dict[str, Facts])
    now: Rest = field(default_factory=lambda: Rest({}, cutting.START, {}, {}))
    _told: set[str] = field(default_factory=set[str])
    _ranges: dict[str, SourceRange] = field(default_factory=dict[str, SourceRange])
    _seen: int = 0  # panes whose ranges are in _ranges

    def look(self, known: Mapping[str, Any]) -> dict[str, Stored]:
        """Find the files.

        Args:
            known: What meta.json holds; empty before the first start.

        Returns:
            The files that can be read, in order. Of a local file of lines that may grow, the bytes
            up to the end of its last whole line count.

        Raises:
            InputError: The input names no file, or a file cannot be opened.
            OSError: A file cannot be read.
        """
        try:
            found = files.find(self.inputs, self._on_output)
        except files.InputError as error:
            if self.follow is None or isinstance(error, files.UnreadableError):
                raise
            found = {}
        found = {name: found[name] for name in outside(found, self.output)}
        if self.follow is None:
            if not found:
                raise files.InputError(
                    f"{', '.join(self.inputs)}: nothing there but this run's own output"
                )
            return found
        read = sizes(known)
        return {
            name: each
            for name, stored in found.items()
            if (each := self._readable(name, stored, name in self.found or name in read))
        }

    def _on_output(self, folder: str) -> None:
        """Tell of an output in the input, once, unless it is this run's own."""
        if folder not in self._told and outside([f"{folder}/{META}"], self.output):
            self.note(files.left_out(folder))
        self._told.add(folder)

    def _readable(self, name: str, stored: Stored, is_known: bool) -> Stored | None:
        """A file of an input that grows, as far as it can be read; None: not yet.

        An object of a store is whole. A file that is not of plain lines may still be written until
        it has been left alone for a while.
        """
        if "://" in name:
            return stored
        if formats.of(name).is_plain:
            before = self.found.get(name)
            if before is not None and before[2:] == stored[2:]:
                return before
            return stored._replace(bytes=growth.whole_lines(name, stored.bytes))
        settled = abs(time.time() - (stored.modified or 0) / 1e9) >= (self.follow or 0)
        return stored if settled else self.found.get(name, stored if is_known else None)

    def rest(self, found: dict[str, Stored], entries: History, known: Mapping[str, Any]) -> Rest:
        """Find what is left to read.

        Args:
            found: What a look has found.
            entries: The ledger.
            known: What meta.json holds.

        Returns:
            The rest, as of the present round or of a new one.

        Raises:
            LedgerError: The ledger is damaged.
            OSError: A file cannot be read.
        """
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
            names[text]: cutting.Segment(names[text], each.first, each.last, 0, each.offset)
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
        after, gone = files.find(self.inputs), Stored("", 0)
        self.compare({name: after.get(name, gone) for name in found}, entries, known)

    def compare(self, found: dict[str, Stored], entries: History, known: Mapping[str, Any]) -> None:
        """Compare what panes have read with the files that may have changed, by digests.

        Args:
            found: What a look has found.
            entries: The ledger.
            known: What meta.json holds.

        Raises:
            ChangedError: What a pane read has changed.
            OSError: A file cannot be read.
        """
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
        cutting.check_unchanged(doubtful, entries)
        self.found, self.stored = found, now

    def followed(self, entries: History, known: Callable[[], dict[str, Any]]) -> Iterator[Rest]:
        """Wait for more, again and again.

        Args:
            entries: The ledger.
            known: Returns what meta.json holds.

        Yields:
            What is left after each change; and once more, with panes that are not full, when
            nothing has changed for a while.

        Raises:
            RunError: A file is gone.
            ChangedError: What a pane read has changed.
            OSError: A file cannot be read.
        """
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
