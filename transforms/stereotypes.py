"""Detects stereotypes: the probability that a sentence states or implies one about a group that it names (main paper, 4.2.3).

Two models ship with the package, both blind to which group of an attribute is named. `Linear` is a logistic regression over
hashed words (`stereotype_features`), learnt from published data sets. `WithFrames`, the default, is one over words and frames
(`stereotype_frames`: who is said to be or do what), learnt from sentences that were labelled one by one. `MiniLM`
(`stereotype_minilm`) has the sentence's embedding and is an extra. They are trained by `tests/benchmarks/train_stereotypes.py`,
`train_stereotype_frames.py` and `train_stereotype_minilm.py`, which name the data.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evenflow.transforms.stereotyping import stereotype_frames, stereotype_terms
from evenflow.transforms.stereotyping.indicator_stance import denies
from evenflow.transforms.stereotyping.stereotype_features import BUCKETS, DENSE, VERSION, Features, Spans, features

MODEL_PATH = Path(__file__).parent / "stereotyping" / "stereotype_model.json"
FRAMES_PATH = Path(__file__).parent / "stereotyping" / "stereotype_frames_model.json"
FORMAT = 1  # of the model file
# A sentence at or above it is called a stereotype: of steps of 0.05 the least that calls at most one in twenty plain sentences
# of the corpus (comments collected for their hostility aside) and one in ten of those that are written to be none. What is
# called is then scored by its indicators, so that a false call costs little and what is missed is lost.
THRESHOLD = 0.5
# Between these a judge that understands more (a language model) is worth asking: below, at most one in ten is a stereotype, and
# above, nine in ten are. Both by `tests/benchmarks/train_stereotype_frames.py`, on development sentences that the model judging
# them has not seen.
UNSURE = (0.2, 0.8)
DENIED = 0.1  # of a sentence that denies what it says, or objects to it: below UNSURE
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
        return joined(piece.columns.means(self.weights) for piece in each.pieces) + each.dense @ self.dense + self.bias


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
class WithFrames:
    """The default detector: a sentence's words and its frames, weighed together.

    words: of `stereotype_features`, with the bias. frames: weights (stereotype_frames.WIDTH,). linear: tells the strength.
    """

    words: Head
    frames: npt.NDArray[np.float32]
    linear: Linear

    def detect(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """See Detector. Raises ValueError if the numbers of sentences and labels differ."""
        each = features(sentences, labels, self.linear.common)
        return where_sure(unless_denied(logistic(self.logits(each)), sentences), each)

    def logits(self, each: Features) -> Floats:
        """The logits (n,) of sentences that were read."""
        return self.words(each) + joined(stereotype_frames.columns(piece).means(self.frames) for piece in each.pieces)

    def strengths(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """How strong people would call each as a stereotype: see `Linear.strengths`."""
        return self.linear.strengths(sentences, labels)


def joined(parts: Iterable[Floats]) -> Floats:
    """The values (n,) of all sentences, from those of each piece."""
    return np.concatenate([np.zeros(0), *parts])


def can_say(each: Features) -> npt.NDArray[np.bool_]:
    """Which sentences (n,) have enough words, and enough known ones, to be judged."""
    return (each.words >= LEAST_WORDS) & (each.known >= LEAST_KNOWN * each.words)


def unless_denied(values: Floats, sentences: Sequence[str]) -> Floats:
    """Probabilities (n,), DENIED where a sentence that would be called denies or objects to what it says.

    Only what would be called is looked at: that is one in ten, and the look takes as long as the rest.
    """
    for place in np.flatnonzero(values >= THRESHOLD).tolist():
        if denies(sentences[place]):
            values[place] = DENIED
    return values


def where_sure(values: Floats, each: Features) -> list[float | None]:
    """The values (n,) of the sentences that can be judged, None for the others."""
    return [value if sure else None for value, sure in zip(values.tolist(), can_say(each).tolist(), strict=True)]


def logistic(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


@cache
def shipped() -> WithFrames:
    """The models beside this file. Raises ModelError."""
    return load_frames(FRAMES_PATH, load(MODEL_PATH))


def chosen(encoder: str | None) -> Detector:
    """The shipped detector, or the one with the sentence encoder of a folder. Raises ModelError."""
    if encoder is None:
        return shipped()
    from evenflow.transforms.stereotyping import stereotype_minilm  # stands above this module, and needs an extra's packages

    return stereotype_minilm.load(Path(encoder))


def load_frames(path: Path, linear: Linear) -> WithFrames:
    """The default detector as `dump` wrote it, with `linear` for the strength. Raises ModelError as `load`."""
    stored = read(path, "frames")
    frames = unpacked(stored["frames"], np.float16, (-1,))
    if len(frames) != stereotype_frames.WIDTH or len(stored["words"]["dense"]) != DENSE:
        raise ModelError(f"{path}: not of this version's features; {WHAT_TO_DO}")
    return WithFrames(head(stored["words"]), frames, linear)


def head(stored: Mapping[str, Any]) -> Head:
    """A head as it is stored."""
    weights = unpacked(stored["weights"], np.float16, (BUCKETS,))
    return Head(weights, np.array(stored["dense"], np.float32), float(stored["bias"]))


def load(path: Path) -> Linear:
    """A model as `dump` wrote it. Raises ModelError for a file that is missing, damaged, or of another version."""
    stored = read(path, "linear")
    heads = {name: head(each) for name, each in stored["heads"].items()}
    if any(len(each.dense) != DENSE for each in heads.values()):
        raise ModelError(f"{path}: not of this version's features; {WHAT_TO_DO}")
    common = unpacked(stored["common"], np.uint64, (-1,))
    known = stereotype_terms.terms_of_hashes(common.astype(np.uint64), np.ones(len(common), np.int32))
    return Linear(heads["probability"], heads["strength"], known)


WHAT_TO_DO = "reinstall evenflow, or train the models anew (tests/benchmarks/train_stereotypes.py, train_stereotype_frames.py)"


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
