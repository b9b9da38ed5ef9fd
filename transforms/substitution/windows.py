"""The marked windows that show the exchange of a set to a judge."""

from __future__ import annotations

from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.models import marking
from evenflow.transforms.substitution import persons
from evenflow.transforms.substitution.sets import Set
from evenflow.transforms.text import pronouns

NAMED_WITHIN = 600  # characters before a pronoun in which a name is searched for


def show_windows(text: str, proposed: Set, target: str) -> list[str]:
    """Show the exchange of a set as marked windows (see `marking.make_windows`).

    Where a set begins with a pronoun, the last name before it is added if the window does not reach
    it: mostly that name says who “he” is.
    """
    windows = marking.make_windows(text, proposed.edits[target], proposed.spans)
    name = _named_before(text, proposed.mentions[0])
    return (
        [f"{name}{marking.GAP}{windows[0]}", *windows[1:]]
        if name and name not in windows[0]
        else windows
    )


def _named_before(text: str, mention: Mention) -> str:
    """The last name before a pronoun that may be its person's, empty for none or no pronoun."""
    word = text[mention.start : mention.end].lower()
    if word not in pronouns.PRONOUNS:
        return ""
    sex = "f" if word in pronouns.FEMALE else "m"
    found = [*persons.find_names(text, max(0, mention.start - NAMED_WITHIN), mention.start, sex)]
    return text[found[-1].start : found[-1].end] if found else ""
