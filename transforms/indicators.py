"""How strongly a sentence states a stereotype: ten linguistic indicators, each with its words, and a score (score_scsc).

The indicators are those of the Social Category and Stereotype Communication framework (Beukeboom and Burgers 2019), in the
form that Görge et al. ("Textual Data Bias Detection and Mitigation", section on stereotype assessment, appendix D.1) ask of an
LLM; here rules over a small tagger answer. The score is a linear regression over them, as there: see `indicator_model.json`,
which `tests/benchmarks/train_indicators.py` rebuilds.

No indicator knows which group is named: labels are masked before anything is read from the sentence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from evenflow.transforms.stereotyping import indicator_rules as rules
from evenflow.transforms.stereotyping import indicator_tagging as tagging
from evenflow.transforms.stereotyping import indicator_targets as targets
from evenflow.transforms.stereotyping.indicator_joined import Joined
from evenflow.transforms.stereotyping.indicator_reasons import reasons
from evenflow.transforms.stereotyping.indicator_stance import stance
from evenflow.transforms.stereotyping.indicator_strength import GRAMS, grams, strength, strongest
from evenflow.transforms.stereotyping.indicator_targets import Said
from evenflow.transforms.stereotyping.indicator_words import valence

MODEL_PATH = Path(__file__).parent / "stereotyping" / "indicator_model.json"
FORMAT = "evenflow-indicators"
VERSION = 1
# What the coefficients were fitted with: with other word lists or counts they would mean something else.
SIBLINGS = ("indicator_tags.json", "indicator_sentiment.json", "indicator_words.yaml")
REBUILD = "rebuild it with tests/benchmarks/train_indicators.py, or install the package again"
MOST_WORDS = 400  # words of a sentence that are read: the longest real sentences have fewer, and time stays bounded
KNOWN = 0.3  # share of a sentence's plain words that must be English for the rules to say anything
FEW = 3  # plain words from which that share means something
STRONG_WORDS = 3  # words shown for the strength of the content

Label = tuple[int, int, str]


class ModelError(Exception):
    """A model file is missing, damaged or of another version; the message says what to do."""


@dataclass(frozen=True)
class Indicator:
    """An indicator's value, and the characters [start, end) of the words it rests on."""

    value: str
    words: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Indicators:
    """What was found in a sentence, by indicator, the strength of its content (0..1) and its score (score_scsc, 0..1)."""

    text: str
    found: Mapping[str, Indicator]
    strength: float
    score: float

    def to_json(self) -> dict[str, Any]:
        """Plain data: score, strength, and for each indicator its value and words with their offsets into the sentence."""
        return {
            "score": self.score,
            "strength": self.strength,
            "indicators": {
                name: {
                    "value": one.value,
                    "words": [{"start": start, "end": end, "text": self.text[start:end]} for start, end in one.words],
                }
                for name, one in self.found.items()
            },
        }

    def reasons(self) -> list[str]:
        """Why the score is what it is, in words for a person, the target first."""
        values = {name: one.value for name, one in self.found.items()}
        words = {name: [self.text[start:end] for start, end in one.words] for name, one in self.found.items()}
        return reasons(values, words)


@dataclass(frozen=True)
class Reading:
    """A sentence as the rules see it: indicator → value and places, its words and pairs, and the words' bounds."""

    said: Mapping[str, Said]
    grams: Sequence[GRAMS]
    spans: Sequence[tuple[int, int]]


def read(text: str, labels: Sequence[Label]) -> Reading | None:
    """The indicators of a sentence, or None where nobody is named, nothing is said, or the text is no English.

    labels: start, end and attribute of its listed labels; without any, the target is found by rules.
    """
    spans = [match.span() for match in islice(tagging.token(text).finditer(text), MOST_WORDS)]
    hidden, listed = targets.masks(text, spans, labels)
    if not _is_english(text, spans, hidden):
        return None
    tokens = tagging.tag(text, spans, hidden)
    target = targets.find(text, tokens, hidden, listed)
    if target is None or not _says_more(tokens, target, hidden):
        return None
    said = rules.predicate(tokens, target)
    joined = Joined(tokens)
    form = rules.target_form(tokens, target, said)
    generic = form.value == "generic target"
    behaviour = rules.behaviour(tokens, target, said)
    shown = behaviour.value == "yes"
    found = {
        "label": Said("yes", tuple(range(target.at, target.stop))),
        "target": form,
        "connotation": targets.connotation(tokens, target, hidden),
        "gram_form": rules.grammatical_form(target),
        "ling_form": rules.linguistic_form(tokens, target, generic),
        "content": rules.content(said),
        "behaviour": behaviour,
        "situation": rules.situation(tokens, target, said, shown, generic),
        "evaluation": rules.evaluation(tokens, target, said, shown, hidden),
        "generalization": rules.generalization(tokens, said, shown),
        "explanation": rules.explanation(tokens, joined, said, shown),
        "signal_word": rules.signal_word(tokens, joined, target, shown),
        "stance": stance(tokens, joined, target, said),
    }
    return Reading(found, grams(tokens, target), spans)


def _is_english(text: str, spans: Sequence[tuple[int, int]], hidden: Mapping[int, str]) -> bool:
    count = seen = 0
    for place, (start, end) in enumerate(spans):
        # A group's name that is not known says nothing of the language.
        if place in hidden:
            known = _is_known(text[start:end])
            count, seen = count + known, seen + known
        elif text[start].islower():
            count, seen = count + 1, seen + _is_known(text[start:end])
    return not count or seen >= (KNOWN * count if count >= FEW else 1)


def _is_known(word: str) -> bool:
    lower = word.lower().replace("’", "'")
    return lower in tagging.shipped().words or lower in valence()


def _says_more(tokens: Sequence[tagging.Token], target: targets.Target, hidden: Mapping[int, str]) -> bool:
    """Whether the sentence has a word besides labels."""
    return any(
        token.lower[0].isalpha() and place not in hidden and not target.at <= place < target.stop
        for place, token in enumerate(tokens)
    )


@dataclass(frozen=True)
class Scorer:
    """The linear score over the indicators.

    coefficients: by «indicator=value»; per_strength: for the content's strength; low, high: the regression's values that
    become 0 and 1; weights, base: the model of `indicator_strength`.
    """

    intercept: float
    coefficients: Mapping[str, float]
    per_strength: float
    low: float
    high: float
    weights: Mapping[str, float]
    base: float

    def indicators(self, sentences: Sequence[str], labels: Sequence[Sequence[Label]]) -> list[Indicators | None]:
        """The indicators of each sentence, None for «cannot say».

        labels: for each sentence the listed labels' (start, end, attribute); may be empty, then rules find the target.
        Raises ValueError where sentences and labels differ in number.
        """
        return [self._one(text, own) for text, own in zip(sentences, labels, strict=True)]

    def _one(self, text: str, labels: Sequence[Label]) -> Indicators | None:
        reading = read(text, labels)
        if reading is None:
            return None
        content = min(1.0, max(0.0, strength(reading.grams, self.weights, self.base)))
        said = dict(reading.said)
        said["strength"] = Said(f"{content:.2f}", strongest(reading.grams, self.weights, STRONG_WORDS))
        value = self.regression(reading.said, content)
        score = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        found = {name: Indicator(one.value, _runs(one.places, reading.spans)) for name, one in said.items()}
        return Indicators(text, found, round(content, 4), round(score, 4))

    def regression(self, said: Mapping[str, Said], content: float) -> float:
        """The regression's value: the intercept, what each indicator adds, and what the content's strength adds."""
        each = sum(self.coefficients.get(f"{name}={one.value}", 0.0) for name, one in said.items())
        return self.intercept + each + self.per_strength * content


def _runs(places: Sequence[int], spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Characters of the words at some places; words that stand side by side make one run."""
    runs: list[tuple[int, int]] = []
    last = -2
    for place in places:
        start, end = spans[place]
        runs[-1:] = [(runs[-1][0], end)] if place == last + 1 else [*runs[-1:], (start, end)]
        last = place
    return tuple(runs)


def digest(model: Mapping[str, Any]) -> str:
    """SHA-256 of a model without its own digest, as JSON with sorted keys."""
    rest = {key: value for key, value in model.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def file_digests() -> dict[str, str]:
    """SHA-256 of the files that the model was fitted with. Raises ModelError for one that is missing."""
    found: dict[str, str] = {}
    for name in SIBLINGS:
        path = MODEL_PATH.with_name(name)
        if not path.is_file():
            raise ModelError(f"{path}: missing, and the linguistic indicators need it; install the package again")
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def load(path: str | Path) -> Scorer:
    """The scorer of a model file. Raises ModelError where it is missing, damaged, or of another version."""
    path = Path(path)
    try:
        model = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"{path}: no such file; {REBUILD}") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read as JSON ({error}); {REBUILD}") from error
    if not isinstance(model, dict) or model.get("format") != FORMAT:
        raise ModelError(f"{path}: no model of the linguistic indicators (expected format {FORMAT!r}); {REBUILD}")
    if model.get("version") != VERSION:
        raise ModelError(f"{path}: version {model.get('version')!r}, expected {VERSION}; {REBUILD}")
    if model.get("digest") != digest(model):
        raise ModelError(f"{path}: its content does not fit its digest; {REBUILD}")
    for name, found in file_digests().items():
        if model["files"].get(name) != found:
            raise ModelError(f"{path}: was fitted with another {name} than the one beside it; {REBUILD}")
    score, content = model["score"], model["strength"]
    return Scorer(
        score["intercept"],
        score["coefficients"],
        score["per_strength"],
        score["low"],
        score["high"],
        content["weights"],
        content["intercept"],
    )


@cache
def shipped() -> Scorer:
    """The scorer beside this file. Raises ModelError where it is missing or does not fit."""
    return load(MODEL_PATH)
