"""What a sentence's form says of a stereotype: of whom it speaks, what it says of them, and how the two are linked.

Words alone cannot tell «Women are rude» from «The women were rude to us». Here a sentence is read by the rules of the
linguistic indicators (`indicators.read`), with some links and verbs beside them that the scheme does not ask for («because
she is a …», «typical …», «belong in»). Every run of words that name a group is first written as «person» or «persons», so
that two sentences that differ in the group only have the same form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from evenflow.transforms import indicators, stereotype_terms
from evenflow.transforms.indicator_strength import strength
from evenflow.transforms.indicator_words import is_plural

ONE, MANY = "person", "persons"
# Pronouns of either gender are read as one: «her» stands for «him» and «his» alike, so the way back would be a guess.
SAME = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
WORD = re.compile(r"[^\W_]+")
LONGEST = 30  # characters of a word that can name a group
LIMIT = 6.0  # of a logit, either way: beyond it words are not more certain, only more
MOST_READ = 4000  # characters that are read: the indicators read 400 words at most, and time stays bounded
STRENGTH_STEPS = (0.3, 0.4, 0.5, 0.6, 0.7)  # of the content's strength, whose middle half in the data is 0.35 to 0.65
G = r"(?:persons?)"  # a group, once it is masked
BE = r"(?:is|are|was|were|am|'s|'re|be|being)"
# Links between belonging to a group and what is said, and verbs of what a group may, can or wants. By name, so that the model
# file can be read.
PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "because of membership": rf"\b(?:because|since|cause|as) (?:\w+ )?{BE} (?:just |only |such )?an? (?:\w+ )?{G}\b",
        "membership, so": rf"\b{BE} an? (?:\w+ )?{G}\s?,? (?:so|therefore|after all|and so)\b|\bafter all\W+\w+ {BE} an? {G}\b",
        "as a": rf"^\W*(?:as|being) an? (?:\w+ )?{G}\b",
        "typical of": rf"\btypical(?:ly)?(?: of| for)?(?: an?| the| some)? (?:\w+ )?{G}\b",
        "like every": rf"\blike (?:all|every|any|most|an?)(?: other| typical| true| real)?(?: \w+)? {G}\b",
        "expected of": rf"\bexpect(?:ed)? (?:\w+ ){{0,2}}(?:from|of) (?:an? )?{G}\b|\bwhat do you expect\b",
        "of course": rf"^\W*(?:of course|naturally|obviously|no wonder|clearly)\b.*\b{G}\b",
        "for a": rf"\bfor an? (?:\w+ )?{G}\b",
        "although a": rf"\b(?:though|although|despite|even if|considering)\b (?:\w+ )?(?:{BE} |being )?an? (?:\w+ )?{G}\b",
        "trust": rf"\b(?:trust|lend|hire|marry|believe|let|date) (?:an? |the |any |these |those )?{G}\b",
        "you can't": rf"\byou (?:can't|cannot|can not|should never|should not|shouldn't|never) \w+(?: \w+)? (?:an? )?{G}\b",
        "job for": rf"\b(?:for|of) {G}\W*$|\b{G}'s? (?:\w+ )?(?:job|work|business|place|role|duty|task)\b",
        "knowing": r"\b(?:every(?:one|body)|we all|they all|you) knows?\b|\blet's (?:face|be)\b|\b(?:fact|truth|honestly)\b",
        "hates": rf"\b(?:i|we) (?:\w+ )?(?:hate|despise|loathe|dislike|can't stand|don't like) (?:all )?{G}\b",
        "problem with": rf"\b(?:problem|trouble|thing) (?:with|about|is) (?:\w+ )?{G}\b",
        "real": rf"\b(?:real|true|proper|decent|good) {G}\b",
        "no member": rf"\b(?:no|never an?|any) {G}\b",
        "every member": rf"\b(?:every|each) (?:single )?{G}\b",
        "all members": rf"\ball {G}\b",
        "most members": rf"\bmost {G}\b",
        "some members": rf"\b(?:some|many|several|few|two|three|four|more|other|hundreds of|\d[\d,.]*) (?:of )?(?:the )?{G}\b",
        "cannot": rf"\b{G}\b.{{0,12}}\b(?:can't|cannot|can not|couldn't)\b",
        "can": rf"\b{G} can (?!not\b)\w",
        "unable": rf"\b{G}\b.{{0,12}}\b(?:do(?:es)?n't|do not|never|won't) (?:\w+ )?(?:know|understand|learn|want|care|listen)\b",
        "no good": r"\b(?:have|has|having|are|is|'re|with) (?:\w+ )?(?:no|not|bad|terrible|useless|hopeless|poor)\b",
        "should": rf"\b{G} (?:\w+ )?(?:should|must|ought|need|have to|has to)\b",
        "should not": rf"\b{G} (?:\w+ )?(?:shouldn't|mustn't|(?:should|must|ought) (?:not|never))\b",
        "belong": rf"\b{G} (?:\w+ |don't |doesn't |do not )?belongs?\b|\bplace (?:is )?in\b|\bback (?:to )?where\b",
        "only": rf"\b{G} (?:\w+ )?(?:only|just|nothing but|merely)\b",
        "always": rf"\b{G} (?:\w+ )?(?:always|never|constantly|forever|everywhere)\b",
        "nature": r"\b(?:by nature|naturally|born|blood|in the(?:ir)? genes|instinctively|inherently)\b",
        "too": rf"\b{G} (?:are|is|'re) (?:too|so|all|such|more|less|better|worse|just|the)\b",
        "compared": rf"\b(?:worse|more|less|\w+er)\b[^.]{{0,60}} than\b.{{0,20}}(?:{G}|others|else|us)\b",
        "want": rf"\b{G} (?:\w+ )?(?:want|love|hate|like|think|care|believe|need)\b",
        "are": rf"^\W*(?:\w+ )?{G} (?:are|'re)\b",
        "is": rf"^\W*an? (?:\w+ )?{G} (?:is|can|will|should|has|never|always|belongs|must)\b",
        "were": rf"\b{G} (?:was|were|had|did)\b",
        "past verb": rf"\b{G} \w+ed\b",
        "progressive": rf"\b{G} (?:are|is|was|were) \w+ing\b",
        "passive": rf"\b{G} (?:are|is|was|were|be|been) (?:\w+ly )?\w+(?:ed|en)\b(?! (?:with|for|about))",
        "begins with a group": rf"^\W*{G}\b",
        "begins with the group": rf"^\W*the {G}\b",
        "begins with this group": rf"^\W*(?:this|that|these|those|my|our|your|his|her|their|one of)\b.{{0,20}}\b{G}\b",
        "begins with a pronoun": r"^\W*(?:he|she|i|we|you|it|they|there)\b",
        "is a member": rf"\b(?:he|she|i|we|you|they|who|name) {BE} (?:\w+ )?an? (?:\w+ )?{G}\W*$",
        "place or time": r"\b(?:yesterday|today|tonight|ago|last|next|monday|friday|sunday|tuesday|morning|evening|\d+)\b",
        "film": r"\b(?:film|movie|novel|book|story|actor|actress|plays?|plot|character|scene|script|comedy|drama)\b",
        "right": r"\b(?:rights?|respect|equal(?:ly)?|fair(?:ly)?|law|legal|allowed|deserve|may|welcome)\b",
        "which group": rf"\b{G} (?:who|with|under|over|between|from|in|on|at|aged|of)\b",
        "of a group": rf"\b(?:of|with|by|to|about|and|between) (?:the |two |some )?{G}\b",
        "group of things": rf"\b{G} (?:of|and|or|for) \w+",
    }.items()
}
# What is read together: a trait is said of many, of one, or of nobody.
PAIRS = (
    *(("target", "evaluation"), ("target", "situation"), ("target", "generalization"), ("target", "stance")),
    *(("ling_form", "situation"), ("ling_form", "evaluation"), ("gram_form", "evaluation"), ("signal_word", "target")),
)


def form(sentence: str, spans: Sequence[tuple[int, int, str]]) -> dict[str, float]:
    """The features of a sentence by name, most of them 1; one that is not named is 0.

    spans: start, end and attribute of its listed labels. Takes time in proportion to its first MOST_READ characters.
    """
    text, labels = masked(sentence[:MOST_READ], spans)
    lower = text.lower().replace("’", "'")
    found = {f"says {name}": 1.0 for name, pattern in PATTERNS.items() if pattern.search(lower)}
    if _professions_only(sentence[:MOST_READ], labels):
        found["professions only"] = 1.0
    found["groups"] = min(len(labels), 3) / 3
    found["length"] = min(len(text), 400) / 400
    reading = indicators.read(text, labels)
    if reading is None:
        return found | {"no reading": 1.0}
    values = {name: one.value for name, one in reading.said.items()}
    if "professions only" in found:
        found[f"professions only, {values['target']}"] = 1.0
    found |= {f"{name}={value}": 1.0 for name, value in values.items()}
    found |= {f"{one}={values[one]}, {other}={values[other]}": 1.0 for one, other in PAIRS}
    scorer = indicators.shipped()
    content = min(1.0, max(0.0, strength(reading.grams, scorer.weights, scorer.base)))
    generic = values["target"] == "generic target" and values["stance"] == "stated"
    found["content"] = content
    found |= {f"content over {step}": 1.0 for step in STRENGTH_STEPS if content > step}
    if generic:
        found["content, generic"] = content
        found |= {f"says {name}, generic": 1.0 for name in PATTERNS if f"says {name}" in found}
    return found


def _professions_only(sentence: str, groups: Sequence[object]) -> bool:
    """Whether groups are named, and every one is a profession: then a person's role in a story is told, mostly."""
    names, _, jobs = group_words()
    named = {word for word in (match.group().lower() for match in WORD.finditer(sentence)) if word in names}
    return bool(groups) and bool(named) and named <= jobs


def beside(found: Mapping[str, float], logit: float) -> dict[str, float]:
    """The features of a sentence with the logit that its words have in the linear model."""
    value = min(LIMIT, max(-LIMIT, logit)) / LIMIT
    kind = "generic" if found.get("target=generic target") else "specified" if "target=specified target" in found else "unread"
    return {**found, "words": value, f"words, {kind}": value}


def masked(sentence: str, spans: Sequence[tuple[int, int, str]]) -> tuple[str, list[tuple[int, int, str]]]:
    """The sentence with each run of words that name a group as one word, and where these stand."""
    names, pronouns, _ = group_words()
    ordered = sorted((start, end) for start, end, _ in spans)
    runs: list[tuple[int, int, str]] = []  # and what is written instead, empty for a group
    at = 0
    for match in WORD.finditer(sentence):
        start, end = match.span()
        word = match.group().lower()
        if word in SAME:
            runs.append((start, end, SAME[word]))
            continue
        while at < len(ordered) and ordered[at][1] <= start:
            at += 1
        listed = at < len(ordered) and ordered[at][0] < end and word not in pronouns
        if not listed and (end - start > LONGEST or word not in names):
            continue
        joined = bool(runs) and not runs[-1][2] and sentence[runs[-1][1] : start] in (" ", "-")
        runs[-1:] = [(runs[-1][0], end, "")] if joined else [*runs[-1:], (start, end, "")]
    pieces: list[str] = []
    labels: list[tuple[int, int, str]] = []
    size = last = 0
    for start, end, instead in runs:
        word = instead or (MANY if _many(WORD.findall(sentence[start:end])[-1].lower()) else ONE)
        pieces += [sentence[last:start], word]
        size += start - last + len(word)
        if not instead:
            labels.append((size - len(word), size, "group"))
        last = end
    return "".join([*pieces, sentence[last:]]), labels


def _many(lower: str) -> bool:
    return is_plural(lower) or lower.endswith(("children", "men"))


@cache
def group_words() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Words that name a group, the personal pronouns, which name none, and those of the first that name a profession."""
    words = stereotype_terms.words()
    pronouns = frozenset(word for word, bits in words.items() if bits & stereotype_terms.PRONOUN_BIT)
    names = frozenset(word for word, bits in words.items() if bits >> stereotype_terms.KIND_SHIFT)
    profession = stereotype_terms.KINDS.index("profession") + 1
    jobs = frozenset(word for word in names if words[word] >> stereotype_terms.KIND_SHIFT == profession)
    return names - pronouns, pronouns, jobs - pronouns
