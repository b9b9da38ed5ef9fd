"""The difference of two sentences, word by word, as HTML."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup

from evenflow.pipelines.pages.report.text import TITLE
from evenflow.pipelines.terminal.lines import visible

WORDS = re.compile(r"\w+|\W")


def diff(before: str, after: str, limit: int = TITLE) -> Markup:
    """Mark what was taken out of a sentence and what was put in."""
    old, new = (WORDS.findall(visible(each[:limit])) for each in (before, after))
    out: list[Markup] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gone, come = "".join(old[a:b]), "".join(new[c:d])
        if kind == "equal":
            out.append(Markup("{}").format(gone))
        else:
            out += [Markup("<del>{}</del>").format(gone)] if gone else []
            out += [Markup("<ins>{}</ins>").format(come)] if come else []
    cut = "…" if max(len(before), len(after)) > limit else ""
    return Markup("<bdi>{}{}</bdi>").format(Markup("").join(out), cut)
