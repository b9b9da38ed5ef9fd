"""The linguistic indicators in words that a person understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

STRONG = 0.6  # strength of the content from which its words are a reason: the upper third of sentences with human scores
LONGEST = 80  # characters of the sentence that a reason quotes

# indicator, value → what it means. Where the words matter, they are quoted behind it.
MEANINGS: Mapping[tuple[str, str], str] = {
    ("target", "generic target"): "speaks of a whole group",
    ("target", "specified target"): "speaks of certain people, not of a whole group",
    ("ling_form", "subset"): "speaks of a part of a group",
    ("connotation", "negative"): "the name given to them is itself disparaging",
    ("connotation", "positive"): "the name given to them is itself flattering",
    ("situation", "enduring characteristics"): "an enduring trait",
    ("situation", "situational behaviour"): "something done once, in a certain situation",
    ("behaviour", "no"): "says what happens to them, not what they are or do",
    ("evaluation", "negative"): "what is said is bad",
    ("evaluation", "positive"): "what is said is good",
    ("generalization", "abstract"): "put in abstract words",
    ("explanation", "yes"): "gives a reason for it",
    ("signal_word", "typical"): "words for «as a rule»",
    ("signal_word", "exceptional"): "words for an exception",
    ("stance", "denied"): "the sentence denies it",
    ("stance", "asked"): "the sentence asks, it does not state",
    ("stance", "reported"): "the sentence reports what others say",
    ("stance", "countered"): "the sentence objects to it",
    ("stance", "self"): "somebody speaks of themselves or their own",
    ("stance", "news"): "reads as a report of facts",
}


def reasons(values: Mapping[str, str], words: Mapping[str, Sequence[str]]) -> list[str]:
    """What speaks for and against a strong stereotype.

    values: indicator → value; words: indicator → the words it rests on. One line each, the target first.
    """
    lines: list[str] = []
    for name, value in values.items():
        strong = name == "strength" and words[name] and float(value) >= STRONG
        meaning = "words that people find strong in such sentences" if strong else MEANINGS.get((name, value))
        if meaning is None:
            continue
        quoted = words["content"] if name == "situation" and words["content"] else words[name]
        lines.append(meaning + _quoted(quoted))
    return lines


def _quoted(words: Sequence[str]) -> str:
    if not words:
        return ""
    text = " … ".join(" ".join(word.split()) for word in words)
    return ": '" + (text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…") + "'"
