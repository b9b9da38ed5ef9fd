"""What counts as a word where a text is read by regular expressions.

`reading` (labels) and `sentences` (sentence bounds) read whole texts as bytes instead.
"""

from __future__ import annotations

import re

# Patterns of one word, to be put into larger ones.
LETTERS = r"[^\W\d_]+"
WORD = r"[^\W_]+(?:['’][^\W_]+)?"  # letters and digits, with at most one apostrophe inside
HYPHENATED = r"[\w-]+"
COMPOUND = r"[\w'’-]+"

LETTERS_ONLY = re.compile(LETTERS)
# Words and single marks, as the models count them. `TOKEN` also keeps what the pronoun model needs:
# blank lines and runs of underscores.
WORD_OR_MARK = re.compile(rf"{WORD}|[^\w\s]")
TOKEN = re.compile(rf"{WORD}|\n\s*\n|[^\w\s]|_+")

_RUN = re.compile(r"\w+")
_OTHER = re.compile(r"\W")
_BLANKED = {code: " " for code in range(128) if not _RUN.match(chr(code))}


def split_runs(text: str) -> list[str]:
    r"""Find the runs of word characters (`\w+`) of a text.

    Returns:
        The runs in order. ASCII text is split at blanks, far faster than by a search.
    """
    return text.translate(_BLANKED).split() if text.isascii() else _RUN.findall(text)


def run_spans(text: str) -> list[tuple[int, int]]:
    """Find the (start, end) of what `split_runs` finds."""
    return [each.span() for each in _RUN.finditer(text)]


def blanked(text: str) -> str:
    r"""Put a blank in the place of each character that is in no run of word characters (`\w+`).

    Returns:
        A text of the same length. The runs of a part of the given text are what `split` gives of
        the same part of this one.
    """
    return text.translate(_BLANKED) if text.isascii() else _OTHER.sub(" ", text)
