"""In what manner a sentence says what it says: stated, or denied, asked, reported, countered, of oneself, or as news.

Not one of the scheme's ten indicators. Only what is stated as true of others is a stereotype's statement: a denial, a question,
another's words, an objection, a self-description and a dated fact are told apart here, so that the score can be low for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.transforms.stereotyping.indicator_joined import Joined
from evenflow.transforms.stereotyping.indicator_patterns import (
    BELIEVER,
    COMMAND,
    COUNTER,
    DENIAL,
    DISBELIEF,
    DUTY,
    MENTIONED,
    NEEDED,
    REPORTED,
    ROLE,
    TRAILING,
    WONDERED,
    YEAR,
)
from evenflow.transforms.stereotyping.indicator_phrases import NOUNS
from evenflow.transforms.stereotyping.indicator_rules import Predicate
from evenflow.transforms.stereotyping.indicator_tagging import LONGEST, Token, token
from evenflow.transforms.stereotyping.indicator_targets import Said, Target
from evenflow.transforms.stereotyping.indicator_words import valence, words

STATED = "stated"
STANCES = ("asked", "countered", "denied", "reported", "self", "news")

# Where somebody says what they are, or were.
BECOMING = frozenset(("am", "'m", "was", "are", "were", "'re", "been", "became", "grew", "consider", "converted", "may"))
FACING = 6  # words at most between a verb of saying and whom it speaks of
MOST = 200  # words in which a denial is looked for
OBJECTING = (COUNTER, MENTIONED, COMMAND, DUTY, BELIEVER)
DENYING = (DENIAL, *OBJECTING)
SCOPE = 4  # words after a negation that it surely denies


def stance(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Said:
    """The manner, and the words it rests on. Takes time in proportion to the sentence's length."""
    for judge in (_asked, _countered, _denied, _reported, _self, _news):
        value, places = judge(tokens, joined, target, said)
        if value:
            return Said(value, tuple(places))
    return Said(STATED)


def denies(text: str) -> bool:
    """Whether a sentence denies or objects to what it says of people, as far as its phrases tell without its grammar.

    Looks at the first MOST words.
    """
    text = text[: MOST * LONGEST]
    joined = " ".join([word[:LONGEST] for word in token(text).findall(text)[:MOST]]).lower().replace("’", "'")
    said = joined.split(" ")
    return any(not NEEDED[pattern].isdisjoint(said) and pattern.search(joined) is not None for pattern in DENYING)


Judged = tuple[str, Sequence[int]]
NOT: Judged = ("", ())


def _asked(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Judged:
    for place in range(len(tokens) - 1, max(-1, len(tokens) - 5), -1):
        if tokens[place].lower == "?":
            return "asked", [place]
        if tokens[place].lower[0].isalnum():
            break
    match = joined.search(WONDERED)
    return ("asked", joined.span(*match.span())) if match else NOT


def _countered(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Judged:
    for pattern in OBJECTING:
        match = joined.search(pattern)
        if match:
            return "countered", joined.span(*match.span())
    belying, claims = joined.of("belying"), joined.of("claim")
    if belying and claims and claims[0] <= target.start and _outside(target, belying):
        return "countered", sorted({*belying, claims[0]})
    return NOT


def _outside(target: Target, places: Sequence[int]) -> bool:
    return any(not target.start <= place < target.end for place in places)


def _denied(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Judged:
    match = joined.search(DENIAL)
    if match:
        return "denied", joined.span(*match.span())
    match = joined.search(DISBELIEF)
    if match and any(place < target.start for place in joined.span(*match.span())) and _negative(match.group()):
        return "denied", joined.span(*match.span())
    if said is not None:
        denied = _blame_denied(tokens, said)
        if denied:
            return "denied", denied
    belying = [place for place in joined.of("belying") if place >= target.end]
    if belying and tokens[0].lower == "that" and tokens[0].tag == "IN":
        return "denied", belying
    return NOT


def _negative(phrase: str) -> bool:
    return any(word in words("negation") or word in ("no", "few") for word in phrase.split())


def _blame_denied(tokens: Sequence[Token], said: Predicate) -> list[int]:
    """«are not criminals», «do not steal»: what is denied is bad. «are not clever» denies something good."""
    for place in range(said.start, min(said.end, said.verb + 2)):
        if tokens[place].lower not in ("not", "n't", "never") or tokens[place - 1].lower in words("modal"):
            continue
        for after in range(place + 1, min(said.end, place + 1 + SCOPE)):
            if tokens[after].lower in words("clause_break") or tokens[after].lower in (",", "to", "only", "just"):
                break
            value = valence().get(tokens[after].lower, 0)
            if value:
                return [place, after] if value < 0 else []
    return []


def _reported(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Judged:
    hearsay = [place for place, token in enumerate(tokens) if token.lower in ("allegedly", "reportedly", "supposedly")]
    if hearsay:
        return "reported", hearsay
    match = joined.search(REPORTED)
    if match and joined.span(*match.span())[-1:] < [max(target.start, target.subject)]:
        return "reported", joined.span(*match.span())
    match = joined.search(TRAILING)
    if match and any(place > target.end for place in joined.span(*match.span())):
        return "reported", joined.span(*match.span())
    for place in range(target.start):
        token = tokens[place]
        if token.lower in words("reporters"):
            return "reported", [place]
        verb = token.tag in SPOKEN or tokens[place + 1].lower == "that" or token.tag == "NNS"
        if token.lower in words("saying") and verb and _spoken(tokens, place) and _faces(tokens, place, target):
            return "reported", [place]
    quotes = [place for place, token in enumerate(tokens) if token.lower in ('"', "“", "”")]
    if len(quotes) > 1 and quotes[0] < target.start < quotes[-1]:
        return "reported", [quotes[0], quotes[-1]]
    return NOT


DESCRIBING = frozenset(("DT", "JJ", "JJR", "NN", "NNP", "CD", "RB", "VBN", "PRP$", "RP"))
SPOKEN = frozenset(("VBD", "VBZ", "VBP", "VBG", "VBN"))


def _faces(tokens: Sequence[Token], place: int, target: Target) -> bool:
    """Whether what is said begins soon after the verb of saying: with «that», a mark, or the target itself."""
    after = tokens[place + 1].lower if place + 1 < len(tokens) else ""
    if after in ("this", "it", "so"):
        return False
    between = [token.lower for token in tokens[place + 1 : target.start]]
    return "that" in between or ":" in between or len(between) <= FACING


def _spoken(tokens: Sequence[Token], place: int) -> bool:
    """Whether somebody else than the writer says it: «he said», «my uncle claims», «told us», not «I say»."""
    for before in range(place - 1, max(-1, place - 6), -1):
        token = tokens[before]
        if token.lower in ("i", "we", "you") or token.lower in words("modal"):
            return False
        if (
            token.tag in NOUNS
            or token.lower in ("he", "she", "they", "who", "some", "many", "others", "critics", "police")
            or token.lower.startswith("<")
        ):
            return True
    return False


def _self(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Judged:
    if tokens[target.subject].lower in ("i", "we"):
        return "self", [target.subject]
    before = range(max(0, target.start - FACING), target.start)
    for place in before:
        if tokens[place].lower in ("i", "we") and _becomes(tokens, place + 1, target.start):
            return "self", [place]
    if target.start > 0 and tokens[target.start - 1].lower in ("we", "us"):
        return "self", [target.start - 1]
    if joined.search(ROLE) and any(token.lower in words("first") for token in tokens):
        return "self", [place for place, token in enumerate(tokens) if token.lower in words("first")]
    if tokens[target.start].lower in ("my", "our") and not target.plural and not _blames(tokens, said):
        return "self", [target.start]
    return NOT


def _becomes(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether the words between a speaker and a label say that one is the other: «am a», «grew up in a»."""
    if start < end and tokens[start].lower == ",":  # «I, a woman, …»
        return all(token.tag in DESCRIBING for token in tokens[start + 1 : end])
    verbs = [place for place in range(start, min(end, start + 2)) if tokens[place].lower in BECOMING]
    return bool(verbs) and all(
        token.tag in DESCRIBING or token.lower in ("in", "to", "as", "up") for token in tokens[verbs[0] + 1 : end]
    )


def _blames(tokens: Sequence[Token], said: Predicate | None) -> bool:
    """Whether something bad is said: «my neighbour is hateful» is about another, not about oneself."""
    return said is not None and any(valence().get(token.lower, 0) < 0 for token in tokens[said.start : said.end])


def _news(tokens: Sequence[Token], joined: Joined, target: Target, said: Predicate | None) -> Judged:
    places = joined.of("factual")
    places += [place for match in YEAR.finditer(joined.text) for place in joined.span(*match.span())]
    told = any(token.tag == "VBD" or token.lower == "will" for token in tokens)
    return ("news", sorted(places)) if places and told else NOT
