"""What a label is by the characters beside it: a word of prose, half of an inclusive form, or code.

- An inclusive form is one mention of each of its two words: “s/he”, “(wo)man”, “host(ess)”. The
  mentions touch, as no others do, and no exchange changes them.
- A word that a line's end broke is one word: “po-” and “liceman” are a label, “hu-” and “man” none.
- A token of a path, a call, a page of a manual, an attribute of markup or a code span is no word of
  prose, and neither is a title's abbreviation after a number (“120 ms”) or without a name.
- A label that is often no word of prose in its document is none there: “man” of “man(1)”.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evenflow.transforms.text.reading import (
    APOSTROPHE,
    BLANK,
    BREAK,
    HYPHEN,
    OTHER,
    RETURN,
    UNDERSCORE,
    Ints,
    TextBytes,
)
from evenflow.wordlists import spelling

Spans = tuple[Ints, Ints, Ints]  # starts, ends, labels

# Mentions of a label in a document that are no words of prose, and their share of all, from which
# none is
LEAST_OUT, SHARE_OUT = 2, 0.2
AROUND = 80  # characters on each side that a decision may look at
HALF, BROKEN_PART = 8, 40  # of these, those that hold half of a form, or of a word
# Whether two codes beside a mention, the further and the nearer one, are worth a look: punctuation
# that no blank follows (“s/he”, “he(1)”), a broken line, an apostrophe that may be a backtick
BESIDE = np.zeros((256, 256), bool)
BESIDE[:, [OTHER, HYPHEN, UNDERSCORE]] = True
BESIDE[[BLANK, BREAK, RETURN], :] = False
BESIDE[[BLANK, BREAK, RETURN, OTHER], APOSTROPHE] = True
BESIDE[[HYPHEN, RETURN, BLANK], BREAK] = True
BESIDE[[BREAK, BLANK], BLANK] = True
LETTERS = r"[^\W\d_]"
HALF_BEFORE = re.compile(
    rf"(?:[(\[{{]({LETTERS}{{1,5}})-?[)\]}}]|\b({LETTERS}{{1,5}})[/*:·•|(\[{{])\Z"
)
HALF_AFTER = re.compile(rf"\(-?({LETTERS}{{1,5}})\)|[/*:·•]-?({LETTERS}{{1,5}})\b")
BROKE = r"[^\S\r\n]*(?:\r\n|\r|\n)[^\S\r\n]*"
BROKEN = re.compile(rf"({LETTERS}+)[-\u2010\u00ad]{BROKE}\Z")
LAST, REST = re.compile(rf"{LETTERS}+\Z"), re.compile(rf"\W{BROKE}({LETTERS}+)")
SHORT_PART = 4  # letters of a line's last part that is no word of its own: “hu-”, “Ger-”
CALL = re.compile(r"\((?:\d[a-z]{0,2})?\)")
ENCLOSED = re.compile(r"[\s<>\"'()\[\]{}=,;“”‘’|]")  # not of a path or an address
NUMBER = re.compile(r"\d[\d.,]*[^\S\r\n]?\Z")
NAME = re.compile(rf"(?:\.?/{LETTERS}+)?\.?\s+\W?{LETTERS}")  # “Mr./Mrs. Hu” too
# Before a number or a unit of work, and in “man-in-the-middle”, a label is nobody
WORK = re.compile(r"-(?:\d|(?:hour|day|week|month|year)s?|power|in-the-)\b")
SHOUTED = re.compile(r"\.?\s?[A-Z]{4,}")  # a name in capitals
INDENT = 16  # characters of a line's indent at most
USUAL = re.compile(r"[A-Z][a-z]+\.? ")  # a title as it is mostly written
UNVOWELLED = re.compile(r"[b-df-hj-np-tv-xz]{2,3}\.?")


class Forms:
    """Decides on the mentions of one attribute.

    Args:
        labels: Its labels.
        groups: The group of each label.
    """

    def __init__(self, labels: Sequence[str], groups: Mapping[str, int]):
        self._groups = [groups[label] for label in labels]
        self._labels = {spelling.fold(label): at for at, label in enumerate(labels)}
        # An abbreviation of a title has no vowel, as “mr” and “ms”
        self._short = np.array([bool(UNVOWELLED.fullmatch(each)) for each in labels], bool)

    def decide(
        self, reading: TextBytes, starts: Ints, ends: Ints, labels: Ints, begins: Ints
    ) -> Spans:
        """Leave out, join and add mentions by the characters beside them.

        Args:
            starts, ends, labels: The mentions in the order of the codes, (n,) each.
            begins: Where each document begins in the text, (D,).

        Returns:
            Starts, ends and labels of the mentions that are words of prose, (m,) each; their
            offsets are those of the text.
        """
        at = self._suspects(reading.codes, starts, ends, labels, reading.removed)
        starts, ends = reading.offsets(starts, ends)
        rows: list[tuple[int, int, int]] = []
        out: list[tuple[int, int]] = []
        kept = np.ones(len(starts), bool)
        for place in at:
            first, last = int(starts[place]), int(ends[place])
            left = reading.text[max(0, first - INDENT) : first]
            before = (first, last, int(labels[place]))
            if self._short[before[2]]:
                if USUAL.match(reading.text, first, last + 2):
                    continue
            elif left[-2:] == "  " and "\n" not in left:
                continue
            after = list(self._decided(reading.text, *before))
            if after != [before]:
                kept[place] = False
                rows += after
                if len(after) > 1:  # “bride(groom)” has no “groom”
                    kept &= (ends <= after[0][0]) | (starts >= after[1][1])
                out += [] if after else [(first, before[2])]
        for first, last, label in self._broken(reading):
            kept &= (starts < first) | (ends > last)
            rows = [row for row in rows if row[0] < first or row[1] > last]
            rows.append((first, last, label))
        if kept.all() and not rows:
            return starts, ends, labels
        new = np.array(rows, np.int64).reshape(-1, 3)
        starts, ends, labels = (
            np.concatenate((each[kept], new[:, column]))
            for column, each in enumerate((starts, ends, labels))
        )
        order = np.argsort(starts, kind="stable")
        spans = starts[order], ends[order], labels[order]
        return spans if len(out) < LEAST_OUT else self._one_sense(spans, out, begins)

    def _broken(self, reading: TextBytes) -> Iterator[tuple[int, int, int]]:
        """The labels that a hyphen at a line's end breaks."""
        for end in reading.line_ends:
            left = LAST.search(reading.text[max(0, end - BROKEN_PART) : end])
            rest = REST.match(reading.text, end)
            if left and rest:
                label = self._labels.get(spelling.fold(left[0] + rest[1]))
                if label is not None:
                    yield end - len(left[0]), rest.end(), label

    def _one_sense(self, spans: Spans, out: list[tuple[int, int]], begins: Ints) -> Spans:
        """Leave out a label where it is often no word of prose in its document.

        A word has mostly one sense in a document (Gale, Church and Yarowsky 1992).
        """
        left, size = np.array(out, np.int64), len(self._groups)
        owners, ours = (np.searchsorted(begins, each, "right") for each in (left[:, 0], spans[0]))
        keys, counts = np.unique(owners * size + left[:, 1], return_counts=True)
        own = ours * size + spans[2]
        ordered = np.sort(own)
        low, high = (np.searchsorted(ordered, keys, side) for side in ("left", "right"))
        others = high - low
        sensed = keys[(counts >= LEAST_OUT) & (counts >= SHARE_OUT * (counts + others))]
        kept = ~np.isin(own, sensed)
        return spans[0][kept], spans[1][kept], spans[2][kept]

    def _suspects(
        self, codes: bytes, starts: Ints, ends: Ints, labels: Ints, removed: Ints | None
    ) -> list[int]:
        """The mentions that have a look: few, as blanks stand beside most words."""
        near = np.stack((starts, starts + 1, ends + 2, ends + 3))
        further, before, after, beyond = np.frombuffer(b"\n\n" + codes + b"\n\n", np.uint8)[near]
        chosen = BESIDE[further, before] | BESIDE[beyond, after] & (after != beyond)
        if removed is not None:  # perhaps a soft hyphen at a line's end
            chosen |= (before == BREAK) & np.isin(starts - 1, removed)
        chosen |= self._short[labels]
        return np.flatnonzero(chosen).tolist()

    def _decided(
        self, text: str, start: int, end: int, label: int
    ) -> Iterator[tuple[int, int, int]]:
        """The mentions that a mention is: none, itself, another one, or two that touch."""
        # A blank line may part documents
        left = text[max(0, start - AROUND) : start].rpartition("\n\n")[2]
        right = text[end : end + AROUND].partition("\n\n")[0]
        written = text[start:end]
        word = spelling.fold(written)
        if half := HALF_BEFORE.search(left[-HALF:]):
            other = self._other(label, spelling.fold(half[1] or half[2]) + word)
            if other is not None:
                yield start - len(half[0]), start, other
                yield start, end, label
                return
        if half := HALF_AFTER.match(right):
            tail = spelling.fold(half[1] or half[2])
            # A longer one may take the place of letters: “waiter/tress”
            cuts = range(max(1, min(4, len(word) - 1)) if len(tail) > 2 else 1)
            others = (self._other(label, word[: len(word) - cut] + tail) for cut in cuts)
            other = next((each for each in others if each is not None), None)
            if other is not None:
                yield start, end, label
                yield end, end + len(half[0]), other
                return
        if left.rstrip(" \t")[-1:] in ("\r", "\n") and (
            broken := BROKEN.search(left[-BROKEN_PART:])
        ):
            whole = self._labels.get(spelling.fold(broken[1]) + word)
            if whole is not None:
                yield start - len(broken[0]), end, whole
                return
            if len(broken[1]) < SHORT_PART:
                return
        if not (
            _is_code(left, right)
            or (self._short[label] and _is_no_title(left, written, right))
            or WORK.match(right)
        ):
            yield start, end, label

    def _other(self, label: int, word: str) -> int | None:
        """The label that a word is, if it names another group than a label does."""
        found = self._labels.get(word)
        same = found is None or self._groups[found] == self._groups[label]
        return None if same else found


def _is_code(left: str, right: str) -> bool:
    """Whether a token between the two is a part of code, a path or an address."""
    if CALL.match(right) or left[-2:] in ('="', "='"):
        return True
    if "`" in left:
        line, rest = left.rsplit("\n", 1)[-1], right.split("\n", 1)[0]
        if line.count("`") % 2 and "`" in rest and "``" not in line:
            return True
    right = right[right.startswith("./") :]  # “Mr./Mrs.”
    first, last = ENCLOSED.split(left)[-1], ENCLOSED.split(right, maxsplit=1)[0]
    run = first + "x" + last.rstrip(".:!?")
    if "/" in run or "\\" in run:
        return bool(
            re.match(r"[/~]|\.\.?/|\w:\\", run) or re.search(r"[._\d]\w*[/\\]|[/\\]\w*[._\d]", run)
        )
    return run.count(".") > 1 and re.fullmatch(r"[\w-]+(\.[\w-]+){2,}", run) is not None


def _is_no_title(left: str, word: str, right: str) -> bool:
    """Whether an abbreviation is not the title of a name that follows."""
    if left.rstrip()[-1:].isdigit() and NUMBER.search(left[-HALF:]):
        return True
    near = left[-AROUND // 2 :] + right[: AROUND // 2]
    if word.isupper():
        if SHOUTED.match(right):
            return False
        return sum(map(str.isupper, near)) < sum(map(str.islower, near))
    if not word.islower():
        return False
    name = NAME.match(right)
    if name is None:
        return any(map(str.isalpha, near))
    return not name[0][-1].isupper() and near != near.lower()
