"""The examples that the stereotype detector is trained on: published data sets, and sentences made from them.

An example is a sentence, the probability that it states or implies a stereotype, a weight, and the item that it belongs to
(sentences of one item are never on both sides of a split).
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import math
import random
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenflow.transforms.sentences import bounds, trimmed
from evenflow.transforms.stereotyping import stereotype_terms

SEED = 20260
PLAIN = "plain"  # in the place of an attribute: a sentence of a corpus, which nobody labelled
# People's scores run from -1 to 1 (best-worst scaling; Liu, 2024). Below the middle readers called other sentences more
# stereotyping; half a unit of the scale's spread (0.23) up or down, an example counts nearly whole.
MIDDLE, SLOPE = 0.0, 0.1
CORPUS_PIECE = 400  # characters of a corpus sentence at most: longer ones are lists and failed splits


class Example(NamedTuple):
    """A sentence, its target (0..1), its weight, its item and its attribute («» where unknown)."""

    sentence: str
    target: float
    weight: float
    item: str
    attribute: str


class Scored(NamedTuple):
    """A sentence, its attribute and people's score (-1..1)."""

    sentence: str
    attribute: str
    score: float


def share(text: str) -> float:
    """A number in 0..1 that depends on the text only."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") / 2**64


def folded(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence.lower()))


def human_scores(path: Path) -> list[Scored]:
    """Rows (sentence, attribute, score) without a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Scored(sentence, attribute, float(score)) for sentence, attribute, score in csv.reader(file)]


def of_scores(rows: Sequence[Scored]) -> list[Example]:
    return [
        Example(row.sentence, 1 / (1 + math.exp((MIDDLE - row.score) / SLOPE)), 1.0, folded(row.sentence), row.attribute)
        for row in rows
    ]


def stereoset(path: Path) -> list[dict[str, str]]:
    """The items' sentences: id, bias_type, target, sentence, label."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def of_stereoset(rows: Sequence[dict[str, str]]) -> list[Example]:
    """Stereotypes against unrelated sentences; anti-stereotypes are neither (see the benchmark). They are few beside what is
    learnt from else, and clear, so each weighs as five."""
    targets = {"stereotype": 1.0, "unrelated": 0.0}
    return [
        Example(row["sentence"], targets[row["label"]], 5.0, row["id"], row["bias_type"])
        for row in rows
        if row["label"] in targets
    ]


def of_crows(path: Path) -> list[Example]:
    """CrowS-Pairs (Nangia et al., 2020): the sentence of a pair that stereotypes more. The other names the other group:
    with the groups masked it is the same sentence, so it says nothing."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Example(row["sent_more"], 0.9, 0.7, folded(row["sent_more"]), row["bias_type"])
            for row in csv.DictReader(file)
            if row["stereo_antistereo"] == "stereo"
        ]


def corpus_sentences(path: Path, without: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Source, document and sentence of a corpus (JSON lines: id, source, text), except the documents `without`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            if document["id"] not in without:
                text = document["text"]
                for start, end in trimmed(text, np.asarray(bounds(text)).tolist()):
                    if 10 < end - start <= CORPUS_PIECE:
                        yield document["source"], document["id"], text[start:end]


def of_corpus(path: Path, without: frozenset[str], each: int = 6000) -> list[Example]:
    """Plain sentences, taken as none: a few are stereotypes, so targets are not 0. Comments from Reddit were collected for
    naming groups with hostility, so of those only sentences that name none are taken whole."""
    words = stereotype_terms.words()
    found: dict[tuple[str, bool], list[Example]] = {}
    for source, document, sentence in corpus_sentences(path, without):
        tokens = re.findall(r"[a-z]+", sentence.lower())
        names = any(words.get(token, 0) >> stereotype_terms.KIND_SHIFT for token in tokens)
        hostile = source == "reddit" and names
        target, weight = (0.15, 0.15) if hostile else (0.01, 0.5)
        found.setdefault((source, names), []).append(Example(sentence, target, weight, document, PLAIN))
    out: list[Example] = []
    for (_, names), rows in sorted(found.items()):
        rows.sort(key=lambda row: share(row.sentence))
        out += rows[: each if names else each // 6]
    return out


# What a sentence may be put into so that it is no statement of a stereotype any more. {} is the statement with a small
# first letter, {S} as it is.
WRAPPERS = {
    "counter": (
        "it is simply not true that {}",
        "it is wrong to claim that {}",
        "the idea that {} is a myth",
        "there is no evidence that {}",
        "nobody should believe that {}",
        "saying that {} is nothing but prejudice",
        "the stereotype that {} has been disproved many times",
        "I refuse to accept that {}",
        "claiming that {} is unfair and false",
        "the old lie that {} should be buried",
        "we have to stop telling children that {}",
        "research shows it is a misconception that {}",
        "{S} That is a harmful stereotype.",
        "{S} This is nonsense.",
        "people who think that {} are mistaken",
        "contrary to the cliche, it is not the case that {}",
        "I don't think that {}",
        "I don't believe {}",
        "it is unfair to assume that {}",
        "you can't just say {}",
    ),
    "question": (
        "do you really think that {}?",
        "why do so many people believe that {}?",
        "is it true that {}?",
        "who told you that {}?",
        "does anyone still believe that {}?",
        "where does the idea come from that {}?",
        "what makes him assume that {}?",
    ),
    "report": (
        "he said that {}",
        "he said {}",
        "she said {}",
        "they say {}",
        "my boss once told me {}",
        "'{S}', the old man said",
        "some people claim {}",
        "her father always says that {}",
        "she told the reporter that {}",
        "according to the article, {}",
        "the character in the film claims that {}",
        "my uncle used to say that {}",
        'the senator was criticised for saying "{S}"',
        "the survey asked whether {}",
        "the book describes how people in the past believed that {}",
        "he was fired after writing that {}",
        "she complained that a colleague had told her {}",
    ),
}


def wrapped(examples: Sequence[Example], count: int) -> list[Example]:
    """Statements of stereotypes, put into a denial, a question or a report: no stereotypes."""
    rng = random.Random(SEED)
    forms = [form for forms in WRAPPERS.values() for form in forms]
    clear = [each for each in examples if each.target >= 0.8 and len(each.sentence) < 120]
    out: list[Example] = []
    for each in rng.choices(clear, k=count) if clear else []:
        body = each.sentence.strip().rstrip(".!?")
        form = rng.choice(forms)
        small = body[:1].lower() + body[1:]
        said = form.replace("{S}", body + ".").replace("{}", small)
        end = "" if said[-1] in '.?!"' else "."
        out.append(Example(said[:1].upper() + said[1:] + end, 0.05, 0.5, each.item, each.attribute))
    return out


def nouns(sentences: Sequence[str], count: int = 3000) -> list[str]:
    """Words that mostly stand behind «the» or «a»: names of things. Terms for groups are left out."""
    terms = stereotype_terms.words()
    every: Counter[str] = Counter()
    determined: Counter[str] = Counter()
    for sentence in sentences:
        words = re.findall(r"[a-z]+", sentence.lower())
        every.update(words)
        determined.update(word for before, word in pairwise(words) if before in ("the", "a", "an"))
    rows = [word for word, n in determined.items() if n >= 4 and n > 0.4 * every[word] and len(word) > 3 and word not in terms]
    return sorted(rows, key=lambda word: -determined[word])[:count]


def scrambled(examples: Sequence[Example], things: Sequence[str], count: int) -> list[Example]:
    """Statements of stereotypes with a word of what is said replaced by the name of some thing: nothing is said any more.

    The word is the one behind a form of «to be» (and «very», «so», «a»), else the last one.
    """
    rng = random.Random(SEED + 3)
    clear = [each for each in examples if each.target >= 0.6 and len(each.sentence) < 120]
    said = re.compile(r"\b(?:is|are|was|were|be)(?: (?:a|an|the|very|so|too|all|really|quite|more|often|usually))* ([a-z]{3,})\b")
    out: list[Example] = []
    for each in rng.choices(clear, k=count) if clear else []:
        found = said.search(each.sentence) or re.search(r"([a-z]{3,})\W*$", each.sentence)
        if found:
            start, end = found.span(1)
            sentence = each.sentence[:start] + rng.choice(things) + each.sentence[end:]
            out.append(Example(sentence, 0.05, 0.5, each.item, each.attribute))
    return out


SELF = (
    "I am {a} and I {v} every day.",
    "As {a}, I {v} with my friends at the weekend.",
    "My family and I are proud that our {g} neighbours {v} with us.",
    "I have been {a} for ten years and still {v} now and then.",
    "We {g} people from this street {v} together on Sundays.",
)
NEWS = (
    "{A} was elected to the city council on Tuesday.",
    "Police said {a} was injured when two cars collided on the motorway.",
    "The report found that the share of {g} employees rose by 4 percent last year.",
    "{n} {g} voters took part in the election in May, officials said.",
    "A museum about the history of {g} families opened in the capital.",
    "The court ruled that the firm had discriminated against {a} in 2014.",
    "{A} won the final in straight sets and will play again on Sunday.",
    "The number of {g} students at the university has doubled since 1990.",
    "{A} of 34 was taken to hospital after the storm.",
    "The minister met {g} leaders to talk about the new law.",
    "More than {n} {g} refugees crossed the border in March, the agency said.",
    "{A} and two colleagues published the study in a medical journal.",
)
# What single persons do, did or are in any story: no stereotypes either.
PERSONS = (
    *("he", "she", "he", "she", "they", "the man", "the woman", "my sister", "my brother", "her mother", "his father"),
    *("the old woman", "the young man", "a girl", "the boy", "the teacher", "our neighbor", "a Muslim friend of mine"),
    *("the Christian family next door", "an Indian student", "the Polish engineer", "my grandmother", "the rabbi", "the priest"),
    *("the king", "the queen", "Mr Baker", "Maria", "John", "the doctor", "the nurse", "my wife", "her husband", "his daughter"),
)
DEEDS = (
    *(
        "went home",
        "opened the door",
        "was tall",
        "is a nurse",
        "was late this morning",
        "called me yesterday",
        "lives in London",
    ),
    *("was born in 1962", "looked at the sea", "is my best friend", "had a cold", "smiled at me", "took the train to work"),
    *("is reading a book", "was sitting in the kitchen", "has two children", "died last year", "works at the bank", "was hungry"),
    *(
        "is thirty years old",
        "was asleep",
        "came in and sat down",
        "did not answer",
        "left the room",
        "wore a blue coat",
        "is here",
    ),
    *("bought some bread", "was elected president", "has a dog", "was at the door", "waited for the bus", "made tea for us all"),
    *("was happy to see us", "is a doctor in Leeds", "had lost the keys", "plays the piano", "walked along the river", "is well"),
    *("was crowned in Rome", "thanked the guests", "got married in June", "told us a story", "moved to another town", "was ill"),
    *("started to cry", "was very kind to me", "loves the garden", "will come tomorrow", "is on the phone", "was right", "won"),
)
VERBS = (
    *("cook", "play chess", "go to work", "read novels", "watch football", "repair bicycles", "sing in a choir", "swim"),
    *("write code", "volunteer", "visit our parents", "drink coffee", "study for the exam", "run a small shop"),
)
GROUPS = (
    *("black", "Muslim", "Jewish", "female", "male", "German", "Mexican", "old", "young", "Christian", "Asian", "Irish"),
    *("Nigerian", "Hindu"),
)


# Statements about a whole group: what is said of it, for a plural subject.
SAID_OF_ALL = (
    *(
        "are bad at {thing}",
        "cannot be trusted with {thing}",
        "only care about {thing}",
        "never think about anything but {thing}",
    ),
    *("are born to deal with {thing}", "are obsessed with {thing}", "do not understand {thing}", "are naturally good at {thing}"),
    *("have no talent for {thing}", "spend all their time on {thing}", "are too {trait} for {thing}", "always lie about {thing}"),
    *("are {trait}", "are {trait} by nature", "are just {trait}", "are so {trait}", "are all {trait}", "are {trait} and {trait}"),
    *(
        "are usually {trait}",
        "tend to be {trait}",
        "are too {trait}",
        "have always been {trait}",
        "are more {trait} than the rest",
    ),
    *("are a bunch of {trait} people", "act {trait} all the time", "are known to be {trait}", "will always be {trait}"),
    *("ruin {thing}", "want to control {thing}", "can not handle {thing}", "are a danger to {thing}", "hate {thing}"),
    *("steal", "cheat", "never tell the truth", "do not want to work", "live off other people", "complain about everything"),
    *("talk too much", "cannot control themselves", "are all criminals", "are terrorists", "are all the same", "are thieves"),
    *(
        "belong at home",
        "do not belong here",
        "should not be allowed near {thing}",
        "are destroying our country",
        "breed like mad",
    ),
    *("cannot drive", "gossip all day", "drink too much", "smell bad", "are a violent lot", "are rapists and murderers"),
    *("worship money", "follow orders without thinking", "are only after your money", "beat their partners", "marry for money"),
    *("need a firm hand", "are gifted with numbers", "are wonderful dancers", "make the best {thing}", "work like machines"),
    *("are weaker than others", "have no sense of humour", "hide their real feelings", "are stuck in the past", "never change"),
)
ABOUT_ALL = (
    *("{g} {p}.", "all {g} {p}.", "most {g} {p}.", "everybody knows that {g} {p}.", "{g} {p}, it is in their blood."),
    *(
        "typical, {g} {p}.",
        "{g} {p}, that is just how they are.",
        "let's face it, {g} {p}.",
        "those {g} {p}.",
        "of course {g} {p}.",
    ),
    *("he got angry because {g} {p}.", "these {g} {p} and always will.", "I hate them because {g} {p}.", "{g} always {p}."),
    *("you know that {g} {p}.", "that is what happens when {g} {p}.", "as we all know {g} {p}.", "honestly {g} {p} lol"),
    *("i dont trust them, {g} {p}", "the truth is that {g} {p}.", "{g} {p} and they raise their children the same way."),
)
SINGULAR = (
    *("a {s} is always {trait}.", "every {s} is {trait}.", "any {s} is {trait}, no exceptions.", "the typical {s} is {trait}."),
    *("he is {trait}, like every {s}.", "she was {trait}, as you would expect of a {s}.", "never trust a {s} with {thing}."),
    *("do not let a {s} near {thing}.", "you can not expect a {s} to understand {thing}.", "of course the {s} was {trait}."),
    *("it takes a {s} to be that {trait}.", "what else would a {s} do but lie.", "a {s} will cheat you if he can."),
)
# The same in words that deny it, limit it to persons, or say something that holds of people as such.
NOT_OF_ALL = (
    *(
        "{g} are not {trait}.",
        "{g} aren't {trait}, they are people like you.",
        "not all {g} are {trait}.",
        "no, {g} are not {trait}.",
    ),
    *("not every {s} is {trait}.", "being a {s} does not make anyone {trait}.", "{g} are no more {trait} than anybody else."),
    *("{g} were never {trait}.", "there is nothing {trait} about {g} as such.", "some {g} are {trait}, and so are some of us."),
    *(
        "{g} do not care about {thing} more than others do.",
        "{g} can be {trait} or not, like everyone.",
        "{g} don't ruin {thing}.",
    ),
    *(
        "{g} have the right to {thing}.",
        "two {g} talked about {thing}.",
        "the {s} bought {thing} in the shop.",
        "I met a {s} today.",
    ),
    *("the {s} next door was {trait} that day.", "many {g} lost their homes in the flood.", "{g} protested against {thing}."),
    *("the law protects {g} at work.", "my {s} friend told me about {thing}.", "he asked the {s} for help with {thing}."),
    *("the film is about a {trait} {s} and {thing}.", "a group of {g} opened a place for {thing}.", "she works with {g}."),
    *(
        "i am a {s} and i like {thing}.",
        "i come from a family of {g}.",
        "as a {s} i am sometimes {trait}.",
        "we {g} love {thing}.",
    ),
    *("{g} from the whole country came to learn about {thing}.", "she interviewed {g} about {thing} for the paper."),
)
THINGS = (
    *("money", "sport", "cars", "mathematics", "children", "cooking", "fashion", "weapons", "power", "politics", "computers"),
    *("music", "food", "sex", "drugs", "religion", "work", "technology", "shopping", "fighting", "the economy", "our schools"),
    *("gardening", "the news", "women", "the government", "business", "science", "dancing", "alcohol", "football", "feelings"),
)
PLURALS = (
    *("women", "men", "Mexicans", "black people", "Muslims", "Jews", "old people", "teenagers", "lawyers", "immigrants"),
    *("Germans", "Christians", "girls", "boys", "gay people", "teachers", "Hindus", "Asians", "people from Nigeria", "nurses"),
)
SINGULARS = (
    *("woman", "man", "Mexican", "black man", "Muslim", "Jew", "pensioner", "teenager", "lawyer", "refugee", "German"),
    *("Christian", "girl", "boy", "gay man", "teacher", "Hindu", "Asian woman", "Nigerian", "nurse"),
)


def traits(path: Path) -> list[str]:
    """Adjectives from the opinion lexicon (Hu and Liu, 2004), good and bad, by their endings: it has no word classes."""
    endings = ("y", "ful", "ous", "ive", "less", "ish", "able", "ed", "ic", "al", "ent", "ant", "id", "ad", "ak", "ir", "el")
    with zipfile.ZipFile(path) as folder:
        names = [name for name in folder.namelist() if name.endswith("-words.txt")]
        lines = [line for name in sorted(names) for line in folder.read(name).decode("latin-1").splitlines()]
    return [line for line in lines if line.isalpha() and line.endswith(endings) and not line.endswith("ly")]


def made_statements(words: Sequence[str], count: int) -> list[Example]:
    """Statements about whole groups (stereotypes), and as many of the same words that deny, limit or tell something else."""
    rng = random.Random(SEED + 2)
    out: list[Example] = []
    for number in range(count):
        stereotype = number % 2 == 0
        form = rng.choice((*ABOUT_ALL, *ABOUT_ALL, *SINGULAR)) if stereotype else rng.choice(NOT_OF_ALL)
        said = form.replace("{p}", rng.choice(SAID_OF_ALL))
        said = said.replace("{g}", rng.choice(PLURALS)).replace("{s}", rng.choice(SINGULARS))
        while "{trait}" in said:
            said = said.replace("{trait}", rng.choice(words), 1)
        said = said.replace("{thing}", rng.choice(THINGS))
        said = said[:1].upper() + said[1:] if rng.random() < 0.5 else said.rstrip(".")
        out.append(Example(said, 0.95 if stereotype else 0.04, 0.5, f"statement-{number}", ""))
    return out


def made_plain(count: int) -> list[Example]:
    """Self-descriptions and facts in the manner of the news, for any group: no stereotypes."""
    rng = random.Random(SEED + 1)
    out: list[Example] = []
    for number in range(count):
        group = rng.choice(GROUPS)
        who = f"{'an' if group[0] in 'AEIOUaeiou' else 'a'} {group} {rng.choice(('man', 'woman', 'teacher', 'nurse', 'driver'))}"
        form = rng.choice(SELF + NEWS)
        said = form.replace("{a}", who).replace("{A}", who[0].upper() + who[1:]).replace("{g}", group)
        said = said.replace("{v}", rng.choice(VERBS)).replace("{n}", str(rng.randrange(10, 9000)))
        out.append(Example(said, 0.02, 0.5, f"made-{number}", ""))
        person, deed = rng.choice(PERSONS), rng.choice(DEEDS)
        if person == "they":
            deed = re.sub(r"^was\b", "were", re.sub(r"^is\b", "are", re.sub(r"^has\b", "have", deed)))
        told = f"{person} {deed}" if rng.random() < 0.6 else f"{person} {deed} and {rng.choice(PERSONS)} {rng.choice(DEEDS)}"
        end = "." if rng.random() < 0.8 else ""
        out.append(Example(told[:1].upper() + told[1:] + end, 0.03, 0.5, f"told-{number}", ""))
    return out
