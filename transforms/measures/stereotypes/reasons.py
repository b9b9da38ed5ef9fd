"""Puts linguistic indicators in plain words, as far as the encoder's heads are sure of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Probability of a class from which it becomes a reason: a wrong reason is worse than none
SURE = 0.75
LONGEST = 80  # characters of the sentence that a reason quotes
# Strength from which it is a reason by itself, see StereotypeSettings.threshold
STRONG = 0.66

# (indicator, value) → meaning
MEANINGS: Mapping[tuple[str, str], str] = {
    ("stance", "denied"): "the sentence denies it",
    ("stance", "objected"): "the sentence objects to it",
    ("stance", "irony"): "the sentence mocks it",
    ("stance", "reported"): "the sentence reports what others say",
    ("stance", "fact"): "reads as a report of facts",
    ("target", "generic target"): "speaks of a whole group",
    ("target", "specified target"): "speaks of certain people, not of a whole group",
    ("ling_form", "subset"): "speaks of a part of a group",
    ("connotation", "negative"): "the name given to them is itself disparaging",
    ("connotation", "positive"): "the name given to them is itself flattering",
    ("situation", "enduring characteristics"): "ascribes an enduring trait",
    ("situation", "situational behaviour"): "tells what was done once, in a certain situation",
    ("situation", "other"): "ascribes no trait or behaviour",
    ("evaluation", "negative"): "what is said is bad",
    ("evaluation", "positive"): "what is said is good",
    ("explanation", "yes"): "gives a reason for it",
    ("signal_word", "typical"): "says that it is the rule",
    ("signal_word", "exceptional"): "says that it is an exception",
}
QUOTED = ("target", "connotation")  # reasons that quote the words they rest on


def reasons(
    values: Mapping[str, tuple[str, float]], words: Mapping[str, Sequence[str]], strength: float
) -> list[str]:
    """What speaks for and against a strong stereotype, one line each, the stance first.

    Args:
        values: Indicator → (value, probability of the value).
        words: Indicator → the words that it rests on.
        strength: How strong people would call the stereotype (0 to 1).

    Returns:
        The reasons whose probability is at least SURE. If the sentence does not hold what it says,
        only its stance and its target.
    """
    lines: list[str] = []
    stance = values.get("stance", ("", 0.0))
    held = stance[0] in ("", "stated") or stance[1] < SURE
    for (name, value), meaning in MEANINGS.items():
        found, share = values.get(name, ("", 0.0))
        if found != value or share < SURE or not (held or name in ("stance", "target")):
            continue
        lines.append(meaning + _quoted(words.get(name, ()) if name in QUOTED else ()))
    if held and strength >= STRONG:
        lines.append(
            "words that people find strong in such sentences" + _quoted(words.get("strength", ()))
        )
    return lines


def _quoted(words: Sequence[str]) -> str:
    """The words in quotation marks after a colon; empty without words."""
    if not words:
        return ""
    text = " … ".join(" ".join(word.split()) for word in words)
    return ": '" + (text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…") + "'"
