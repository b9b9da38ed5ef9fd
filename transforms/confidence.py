"""How sure a substitution is: a logistic model over what the rules and the surroundings say of a set of mentions.

The rules lower the weight of what they doubt, each with a reason; how much a reason weighs, and what else speaks for or
against a change (people named nearby, a text on a film, how the noun is introduced, …), is learnt from sentences with
answers by hand. No feature knows the group, the label or any other word, so that the confidence cannot hang on which group
is named; it is the probability that the change is one that a reader would have made. Attributes without a model of their own
keep the rules' weight.

    python tests/benchmarks/cda_train_confidence.py   # rebuilds confidence_model.json
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from evenflow.transforms import people, sets
from evenflow.transforms.chains import LEAST, Chain
from evenflow.transforms.sets import Item
from evenflow.transforms.wordsets import WordSets

PATH = Path(__file__).with_name("confidence_model.json")
VERSION = 1
DIGITS = 4  # of a confidence: more would be noise
STEPS = (0.2, 0.35, 0.46, 0.56, 0.99)  # weights of the rules that mean something different on either side
NEAR = 3  # sentences before a set in which a named person may be meant
SHORT, LONG = 250, 1500  # characters of a text
SENTENCE = 200  # characters of a sentence of usual length
REACH = 40  # characters before a noun within which its determiner stands
INTRODUCED = re.compile(
    r"(?<![\w'’-])(an?|the|this|that|these|those|my|your|our|ur|his|her|their|its|each|any|every|no|some|many|most|all|few|"
    r"several|one|two|three|another|other)\s+(?:[\w'’-]+\s+){0,2}$",
    re.IGNORECASE,
)
DETERMINERS = {
    word: kind
    for kind, words in {
        "a": "a an one another",
        "the": "the",
        "this": "this that these those",
        "own": "my your our ur",
        "possessed": "his her their its",
        "every": "each any every no all most",
        "some": "some many few several two three other",
    }.items()
    for word in words.split()
}
# Words of which one in a sentence says something of who speaks, and how.
SPEAKERS: Mapping[str, frozenset[str]] = {
    feature: frozenset(words.split())
    for feature, words in {
        "first person": "i me my we us our im ive mine",
        "second person": "you your u ur youre yours",
        "in general": "are do dont don always never usually all most every any",
        "in the past": "was were had said did went came told",
        "in the present": "is are am has have",
        "modal": "will would can could should must may might",
        "negated": "not no never dont isn isnt aren arent don didn doesn wasn cant t",
    }.items()
}
CASELESS, OF_WORK = "no capitals", "of a work"
DOUBTED = 0.46  # weight below which a word is doubted by the rules
PRONOUNS_ALONE = {
    flag: f"pronouns alone, {flag}"
    for flag in (OF_WORK, "named before", "surely named here", "long text", "first sentence", "capitals")
}
REASONS = ("word: ", "story: ")  # what the features of the rules' reasons begin with
# Reasons that are seen in the words themselves; the others are guesses at what is meant. In a text without capitals, mostly
# a comment, the words of history and doctrine are used loosely, and nothing else is sure.
FIRM = frozenset(
    (
        *(sets.SENSE, sets.IDIOM, sets.DATE, sets.EVEN, sets.COMPARED, sets.BIOLOGY),
        *(sets.NAMED, sets.REFERS, sets.WORK, sets.ADDRESS, sets.OVERLAP),
    )
)
FIRM_WITH_CAPITALS = FIRM | {sets.HISTORY, sets.DOCTRINE}
SURE = 0.35  # weight below which any reason is firm in a text with capitals
CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
DIGIT = re.compile(r"\d")
NEXT = re.compile(r"['’]?s?\s+([\w'’-]+)")


class Surroundings:
    """What is said around the mentions of one text, each sentence looked at once and only if asked for.

    sentences: (start, end) in order. items: all of the text. words: of the sentences.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets):
        self.text = text
        self.sentences = sentences
        self.words = words
        self._items = items
        self._said: dict[int, tuple[str, ...]] = {}

    @cached_property
    def of_text(self) -> list[str]:
        """Features of the text that are 1."""
        size = len(self.text)
        known = {"short text": size < SHORT, "long text": size > LONG, CASELESS: self.words.caseless, OF_WORK: self.words.of_work}
        return [flag for flag, holds in known.items() if holds]

    @cached_property
    def _groups(self) -> Mapping[int, set[str]]:
        """The groups that a sentence has words of."""
        out: dict[int, set[str]] = {}
        for item in self._items:
            out.setdefault(item.sentence, set()).add(item.group)
        return out

    @cached_property
    def _counts(self) -> Counter[tuple[str, bool]]:
        """Words of each group, those that are doubted and those that are not."""
        return Counter((item.group, item.weight < DOUBTED) for item in self._items)

    def named(self, places: Iterable[int]) -> tuple[bool, bool]:
        """Whether people are named in some sentences, and whether some surely are."""
        some = sure = False
        for place in places:
            people_here = self.words.named(place)
            some = some or bool(people_here)
            sure = sure or any(person.sure for person in people_here)
        return some, sure

    def said(self, place: int) -> tuple[str, ...]:
        """Features of a sentence that are 1."""
        known = self._said.get(place)
        if known is None:
            start, end = self.sentences[place]
            own, words = self.text[start:end], self.words[place]
            out = [name for name, some in SPEAKERS.items() if not some.isdisjoint(words)]
            out += ["question"] if "?" in own else []
            out += ["digits"] if DIGIT.search(own) else []
            out += ["quotation marks"] if '"' in own or "“" in own else []
            capitals = 0 if self.words.caseless else len(CAPITAL.findall(own))
            out += ["capitals"] if capitals else []
            out += ["many capitals"] if capitals > 2 else []
            known = self._said[place] = tuple(out)
        return known

    def others(self, group: str, places: Iterable[int]) -> bool:
        """Whether words of another group stand in some sentences."""
        groups = self._groups
        return any(place in groups and groups[place] != {group} for place in places)

    def beside(self, items: Sequence[Item]) -> tuple[int, bool]:
        """How many words of the group of some items are none of them, and whether one of those is doubted."""
        group = items[0].group
        doubted = sum([item.weight < DOUBTED for item in items])
        every = self._counts[group, True] + self._counts[group, False]
        return every - len(items), self._counts[group, True] > doubted


def features(around: Surroundings, chain: Chain) -> dict[str, float]:
    """What speaks for or against changing a chain: name -> 0 to 2, those that are 0 left out."""
    head = next((item for item in chain.items if item.kind != "pronoun"), chain.items[0])
    kinds = {item.kind for item in chain.items}
    out = _of_rules(chain)
    start, end = around.sentences[head.sentence]
    out["sentence length"] = min((end - start) / SENTENCE, 2.0)
    flags = [f"a {kind}" for kind in sorted(kinds)]
    flags += _of_head(around, head)
    flags += around.said(head.sentence)
    flags += _of_story(around, chain, head)
    out.update(dict.fromkeys(flags, 1.0))
    if kinds == {"pronoun"}:
        out["pronouns alone"] = 1.0
        out.update({both: 1.0 for flag, both in PRONOUNS_ALONE.items() if flag in out})
    for flag in (CASELESS, OF_WORK):
        if flag in out:
            out[f"rules, {flag}"] = out["rules"]
    if around.words.caseless:
        out.update({f"{name}, {CASELESS}": value for name, value in out.items() if name.startswith(REASONS)})
    return out


def _of_rules(chain: Chain) -> dict[str, float]:
    """What the rules say: the least weight, and for each reason how much it takes away."""
    weight = chain.least
    out: dict[str, float] = {"rules": weight}
    for step in STEPS:
        if weight > step:
            out[f"rules above {step}"] = 1.0
    for item in chain.items:
        if item.weight < 1:
            name = f"{REASONS[0]}{item.reason}"
            out[name] = max(out.get(name, 0.0), 1 - item.weight)
    if chain.weight < 1:
        out[f"{REASONS[1]}{chain.reason}"] = 1 - chain.weight
    return out


def _of_head(around: Surroundings, head: Item) -> list[str]:
    """How the first noun of a chain is introduced, and what follows it."""
    text = around.text
    start, end = around.sentences[head.sentence]
    flags = ["begins the sentence"] if head.start - start <= 2 else []
    if head.kind == "pronoun":
        return flags
    found = INTRODUCED.search(text, max(start, head.start - REACH), head.start)
    number = "plural" if head.kind == "plural" else head.kind
    flags.append(f"{number} after {DETERMINERS[found[1].lower()] if found is not None else 'nothing'}")
    caseless = around.words.caseless
    following = NEXT.match(text, head.end, end)
    if following is not None:
        flags += ["before a person"] if people.is_person_noun(following[1]) else []
        flags += ["before a capital"] if following[1][0].isupper() and not caseless else []
    if text[head.start].isupper() and head.start - start > 2 and not caseless:
        flags.append("capital")
    return flags


def _of_story(around: Surroundings, chain: Chain, head: Item) -> list[str]:
    """How far a chain reaches, who else is there, and what kind of text it is in."""
    items = chain.items
    places = {item.sentence for item in items}
    first = min(places)
    here, surely_here = around.named(places)
    before, surely_before = around.named(range(max(0, first - NEAR), first))
    more, doubted = around.beside(items)
    said = {
        "one word": len(items) == 1,
        "3 words": len(items) >= 3,
        "6 words": len(items) >= 6,
        "2 sentences": len(places) >= 2,
        "5 sentences": len(places) >= 5,
        "first sentence": not first,
        "unnamed": chain.unnamed,
        "particular": chain.particular,
        "named here": here,
        "surely named here": surely_here,
        "named before": before,
        "surely named before": surely_before,
        "another group here": around.others(head.group, places),
        "another group near": around.others(head.group, range(head.sentence - 2, head.sentence + 3)),
        "more of the group": more > 0,
        "much more of the group": more > 3,
        "doubted beside it": doubted,
    }
    return [flag for flag, holds in said.items() if holds] + around.of_text


def is_firm(around: Surroundings, chain: Chain) -> bool:
    """Whether a chain is barred by what the words themselves say, so that nothing else counts."""
    caseless = around.words.caseless
    firm = FIRM if caseless else FIRM_WITH_CAPITALS
    return any(
        each.weight < LEAST and (each.reason in firm or (each.weight < SURE and not caseless)) for each in (chain, *chain.items)
    )


class Confidence:
    """The model of one attribute: `of` gives the confidence that a change of a chain is right."""

    def __init__(self, intercept: float, weights: Mapping[str, float]):
        self.intercept = intercept
        self.weights = weights

    def of(self, around: Surroundings, chain: Chain) -> float:
        """0 to 1: a probability; or the rules' weight of what is barred by the words themselves."""
        least = chain.least
        return least if not least or is_firm(around, chain) else self.probability(features(around, chain))

    def probability(self, described: Mapping[str, float]) -> float:
        """0 to 1 for the features of a chain; features that the model does not know say nothing."""
        get = self.weights.get
        score = self.intercept + sum([value * get(name, 0.0) for name, value in described.items()])
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, score)))), DIGITS)


@cache
def shipped(attribute: str) -> Confidence | None:
    """The model of an attribute; None if it has none. Raises ValueError for a file of another version."""
    content = json.loads(PATH.read_text(encoding="utf-8"))
    if content.get("version") != VERSION:
        raise ValueError(f"{PATH.name}: version {content.get('version')!r}, {VERSION} was expected; reinstall evenflow")
    model = content["attributes"].get(attribute)
    return None if model is None else Confidence(model["intercept"], model["weights"])
