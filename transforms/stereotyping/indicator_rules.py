"""What a sentence says of its target, and how: indicators 6 to 10 of the scheme, and the sentiment of what is said.

Rules over tags and closed word classes, after the annotation guideline of the scheme (Beukeboom and Burgers 2019, "Social
Categories and Stereotypes Communication framework"; questions 3 and 6 to 11 of the published guideline).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from evenflow.transforms.stereotyping.indicator_joined import Joined
from evenflow.transforms.stereotyping.indicator_phrases import NEAR, NOUNS, VERBS
from evenflow.transforms.stereotyping.indicator_tagging import Token
from evenflow.transforms.stereotyping.indicator_targets import Said, Target
from evenflow.transforms.stereotyping.indicator_words import signed, valence, words

STOPS = frozenset((".", "!", "?", ";"))
AUXILIARY = frozenset(("be", "have", "do", "does", "did", "not", "n't", "to"))
PAST = frozenset(("VBD", "VBN"))
NOT_APPLICABLE = "not-applicable"  # nothing is shared that the question could be asked of
ADJECTIVES = frozenset(("JJ", "JJR", "JJS"))


class Predicate(NamedTuple):
    """What is said of a target: words [start, end), its main verb (-1: none), and whether it is negated or passive."""

    start: int
    end: int
    verb: int
    negated: bool
    passive: bool


def predicate(tokens: Sequence[Token], target: Target) -> Predicate | None:
    """The predicate of a target that is a subject, else None."""
    if target.verb < 0:
        return None
    end = target.verb
    while end < len(tokens) and tokens[end].lower not in STOPS:
        if end > target.verb + 1 and tokens[end - 1].lower == "," and tokens[end].lower in words("clause_break"):
            end -= 1
            break
        end += 1
    verb, negated = target.verb, False
    be = False
    for place in range(target.verb, min(end, target.verb + 2 * NEAR)):
        token = tokens[place]
        if token.lower in words("negation"):
            negated = True
        elif token.lower in words("being"):
            be, verb = True, place
        elif token.tag in VERBS or token.lower in words("having"):
            verb = place
            if token.tag != "MD" and token.lower not in words("having") and token.lower not in AUXILIARY:
                break
        elif token.tag not in ("RB", "RBR", "RBS", "TO", "DT") and token.lower != ",":
            break
    before = any(tokens[place].lower in words("negation") for place in range(target.verb - 1, target.verb) if place >= target.end)
    passive = be and tokens[verb].tag == "VBN"
    return Predicate(target.verb, end, verb, negated or before, passive)


def target_form(tokens: Sequence[Token], target: Target, said: Predicate | None) -> Said:
    """Question 3: a specified target (certain people) or a generic one (a category)."""
    generic = _is_generic(tokens, target, said)
    return Said("generic target" if generic else "specified target", tuple(range(target.start, target.end)))


def _quantity(tokens: Sequence[Token], target: Target, kinds: Sequence[str]) -> bool:
    return any(tokens[place].lower in words(kind) for place in range(target.start, target.at + 1) for kind in kinds)


def _is_generic(tokens: Sequence[Token], target: Target, said: Predicate | None) -> bool:
    first = tokens[target.start]
    if target.kind in ("pronoun", "name"):
        return False
    if _quantity(tokens, target, ("all_of", "most_of")) and (target.plural or first.lower not in ("the", "a", "an")):
        return True
    if first.tag == "PRP$" or first.lower in ("this", "that", "these", "those") or tokens[target.start].tag == "CD":
        return False
    lasting = said is not None and _lasting(tokens, said)
    if target.subject != target.start:
        return target.plural and tokens[target.subject].tag not in ("DT", "PRP", "PRP$") and lasting
    if target.plural:
        if first.lower == "the":
            return lasting
        return said is None or not (_past_act(tokens, said))
    if target.kind == "adjective":
        return False
    if first.lower in ("a", "an"):
        like = target.start > 0 and tokens[target.start - 1].lower in ("like", "of", "as")
        return like or (lasting and target.subject == target.start)
    return False


def _past_act(tokens: Sequence[Token], said: Predicate) -> bool:
    """Whether something that happened once is told, rather than how things were."""
    verb = tokens[said.verb]
    return (
        tokens[said.start].tag in ("VBD", "VBN")
        and tokens[said.start].lower not in ("used", "were", "was")
        and verb.lower not in words("states")
    ) or (said.verb != said.start and verb.tag == "VBG" and tokens[said.start].lower in ("was", "were"))


def _lasting(tokens: Sequence[Token], said: Predicate) -> bool:
    """Whether the verb is one for how things are in general: present, modal, or «used to»."""
    first, verb = tokens[said.start], tokens[said.verb]
    if verb.tag == "VBN" and any(tokens[place].lower in words("having") for place in range(said.start + 1, said.verb)):
        return False
    if first.lower == "'d":
        return verb.tag == "VB"
    if first.tag == "MD" or first.lower in words("modal"):
        return first.lower in words("lasting_modal")
    if verb.tag == "VBG" and first.lower in words("being"):
        return False
    return first.tag in ("VBP", "VBZ", "VB") or first.lower in ("'s", "'re", "used")


def linguistic_form(tokens: Sequence[Token], target: Target, generic: bool) -> Said:
    """Question 6: generic, a subset, or individuals."""
    first = tokens[target.start]
    places = tuple(range(target.start, target.end))
    if target.kind == "name" or (target.kind == "pronoun" and not target.plural):
        return Said("individual", places)
    if _quantity(tokens, target, ("all_of",)):
        return Said("generic", places)
    restricted = target.end > target.head + 1 and tokens[target.head + 1].tag == "IN" and not generic
    if target.plural or target.kind == "pronoun":
        some = _quantity(tokens, target, ("some_of", "most_of")) or first.lower in ("these", "those")
        if some or restricted or first.tag == "PRP$" or tokens[target.start].lower in words("group_nouns"):
            return Said("subset", places)
        return Said("generic" if generic else "individual" if first.tag in ("DT", "CD") else "subset", places)
    if target.kind == "adjective":
        return Said("individual", places)
    if first.lower in ("a", "an") and target.subject == target.start:
        return Said("generic", places)
    return Said("generic" if generic else "individual", places)


def grammatical_form(target: Target) -> Said:
    """Question 5: a noun (perhaps with adjectives), or other (name, pronoun, adjective alone)."""
    return Said("noun" if target.kind == "noun" else "other", (target.head,))


def content(said: Predicate | None) -> Said:
    """Question 7: the information that is shared about the label, in the sentence's own words."""
    return Said("none") if said is None else Said("shared", tuple(range(said.start, said.end)))


def behaviour(tokens: Sequence[Token], target: Target, said: Predicate | None) -> Said:
    """Question 8, first half: whether a behaviour or characteristic is shared, rather than what happens to the target.

    «Other» is for events and treatment without the target's influence. A noun that is no subject has what is said of it by
    another word («the cars of the women are a mess»), which is a characteristic; an adjective or pronoun there has nothing.
    """
    if said is None:
        return Said("yes" if target.kind == "noun" else "no")
    if target.kind == "name" and said.end - said.start < 2:
        return Said("no")
    if said.passive and not _own_part(tokens, said):
        return Said("no", (said.start, said.verb))
    return Said("yes", tuple(range(said.start, said.verb + 1)))


def _own_part(tokens: Sequence[Token], said: Predicate) -> bool:
    """Passives that describe: «are known for», «is obsessed with», «are made for»."""
    verb = tokens[said.verb].lower
    after = tokens[said.verb + 1].lower if said.verb + 1 < len(tokens) else ""
    return verb not in words("befalling") and (verb in valence() or after in ("for", "with", "to", "about"))


def situation(tokens: Sequence[Token], target: Target, said: Predicate | None, shown: bool, generic: bool) -> Said:
    """Question 8: situational behaviour, enduring characteristics, or other."""
    if said is None or not shown:
        return Said("other")
    places = tuple(range(said.start, said.verb + 1))
    if generic or _lasting(tokens, said) or _describes(tokens, said) or _signals(tokens, said, "typical"):
        return Said("enduring characteristics", places)
    return Said("situational behaviour", places)


def _signals(tokens: Sequence[Token], said: Predicate, name: str) -> bool:
    return any(tokens[place].lower in words(name) for place in range(said.start, min(said.end, said.verb + NEAR)))


def _describes(tokens: Sequence[Token], said: Predicate) -> bool:
    """Whether the verb is «be» or «have» with an adjective or noun behind it: «was always naive», «had a terrible temper»."""
    verb = tokens[said.verb]
    if verb.lower not in words("being") and verb.lower not in words("having") and verb.lower not in ("seemed", "became"):
        return False
    for place in range(said.verb + 1, min(said.end, said.verb + NEAR)):
        token = tokens[place]
        if token.tag in ADJECTIVES or token.tag in NOUNS:
            return True
        if token.tag not in ("RB", "RBR", "RBS", "DT", "PDT", "CD"):
            return False
    return False


def generalization(tokens: Sequence[Token], said: Predicate | None, shown: bool) -> Said:
    """Question 9: abstract (state verbs, adjectives, nouns) or concrete (descriptive action verbs)."""
    if said is None or not shown:
        return Said(NOT_APPLICABLE)
    at = said.verb
    if tokens[at].lower in words("inclining") and [t.tag for t in tokens[at + 1 : at + 3]] == ["TO", "VB"]:
        at += 2
    verb = tokens[at]
    abstract = verb.lower in words("being") or verb.lower in words("having") or lemma(verb.lower) in words("states")
    if not abstract and said.passive:
        abstract = True
    return Said("abstract" if abstract else "concrete", (at,))


def lemma(lower: str) -> str:
    """A verb's base form, as far as endings say."""
    states = words("states")
    for ending, instead in (("", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("d", ""), ("ing", ""), ("ing", "e")):
        if lower.endswith(ending) and lower[: len(lower) - len(ending)] + instead in states:
            return lower[: len(lower) - len(ending)] + instead
    return {"thought": "think", "felt": "feel", "knew": "know", "known": "know", "meant": "mean", "kept": "keep"}.get(
        lower, lower
    )


def explanation(tokens: Sequence[Token], joined: Joined, said: Predicate | None, shown: bool) -> Said:
    """Question 10: whether a reason is given for what is said. What is itself given as a reason has none;
    «…, so she …» has its reason before it."""
    if said is None or not shown:
        return Said(NOT_APPLICABLE if not shown else "no")
    places = joined.of("reason")
    places += joined.places("reason_phrase")
    places = [place for place in places if place >= said.start or place == 0]
    places += [
        place
        for place in range(1, len(tokens) - 1)
        if tokens[place].lower == "so" and tokens[place - 1].lower == "," and tokens[place + 1].tag in ("PRP", "DT", "NNP")
    ]
    return Said("yes", tuple(sorted(places))) if places else Said("no")


def signal_word(tokens: Sequence[Token], joined: Joined, target: Target, shown: bool) -> Said:
    """Question 11: words for regularity (typical), for the exception (exceptional), or none."""
    if not shown:
        return Said(NOT_APPLICABLE)
    for name in ("typical", "exceptional"):
        places = [place for place in joined.of(name) if _whole(tokens, place, target)]
        places += joined.places(f"{name}_phrase")
        if places:
            return Said(name, tuple(sorted(set(places))))
    return Said("none")


def _whole(tokens: Sequence[Token], place: int, target: Target) -> bool:
    """«Most people» and «every man» are signals where they are the target's; «on all charges» and «the most» are not."""
    lower = tokens[place].lower
    if lower in words("all_of") or lower in words("most_of"):
        return target.start <= place < target.end
    if lower in ("known", "likely"):
        return place + 1 < len(tokens) and tokens[place + 1].lower in ("for", "to", "as")
    return True


def evaluation(tokens: Sequence[Token], target: Target, said: Predicate | None, shown: bool, hidden: Container[int]) -> Said:
    """Sentiment of what is said (main paper, appendix D.1): negative, neutral or positive; a negation turns it round."""
    if said is None or not shown:
        return Said(NOT_APPLICABLE)
    lowers = [token.lower for token in tokens[said.start : said.end]]
    values = signed(lowers)
    places = [place for place, value in enumerate(values, said.start) if value and place not in hidden]
    total = sum(values[place - said.start] for place in places)
    if any(value != valence().get(lower, 0) for value, lower in zip(values, lowers, strict=True)) or not places:
        places = sorted({*places, *(place for place, lower in enumerate(lowers, said.start) if lower in words("negation"))})
    if total == 0:
        lacks = said.negated and not any(values)
        return Said("negative" if lacks else "neutral", tuple(places))
    return Said("negative" if total < 0 else "positive", tuple(places))
