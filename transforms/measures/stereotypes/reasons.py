"""Puts linguistic indicators in plain words, as far as the encoder's heads are sure of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenflow.transforms.measures.stereotypes.masking import SEVERAL, placeholder

# Probability of a class from which it becomes a reason: a wrong reason is worse than none
SURE = 0.75
SURE_OF_ALL = 0.9  # the same, of a whole group, which nearly every sentence seems to speak of
LONGEST = 80  # characters of the sentence that a reason quotes
# Strength from which it is a reason by itself, see StereotypeSettings.threshold
STRONG = 0.66

MOST = 3  # reasons of a sentence: what weighs most

# (indicator, value) → meaning. The stance comes first, then by what the value adds to the score
# (calibration.json)
MEANINGS: Mapping[tuple[str, str], str] = {
    ("stance", "denied"): "the sentence denies it",
    ("stance", "objected"): "the sentence objects to it",
    ("stance", "irony"): "the sentence mocks it",
    ("stance", "reported"): "the sentence reports what others say",
    ("stance", "fact"): "reads as a report of facts",
    ("evaluation", "negative"): "what is said is bad",
    ("evaluation", "positive"): "what is said is good",
    ("ling_form", "subset"): "speaks of a part of a group",
    ("target", "generic target"): "speaks of a whole group",
    ("target", "specified target"): "speaks of certain people, not of a whole group",
    ("situation", "enduring characteristics"): "ascribes an enduring trait",
    ("situation", "situational behaviour"): "tells what was done once, in a certain situation",
    ("situation", "other"): "ascribes no trait or behaviour",
    ("explanation", "yes"): "gives a reason for it",
    ("signal_word", "typical"): "says that it is the rule",
    ("signal_word", "exceptional"): "says that it is an exception",
    ("connotation", "negative"): "the name given to them is itself disparaging",
    ("connotation", "positive"): "the name given to them is itself flattering",
}
QUOTED = ("target", "connotation")  # reasons that quote the words they rest on
CREED_ALONE = "is about a creed, and not about people"
OF_PEOPLE = frozenset({"target", "ling_form", "connotation"})  # not of a creed alone


def reasons(
    values: Mapping[str, tuple[str, float]],
    words: Mapping[str, Sequence[str]],
    of_creed: bool = False,
) -> list[str]:
    """What speaks for and against a strong stereotype, one line each, the stance first."""
    lines: list[str] = []
    held = is_held(*values.get("stance", ("", 0.0)))
    if held and of_creed:
        lines.append(CREED_ALONE)
    for (name, value), meaning in MEANINGS.items():
        found, share = values.get(name, ("", 0.0))
        if found != value or share < SURE or not (held or name in ("stance", "target")):
            continue
        if of_creed and name in OF_PEOPLE:
            continue
        if value == "generic target" and (
            share < SURE_OF_ALL or not _are_several(words.get(name, ()))
        ):
            continue
        lines.append(meaning + _quoted(words.get(name, ()) if name in QUOTED else ()))
    return lines[:MOST]


def with_words(lines: Sequence[str], words: Sequence[str]) -> list[str]:
    """Add the words that weigh most to the reasons of a strong stereotype."""
    told = ["the words that weigh most" + _quoted(words)] if words else []
    return sorted([*told, *lines], key=lambda line: line != CREED_ALONE)[:MOST]


def is_held(stance: str, share: float) -> bool:
    """Whether a sentence states what it says itself, as far as a stance is sure."""
    return stance in ("", "stated") or share < SURE


def _are_several(words: Sequence[str]) -> bool:
    """Whether some words name several people: of one person a group is seldom meant."""
    return not words or any(placeholder(word) == SEVERAL for word in words)


def _quoted(words: Sequence[str]) -> str:
    """The words in quotation marks after a colon; empty without words."""
    if not words:
        return ""
    text = " … ".join(" ".join(word.split()) for word in words)
    return ": '" + (text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…") + "'"
