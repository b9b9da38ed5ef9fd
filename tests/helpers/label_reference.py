"""A slow reference of label matching, written from the rules alone: characters, words, candidates,
choice.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from evenflow.wordlists.loader import WordList

APOSTROPHES = set("'\u2019\u2018\u02bc\u02bb\u201b\u2032`\u00b4\uff07\ua78c\ufffd")
HYPHENS = set("-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d")
INVISIBLE = {
    "\u034f",
    "\u17b4",
    "\u17b5",
    *map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),
}
SEEN = {
    *map(chr, range(0x600, 0x606)),
    *map(chr, (0x110BD, 0x110CD, *range(0x13430, 0x13460))),
    "\u06dd",
    "\u070f",
    "\u0890",
    "\u0891",
    "\u08e2",
    "\ufff9",
    "\ufffa",
    "\ufffb",
}
FILLERS = set("\u115f\u1160\u3164\uffa0\u2800")
CLITICS = {"d", "ll", "m", "re", "s", "t", "ve"}
URL = r"(?:[\w+.-]{1,64}://|(?<![^\W])www\.)[^\s<>\"“”«»|\\^{}`]+"
LINK = re.compile(URL + r"|[\w.%+-]{1,64}@[\w-]+(?:\.[\w-]+)+|(?<!\w)@\w+")
GAP = re.compile(r"[ ]*(?:\r\n|\r|\n)?[ ]*")
LINE_END = re.compile(r"[ ]*(?:\r\n|\r|\n)[ ]*")


class Sign(NamedTuple):
    """A character that is read: its kind is «word», or the sign that it stands for."""

    text: str
    kind: str
    start: int
    end: int


class Token(NamedTuple):
    """A whole word, or one other character."""

    text: str
    kind: str
    start: int
    end: int


def kind(character: str) -> str:
    """«word», or the character that this one is read as: ', -, blank, a line break, «ignored» or
    «other».
    """
    category = unicodedata.category(character)
    if character in APOSTROPHES:
        return "'"
    if character in HYPHENS:
        return "-"
    if character in INVISIBLE or (category == "Cf" and character not in SEEN):
        return "ignored"
    if character in "\n\x0b\x85\u2028":
        return "\n"
    if character == "\r":
        return "\r"
    if (character.isspace() and character != "\u2029") or character in FILLERS:
        return " "
    return (
        "word" if category[0] in "LM" or category in ("Nd", "Nl") or character == "_" else "other"
    )


@lru_cache(4096)
def folded(word: str, exact: bool) -> str:
    """NFKC_Casefold, or NFKC where case matters."""
    word = unicodedata.normalize("NFKC", word)
    if exact:
        return word
    for _ in range(3):
        word = unicodedata.normalize("NFKC", word.casefold())
    return word


@lru_cache(4096)
def tokens(text: str, linked: bool = True) -> tuple[Token, ...]:
    """Words and signs of a text. Links, and underscores around a word, count as other signs."""
    signs = [Sign(c, kind(c), i, i + 1) for i, c in enumerate(text)]
    signs = [sign for sign in signs if sign.kind != "ignored"]
    seen = "".join(sign.text for sign in signs)
    if linked:
        for match in LINK.finditer(seen):
            for i in range(*match.span()):
                signs[i] = signs[i]._replace(kind="other")
    for match in re.finditer("_+", seen):
        sides = [
            signs[i].kind if 0 <= i < len(signs) else "other"
            for i in (match.start() - 1, match.end())
        ]
        if sides != ["word", "word"]:
            for i in range(*match.span()):
                signs[i] = signs[i]._replace(kind="other")
    out: list[Token] = []
    for sign in signs:
        if out and sign.kind == out[-1].kind == "word":
            out[-1] = Token(out[-1].text + sign.text, "word", out[-1].start, sign.end)
        else:
            out.append(Token(*sign))
    return tuple(out)


@lru_cache(4096)
def kinds_of(said: tuple[Token, ...]) -> str:
    """A character for each token: the sign that it is read as, or w or o."""
    return "".join(token.kind[0] for token in said)


def stands(label: tuple[Token, ...], exact: bool, said: tuple[Token, ...], at: int) -> int | None:
    """Index after the label's last token where it stands at a token, or None."""
    for place, part in enumerate(label):
        if part.kind == " ":
            match = GAP.match(kinds_of(said), at)
            if match is None or not match.group():
                return None
            at = match.end()
            continue
        if at >= len(said) or said[at].kind != part.kind:
            return None
        if part.kind == "word" and folded(said[at].text, exact) != folded(part.text, exact):
            return None
        if part.kind == "other" and said[at].text != part.text:
            return None
        at += 1
        if part.kind == "-" and place + 1 < len(label):
            match = LINE_END.match(kinds_of(said), at)
            at = match.end() if match else at
    return at


def mentions(text: str, words: WordList) -> list[tuple[int, int, str]]:
    """Start, end and label of each mention, in order."""
    said = tokens(text)
    found: list[tuple[int, int, str]] = []
    for label in words.labels:
        parts = tokens(label, linked=False)
        exact = label in words.exact
        for at, token in enumerate(said):
            if token.kind != "word":
                continue
            if (
                at > 1
                and said[at - 1].kind == "'"
                and said[at - 2].kind == "word"
                and parts[0].text in CLITICS
            ):
                continue
            stop = stands(parts, exact, said, at)
            if stop is None:
                continue
            last = said[stop - 1]
            if (
                last.kind == "word"
                and folded(last.text, False).endswith("n")
                and negated(said, stop)
            ):
                continue
            found.append((token.start, last.end, label))
    chosen: list[tuple[int, int, str]] = []
    for span in sorted(found, key=lambda span: (-len(span[2]), span[0])):
        if all(span[1] <= other[0] or span[0] >= other[1] for other in chosen):
            chosen.append(span)
    return sorted(chosen)


def negated(said: tuple[Token, ...], stop: int) -> bool:
    """Whether «'t…» follows."""
    after = said[stop : stop + 2]
    return [token.kind for token in after] == ["'", "word"] and folded(after[1].text, False)[
        0
    ] == "t"
