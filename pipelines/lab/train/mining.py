"""Mines the sentences of which a model leans most, or a random draw of them.

What an output holds:

    mining.json           settings, counts, what was not scored
    mined.jsonl           a line for each sentence: the highest score first, pair by pair
    records/mined.jsonl   the sentences, after an intervention if one is named: records for `run`
    state.json            while mining is under way: how many documents are done, and the best

state.json is replaced after each chunk of sentences, so a run that was killed goes on from it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from evenflow.gates.ledger.files import canonical
from evenflow.gates.lock import OutputLock
from evenflow.pipelines.lab.paper.settings import Mined
from evenflow.pipelines.lab.train.errors import TrainInputError, refuse_other
from evenflow.pipelines.lab.train.mining_inputs import Source, source
from evenflow.schemas.config import Config
from evenflow.transforms.lab.masking.interventions import NAMES, Intervention
from evenflow.transforms.lab.masking.scoring import Leaning, Left, Pair, Said, Scorer, pairs
from evenflow.transforms.lab.masking.sentences import Sentence, SentenceFinder
from evenflow.transforms.lab.masking.top import Top
from evenflow.transforms.storage.directory import Directory
from evenflow.wordlists.loader import WordList

SETTINGS, MINED, RECORDS, STATE = "mining.json", "mined.jsonl", "records/mined.jsonl", "state.json"
CHUNK = 2048  # sentences that are scored together: enough for batches of one length


@dataclass
class Counts:
    """How far mining is.

    `words`: Mentions of words that were not scored, since they are several tokens.
    """

    documents: int = 0
    sentences: int = 0
    scored: int = 0
    left: Mapping[str, int] = field(default_factory=dict[str, int])
    words: Mapping[str, int] = field(default_factory=dict[str, int])


class _Candidate(NamedTuple):
    """A sentence of a document."""

    document: str
    sentence: Sentence
    digest: str


def mine(
    inputs: list[str],
    config: Config,
    how: Mined,
    scored: Callable[[WordList], tuple[Scorer, str]],
    name: str,
    output: Path | None,
    on_chunk: Callable[[Counts], None] = lambda counts: None,
) -> tuple[list[dict[str, Any]], Counts]:
    """Mine the sentences of files, or of what a gate accepted.

    `scored`: Loads what scores, with its digest. `name`: The model's. `output`: Where results go;
    None: nothing is written.
    """
    if how.intervention is not None and how.intervention not in NAMES:
        raise TrainInputError(f"{how.intervention!r}: one of {', '.join(NAMES)} was expected")
    words = config.word_lists()[0]
    finder, given = SentenceFinder(words, how.without), source(inputs, config)
    scorer, digest = (None, None) if how.random else scored(words)
    by = {"model": digest, "name": "" if how.random else name}
    with nullcontext() if output is None else OutputLock(output):
        return Mining(given, finder, scorer, how, by, output).go(on_chunk)


class Mining:
    """Mining under way.

    `scorer`: Scores sentences; None: they are drawn at random. `by`: What is noted of the model.
    """

    def __init__(
        self,
        given: Source,
        finder: SentenceFinder,
        scorer: Scorer | None,
        how: Mined,
        by: Mapping[str, Any],
        output: Path | None,
    ):
        self._given, self._finder, self._scorer, self._how = given, finder, scorer, how
        self._storage = None if output is None else Directory(output)
        name, attribute = how.intervention, finder.list.attribute
        self._intervene = None if name is None else Intervention(name, finder.list, how.seed)
        self._record = {"attribute": attribute, "source": given.record, **how.model_dump(), **by}
        self._tops: dict[Pair, Top] = {}
        self._counts = Counts()
        self._resume()

    def go(self, on_chunk: Callable[[Counts], None]) -> tuple[list[dict[str, Any]], Counts]:
        """Mine to the end."""
        counts, scorer = self._counts, self._scorer
        for documents, chunk in self._chunks():
            if scorer is None:
                leanings = [_unscored(each.sentence, self._finder) for each in chunk]
            else:
                leanings = scorer.score([each.sentence for each in chunk])
                counts.left = dict(Counter(counts.left) + scorer.left.sentences)
                counts.words = dict(Counter(counts.words) + scorer.left.words)
                scorer.left = Left()
            counts.documents += documents
            counts.sentences += len(chunk)
            for candidate, own in zip(chunk, leanings, strict=True):
                counts.scored += bool(own)
                self._keep(candidate, own)
            if self._storage is not None:
                kept = [[pair, list(top.best())] for pair, top in self._tops.items()]
                state = {"record": self._record, "counts": asdict(counts), "kept": kept}
                # With the order of keys, so that the same lines come out after a restart
                self._storage.write(STATE, _json(state))
            on_chunk(counts)
        lines = [
            {"rank": rank, **line}
            for _, top in sorted(self._tops.items())
            for rank, (_, _, line) in enumerate(top.best(), 1)
        ]
        if self._storage is not None:
            self._write(self._storage, lines)
        return lines, counts

    def _chunks(self) -> Iterator[tuple[int, list[_Candidate]]]:
        """The candidates of whole documents, some at a time, with the number of documents."""
        chunk: list[_Candidate] = []
        documents = 0
        for document in islice(self._given.documents, self._counts.documents, None):
            documents += 1
            for sentence in self._finder.find(document.text):
                if any(True for _ in pairs(sentence, self._finder.list.groups)):
                    digest = sha256(sentence.text.encode("utf-8", "surrogatepass")).hexdigest()
                    chunk.append(_Candidate(document.id, sentence, digest[:32]))
            if len(chunk) >= CHUNK:
                yield documents, chunk
                chunk, documents = [], 0
        if documents:
            yield documents, chunk

    def _keep(self, candidate: _Candidate, leanings: list[Leaning]) -> None:
        """Keep a sentence where its score is among the highest."""
        for leaning in leanings:
            score = leaning.score
            if self._scorer is None:
                score = _draw(candidate.digest, self._how.seed)
            top = self._tops.setdefault(leaning.pair, Top(self._how.top))
            if top.wants(score, candidate.digest):
                top.add(score, candidate.digest, self._line(candidate, leaning))

    def _line(self, candidate: _Candidate, leaning: Leaning) -> dict[str, Any]:
        """What mined.jsonl says of a sentence, without its rank."""
        line: dict[str, Any] = {
            "pair": list(leaning.pair),
            "score": leaning.score if self._scorer is not None else None,
            "leans_to": leaning.pair[leaning.mean < 0] if leaning.mean else None,
            "document": candidate.document,
            "start": candidate.sentence.start,
            "sentence": candidate.sentence.text,
            "digest": candidate.digest,
            "words": [_said(each, leaning.pair) for each in leaning.said],
        }
        sentence = candidate.sentence
        if self._intervene:
            made = self._intervene(sentence)
            line["intervened"] = {"text": made.text, "spans": made.spans}
        else:
            line["spans"] = [(word.start, word.end) for word in sentence.words]
        return line

    def _resume(self) -> None:
        """Go on from state.json where there is one. Raises TrainInputError, OSError."""
        if self._storage is None:
            return
        for name in (SETTINGS, STATE):
            with suppress(FileNotFoundError):
                stored = json.loads(self._storage.read(name))
                refuse_other(self._storage.url, canonical(stored["record"]), self._record)
                if name == STATE:
                    self._counts = Counts(**stored["counts"])
                    for (first, second), kept in stored["kept"]:
                        top = self._tops.setdefault((first, second), Top(self._how.top))
                        for score, digest, line in kept:
                            top.add(score, digest, line)

    def _write(self, storage: Directory, lines: list[dict[str, Any]]) -> None:
        """Write what was mined; mining.json comes last, and says that all is there."""
        storage.write(MINED, b"".join(map(_json, lines)))
        # A sentence may be among those of several pairs
        every = {line["digest"]: line for line in reversed(lines)}
        made = [_training(line, self._record) for line in reversed(every.values())]
        storage.write(RECORDS, b"".join(map(_json, made)))
        counts = asdict(self._counts)
        found = {"record": self._record, "counts": counts, "lines": len(lines)}
        storage.write(SETTINGS, canonical(found))
        # With what a kill left of files that it was writing
        for path in (storage.path / STATE, *storage.path.rglob(".*.part")):
            path.unlink(missing_ok=True)


def _unscored(sentence: Sentence, finder: SentenceFinder) -> list[Leaning]:
    """The pairs of a sentence, without a score."""
    return [
        Leaning(pair, 0.0, tuple(Said(word.start, word.end, both) for _, word, both in words))
        for pair, words in pairs(sentence, finder.list.groups)
    ]


def _draw(digest: str, seed: int) -> float:
    """A number from 0 to 1 that depends on a sentence and a seed."""
    return int.from_bytes(sha256(f"{seed}/{digest}".encode()).digest()[:6]) / (1 << 48)


def _said(said: Said, pair: Pair) -> dict[str, Any]:
    """A word of a line."""
    out: dict[str, Any] = {"start": said.start, "end": said.end}
    out["forms"] = dict(zip(pair, said.words, strict=True))
    if said.probabilities:
        out["probabilities"] = dict(zip(pair, said.probabilities, strict=True))
        out["would_say"] = said.would_say
    return out


def _training(line: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """A record to train on, with where it comes from."""
    own = line.get("intervened") or {"text": line["sentence"], "spans": line["spans"]}
    return {
        "id": line["digest"],
        **own,
        "original": line["sentence"],
        "document": line["document"],
        "start": line["start"],
        "intervention": record["intervention"],
        "rank": line["rank"],
        "score": line["score"],
        "mined_with": record["name"] or "a random draw",
    }


def _json(line: dict[str, Any]) -> bytes:
    """A line of JSON."""
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
