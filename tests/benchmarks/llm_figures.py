"""Measures a run with a language model: sentences a second, and the figures of detection and
substitution, by mode.

    # starts vLLM, and stops it
    python tests/benchmarks/llm_figures.py --serve Qwen/Qwen2.5-7B-Instruct
    python tests/benchmarks/llm_figures.py --url http://127.0.0.1:8000 --model NAME --sample 200

Detection: tests/data/stereotype_gold.jsonl, sentences that a language model labelled: precision,
recall and macro F1 of the embedded detector, of the cascade and of the model alone (main paper,
4.2.3 and its table of detection). Substitution: the report half of tests/data/cda_gold.jsonl,
sentences with all right answers: the share of the changed ones that is correct, without and with
the model's VALID or INVALID (main paper, 4.2.4 and Table 7), asked sentence by sentence. Only words
of the lists are put in, because the answers have no others. Intervals of 95 % are by bootstrap over
sentences. Nothing is cached, and only the
time of asking counts, so that the speed is the server's.

--noise says of a model with random weights that its figures mean nothing. --serve-with names the
Python that has vLLM (as EVENFLOW_VLLM_PYTHON), --argument passes more to vLLM
(--argument=--enforce-eager).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from repair_quality import interval as share_of

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.llm.cascade import Mode, selection
from evenflow.transforms.llm.client import serving
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import Key, ServerSettings
from evenflow.transforms.llm.client.stats import Counted, Stats
from evenflow.transforms.llm.judges import LlmJudge
from evenflow.transforms.llm.questions import Answer, Asker, Question
from evenflow.transforms.measures.stereotypes import detect
from evenflow.transforms.measures.stereotypes.llm_detector import TieredDetector
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.transforms.substitution.judges import ExchangeJudge
from evenflow.transforms.substitution.reading import STRICTNESS, DocumentJudge
from evenflow.wordlists import loader

DATA = Path(__file__).parents[1] / "data"
MODES: tuple[Mode, ...] = ("embedded", "cascade", "llm")
RESAMPLES, SEED = 1000, 1

Bools = npt.NDArray[np.bool_]


class Timed:
    """Asks a client and adds up the time that it takes, and what it costs."""

    def __init__(self, client: Asker):
        self.seconds = 0.0
        self._counted = Counted(client)

    @property
    def stats(self) -> dict[str, Stats]:
        """By prompt."""
        return self._counted.stats

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question."""
        began = time.perf_counter()
        try:
            return self._counted.ask(questions)
        finally:
            self.seconds += time.perf_counter() - began


def rows(path: Path, sample: int | None) -> list[dict[str, Any]]:
    """What is to be reported of a file, at most so many sentences, spread over it."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = [
        row
        for row in found
        if row.get("split", "report") == "report" and row.get("label") is not None
    ]
    return found if sample is None or sample >= len(found) else found[:: -(-len(found) // sample)]


def detection(client: Asker, sentences: Sequence[str], truth: Bools) -> None:
    """Figures of detection, by mode."""
    finder = LabelFinder([loader.load(name) for name in loader.SHIPPED])
    labels = [
        [(each.start, each.end, each.attribute) for each in finder.find(sentence)]
        for sentence in sentences
    ]
    print(f"\ndetection: {len(truth)} sentences, {truth.sum()} stereotypes")
    for mode in MODES:
        counted = Timed(client)
        select = selection(mode, detect.UNSURE, detect.THRESHOLD)
        detector = TieredDetector(detect.shipped(), counted, select, detect.THRESHOLD)
        chances = detector.detect(sentences, labels)
        said = np.array([chance is not None and chance >= detect.THRESHOLD for chance in chances])
        print(f"  {mode:<9} {figures(truth, said)}")
        cost(counted)
        told = detector.tally.to_json()
        if told["rejected"] or told["fallbacks"]:
            print(f"            rejected {told['rejected']}, fallbacks {told['fallbacks']}")


def figures(truth: Bools, said: Bools) -> str:
    """Precision, recall and macro F1 with its interval."""

    def f1(place: npt.NDArray[np.int64]) -> float:
        scores = [
            2
            * (wanted[place] & found[place]).sum()
            / max(1, wanted[place].sum() + found[place].sum())
            for wanted, found in ((truth, said), (~truth, ~said))
        ]
        return float(np.mean(scores))

    drawn = np.random.default_rng(SEED)
    low, high = np.quantile(
        [f1(drawn.integers(len(truth), size=len(truth))) for _ in range(RESAMPLES)], (0.025, 0.975)
    )
    both = (truth & said).sum()
    return (
        f"precision {both / max(1, said.sum()):.3f}, recall {both / max(1, truth.sum()):.3f}, "
        f"macro F1 {f1(np.arange(len(truth))):.3f} [{low:.3f}, {high:.3f}]"
    )


def substitution(client: Asker, given: Sequence[dict[str, Any]]) -> None:
    """Figures of substitution, by mode."""
    print(f"\nsubstitution: {len(given)} sentences")
    lists = {name: loader.load(name) for name in loader.SHIPPED}

    embedded = DocumentJudge.shipped()
    strictness = dict.fromkeys(lists, STRICTNESS)
    for mode in MODES:
        counted = Timed(client)
        judge = embedded if mode == "embedded" else LlmJudge(embedded, counted, mode, strictness)
        got = [rewritten(row, lists[row["attribute"]], judge) for row in given]
        changed = np.array([text != row["sentence"] for text, row in zip(got, given, strict=True)])
        right = (
            np.array([text in row["answers"] for text, row in zip(got, given, strict=True)])
            & changed
        )
        due = np.array([None not in row["answers"] for row in given])
        print(
            f"  {mode:<9} changed {changed.sum()}, correct among them"
            f" {share_of(right[changed].tolist())}; left though due"
            f" {share_of((~changed)[due].tolist())}"
        )
        cost(counted)


def rewritten(row: dict[str, Any], words: loader.WordList, judge: ExchangeJudge) -> str:
    """A sentence in its context after substitution."""
    ways = (
        {"source": row["group"], "target": row["target"]}
        if "leave" in row or len(words.groups) > 2
        else {}
    )
    result = rewrite(
        row["before"] + row["sentence"] + row["after"],
        [words],
        row["attribute"],
        strictness=STRICTNESS,
        judge=judge,
        **ways,
    )
    first, last = len(row["before"]), len(row["before"]) + len(row["sentence"])
    shift = sum(
        len(each.replacement) - (each.end - each.start)
        for each in result.edits
        if each.end <= first
    )
    growth = sum(
        len(each.replacement) - (each.end - each.start)
        for each in result.edits
        if each.start >= last
    )
    return result.text[first + shift : len(result.text) - len(row["after"]) - growth]


def cost(asked: Timed) -> None:
    """What asking took, if anything was asked."""
    for prompt, each in asked.stats.items():
        lost = sum(each.fallbacks.values())
        middle, late = each.latency(0.5), each.latency(0.95)
        latency = (
            "no answer"
            if middle is None or late is None
            else f"latency p50 {middle:.2f} s, p95 {late:.2f} s"
        )
        said = (
            f"{each.questions} questions, {each.tokens:,} tokens, {lost} fallbacks"
            f" {each.fallbacks or ''}"
        )
        print(f"            {prompt}: {said.strip()}; {latency}")
    questions = sum(each.questions for each in asked.stats.values())
    tokens = sum(each.tokens for each in asked.stats.values())
    if questions:
        speed = (
            f"{questions / asked.seconds:.1f} sentences a second, {tokens / asked.seconds:,.0f}"
            " tokens a second"
        )
        print(f"            {speed}, {asked.seconds:.1f} s")


@contextmanager
def server(args: argparse.Namespace) -> Iterator[ServerSettings]:
    """How the model is reached: at an address, or served within the block."""
    limits = {"concurrency": args.concurrency, "deadline": args.deadline}
    if args.url is not None:
        yield ServerSettings(
            args.url, args.model, Key("env", args.key_env) if args.key_env else None, **limits
        )
        return
    if args.serve_with:
        os.environ["EVENFLOW_VLLM_PYTHON"] = str(args.serve_with)
    with serving.serve(
        args.serve, lambda line: print(line, file=sys.stderr), args.argument
    ) as served:
        yield ServerSettings(served.url, served.model, served.key, **limits)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--serve", metavar="MODEL")
    where.add_argument("--url")
    parser.add_argument("--model", help="its name at --url")
    parser.add_argument("--key-env", metavar="NAME")
    parser.add_argument("--serve-with", type=Path, metavar="PYTHON")
    parser.add_argument("--argument", action="append", default=[])
    parser.add_argument("--sample", type=int, metavar="N", help="sentences of each file at most")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--deadline", type=float, default=300.0)
    parser.add_argument("--noise", action="store_true")
    args = parser.parse_args()
    if args.url is not None and args.model is None:
        parser.error("--url needs --model")
    if args.noise:
        print(
            "A model of random weights: what it answers is noise, and so are the figures; only the"
            " speed is one."
        )
    labelled = rows(DATA / "stereotype_gold.jsonl", args.sample)
    answered = rows(DATA / "cda_gold.jsonl", args.sample)
    with server(args) as settings, Client(settings) as client:
        print(
            f"{settings.model} at {settings.url}, {settings.concurrency} requests under way at most"
        )
        detection(
            client,
            [row["sentence"] for row in labelled],
            np.array([bool(row["label"]) for row in labelled]),
        )
        substitution(client, answered)


if __name__ == "__main__":
    main()
