"""Detects stereotypes: the probability that a sentence states or implies one about a group that it names (main paper, 4.2.3).

Two models ship with the package, both blind to which group of an attribute is named. `Linear` is a logistic regression over
hashed words (`stereotype_features`); it is fast and tells what is surely none. `WithForm` reads the rest: a second logistic
regression over the first one's logit and the sentence's form (`stereotype_form`). `MiniLM` (`stereotype_minilm`) has the
sentence's embedding and is an extra. They are trained by `tests/benchmarks/train_stereotypes.py` and
`train_stereotype_form.py`, which name the data.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evenflow.transforms import stereotype_form, stereotype_terms
from evenflow.transforms.stereotype_features import BUCKETS, DENSE, VERSION, Features, Spans, features

MODEL_PATH = Path(__file__).with_name("stereotype_model.json")
FORM_PATH = Path(__file__).with_name("stereotype_form_model.json")
FORMAT = 1  # of the model file
# A sentence at or above it is called a stereotype. Chosen by cross-validation on the everyday sentences that are trained on
# and the development half of those labelled by hand: of 0.45, 0.5, 0.55 and 0.6 the least that calls under one plain sentence
# of the corpus in a hundred, and under one in ten of the everyday ones made to look like stereotypes.
THRESHOLD = 0.55
# Between these a judge that understands more (a language model) is worth asking.
UNSURE = (0.2, 0.8)
# Probability by words alone from which a sentence is read. On the development sentences one in 150 of the stereotypes found
# has less, and seven in eight plain sentences of the corpus have less.
LEAST_READ = 0.1
LEAST_WORDS = 2  # one word states nothing
LEAST_KNOWN = 0.4  # share of words that are known: below it a sentence is in another language, or noise

Floats = npt.NDArray[np.float64]


class Detector(Protocol):
    """Tells stereotypes."""

    def detect(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """The probability (0..1) that each sentence states or implies a stereotype; None: cannot say.

        labels: of each sentence the spans (start, end, attribute) of the listed labels in it.
        """
        ...


class ModelError(ValueError):
    """A model that cannot be used: where, why, and what to do."""


@dataclass(frozen=True, eq=False)
class Head:
    """A linear function of a sentence's features: weights (BUCKETS,), dense (DENSE,), bias."""

    weights: npt.NDArray[np.float32]
    dense: npt.NDArray[np.float32]
    bias: float

    def __call__(self, each: Features) -> Floats:
        """Its value for n sentences (n,). The hashed features of a sentence share a length of 1."""
        sums = np.bincount(np.repeat(np.arange(len(each.sizes)), each.sizes), self.weights[each.columns], len(each.sizes))
        return sums / np.sqrt(np.maximum(each.sizes, 1)) + each.dense @ self.dense + self.bias


@dataclass(frozen=True, eq=False)
class Linear:
    """The detector that needs nothing but numpy.

    probability: the logit, calibrated. strength: people's score (-1..1, best-worst scaling). common: known words.
    """

    probability: Head
    strength: Head
    common: stereotype_terms.Terms

    def detect(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """See Detector. Raises ValueError if the numbers of sentences and labels differ."""
        each = features(sentences, labels, self.common)
        return where_sure(logistic(self.probability(each)), each)

    def strengths(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """How strong people would call each as a stereotype: -1..1, about -0.6..0.6 in the data; None: cannot say."""
        each = features(sentences, labels, self.common)
        return where_sure(np.clip(self.strength(each), -1, 1), each)


@dataclass(frozen=True, eq=False)
class WithForm:
    """The default detector: what the words may make a stereotype is read for its form.

    linear: the logit of the words. weights: of the form's features, by name. bias: of the second regression.
    """

    linear: Linear
    weights: Mapping[str, float]
    bias: float

    def detect(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """See Detector. Below LEAST_READ the probability is the words' own. Raises ValueError if the numbers of sentences
        and labels differ."""
        each = features(sentences, labels, self.linear.common)
        logits = self.linear.probability(each)
        found = where_sure(logistic(logits), each)
        for place, chance in enumerate(found):
            if chance is not None and chance >= LEAST_READ:
                found[place] = self.chance(sentences[place], labels[place], float(logits[place]))
        return found

    def chance(self, sentence: str, spans: Spans, logit: float) -> float:
        """The probability of a sentence whose words have this logit."""
        seen = stereotype_form.beside(stereotype_form.form(sentence, spans), logit)
        total = self.bias + sum(self.weights.get(name, 0.0) * value for name, value in seen.items())
        return 1 / (1 + math.exp(-min(30.0, max(-30.0, total))))

    def strengths(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """How strong people would call each as a stereotype: see `Linear.strengths`."""
        return self.linear.strengths(sentences, labels)


def can_say(each: Features) -> npt.NDArray[np.bool_]:
    """Which sentences (n,) have enough words, and enough known ones, to be judged."""
    return (each.words >= LEAST_WORDS) & (each.known >= LEAST_KNOWN * each.words)


def where_sure(values: Floats, each: Features) -> list[float | None]:
    """The values (n,) of the sentences that can be judged, None for the others."""
    return [value if sure else None for value, sure in zip(values.tolist(), can_say(each).tolist(), strict=True)]


def logistic(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


@cache
def shipped() -> WithForm:
    """The models beside this file. Raises ModelError."""
    return load_form(FORM_PATH, load(MODEL_PATH))


def load_form(path: Path, linear: Linear) -> WithForm:
    """The default detector with the form's model as `dump` wrote it, after `linear`. Raises ModelError as `load`."""
    stored = read(path, "form")
    return WithForm(linear, stored["weights"], float(stored["bias"]))


def load(path: Path) -> Linear:
    """A model as `dump` wrote it. Raises ModelError for a file that is missing, damaged, or of another version."""
    stored = read(path, "linear")
    heads = {
        name: Head(unpacked(each["weights"], np.float16, (BUCKETS,)), np.array(each["dense"], np.float32), float(each["bias"]))
        for name, each in stored["heads"].items()
    }
    if any(len(head.dense) != DENSE for head in heads.values()):
        raise ModelError(f"{path}: not of this version's features; {WHAT_TO_DO}")
    common = unpacked(stored["common"], np.uint64, (-1,))
    known = stereotype_terms.terms_of_hashes(common.astype(np.uint64), np.ones(len(common), np.int32))
    return Linear(heads["probability"], heads["strength"], known)


WHAT_TO_DO = "reinstall evenflow, or train the model anew (tests/benchmarks/train_stereotypes.py)"


def read(path: Path, kind: str) -> dict[str, Any]:
    """What a model file says, checked by its digest. Raises ModelError."""
    try:
        stored = json.loads(path.read_bytes())
        body = stored["model"]
        digest, found = stored["sha256"], (stored["format"], stored["features"], stored["kind"])
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}; {WHAT_TO_DO}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path}: not a model of Evenflow; {WHAT_TO_DO}") from error
    if found != (FORMAT, VERSION, kind):
        wanted = f"format {FORMAT}, features {VERSION}, {kind}"
        raise ModelError(f"{path}: format {found[0]}, features {found[1]}, {found[2]}; expected {wanted}; {WHAT_TO_DO}")
    if digest != _digest(body):
        raise ModelError(f"{path}: damaged (its SHA-256 is not the one it names); {WHAT_TO_DO}")
    return body


def dump(path: Path, kind: str, body: dict[str, Any], source: str) -> None:
    """Writes a model file with its digest. source: of what it was trained on."""
    stored = {"source": source, "format": FORMAT, "features": VERSION, "kind": kind, "sha256": _digest(body), "model": body}
    path.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def packed(values: npt.NDArray[Any]) -> str:
    """An array's bytes (little endian), compressed, in ASCII."""
    return base64.b64encode(zlib.compress(np.ascontiguousarray(values).tobytes(), 9)).decode("ascii")


def unpacked(text: str, kind: type[np.generic], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The array that `packed` wrote. Floats come as float32, which numpy sums fastest."""
    values = np.frombuffer(zlib.decompress(base64.b64decode(text)), kind).reshape(shape)
    return values.astype(np.float32) if np.issubdtype(kind, np.floating) else values


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
