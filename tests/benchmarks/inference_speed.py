"""How busy a client keeps a server that takes a fixed time, and how much memory a million cached
answers take.

usage: python tests/benchmarks/inference_speed.py utilisation [--latency 0.5] [--concurrency 32]
           [--questions 2000]
       python tests/benchmarks/inference_speed.py cache [--answers 1000000]
       python tests/benchmarks/inference_speed.py server --llm URL --llm-model NAME
           [--questions 2000]
       python tests/benchmarks/inference_speed.py serve --llm-serve DIR_OR_NAME
           [--questions 2000]

utilisation: the share of the places at the server (concurrency) that are taken on average, from the
first request to the last answer; the server is another process. cache: resident memory before and
after that many answers were stored and read back through one connection. server, serve: sentences a
second of a real server, or of vLLM started for it, with the prompt for stereotypes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from evenflow.transforms.llm.client.cache import Cache, CachedAnswer
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.serving import serve
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.client.stats import tally
from evenflow.transforms.llm.questions import Question
from evenflow.transforms.measures.stereotypes.llm_detector import Detection

SCRIPTED = Path(__file__).parents[1] / "helpers" / "scripted_llm.py"
BATCH = 1000  # answers stored or read at once
WORDS = (
    "Her",
    "brother",
    "was",
    "always",
    "a",
    "quiet",
    "child",
    "who",
    "read",
    "all",
    "day",
    "long",
)


def main() -> None:
    """Measure what is asked for, and print it as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["utilisation", "cache", "server", "serve"])
    parser.add_argument("--latency", type=float, default=0.5, help="seconds of the scripted server")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--llm")
    parser.add_argument("--llm-model", default="scripted")
    parser.add_argument("--llm-serve")
    given = parser.parse_args()
    if given.what == "cache":
        found = cached(given.answers)
    elif given.what == "server":
        found = asked(
            ServerSettings(given.llm, given.llm_model, concurrency=given.concurrency),
            given.questions,
        )
    elif given.what == "serve":
        with serve(given.llm_serve, print) as served:
            found = asked(
                ServerSettings(served.url, served.model, served.key, concurrency=given.concurrency),
                given.questions,
            )
    else:
        with scripted(given.latency) as url:
            found = asked(
                ServerSettings(url, "scripted", concurrency=given.concurrency), given.questions
            )
        found["utilisation"] = round(
            given.questions * given.latency / found["seconds"] / given.concurrency, 4
        )
    print(json.dumps(vars(given) | found, indent=1))


def question(number: int) -> Question:
    """A question about a sentence of its own."""
    sentence = " ".join((*WORDS[number % 5 :], str(number)))
    asked = Detection().question(sentence, [(0, 3, "gender")])
    assert asked is not None
    return asked


def asked(settings: ServerSettings, count: int) -> dict[str, float]:
    """Seconds and figures of that many questions to a server, through an empty cache."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Client(settings, Cache(Path(folder, "answers"))) as client,
    ):
        # Connections are there
        client.ask([question(-number) for number in range(1, settings.concurrency + 1)])
        questions = [question(number) for number in range(count)]
        used, began = time.process_time(), time.monotonic()
        answers = client.ask(questions)
        seconds = time.monotonic() - began
        used = time.process_time() - used
    stats = tally(questions, answers)["stereotypes"]
    return {
        "seconds": round(seconds, 3),
        "questions_a_second": round(count / seconds, 1),
        "tokens_a_second": round(stats.tokens / seconds, 1),
        "fallbacks": sum(stats.fallbacks.values()),
        "p50_seconds": round(stats.latency(0.5) or 0.0, 3),
        "p99_seconds": round(stats.latency(0.99) or 0.0, 3),
        "client_cpu_ms_a_question": round(1000 * used / count, 3),
    }


def cached(count: int) -> dict[str, float]:
    """Memory and speed with so many answers."""
    process = psutil.Process()
    value = json.dumps(
        {
            "mentions_group": True,
            "label": "Her",
            "belief": False,
            "said": "was quiet",
            "stereotype": False,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder, "answers"), 4 << 30)
        cache.put_many({key(0): CachedAnswer(value)})
        before = process.memory_info().rss
        most = before
        began = time.monotonic()
        for first in range(0, count, BATCH):
            cache.put_many(
                {key(number): CachedAnswer(value) for number in range(first, first + BATCH)}
            )
            most = max(most, process.memory_info().rss)
        stored = time.monotonic()
        there = 0
        for first in range(0, count, BATCH):
            there += len(cache.get_many([key(number) for number in range(first, first + BATCH)]))
            most = max(most, process.memory_info().rss)
        read = time.monotonic()
        size = cache.size()
    assert there == size[0] == count
    return {
        "memory_before_mib": round(before / (1 << 20), 1),
        "memory_most_mib": round(most / (1 << 20), 1),
        "stored_a_second": round(count / (stored - began)),
        "read_a_second": round(count / (read - stored)),
        "file_mib": round(size[1] / (1 << 20), 1),
    }


def key(number: int) -> bytes:
    """A key as random as a digest, made faster."""
    return (
        number * 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95 % (1 << 256)
    ).to_bytes(32, "big")


@contextmanager
def scripted(latency: float) -> Iterator[str]:
    """The address of a server that answers after so many seconds, in a process of its own."""
    command = [sys.executable, str(SCRIPTED), str(latency)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


if __name__ == "__main__":
    main()
