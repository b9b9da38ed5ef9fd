"""The cache of answers: keys, threads, processes, forks, size limits and damaged files."""

import multiprocessing
import os
import signal
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_questions import question

from evenflow.transforms.llm.client.cache import Cache, CacheError, as_rows, cache_key
from evenflow.transforms.llm.questions import Question

FORKED = multiprocessing.get_context("fork")


def name(number: int) -> bytes:
    """A key of a number."""
    return number.to_bytes(32, "big")


def stored(path: Path) -> int:
    """The number of answers in a file."""
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT count(*) FROM answers").fetchone()[0]


def test_what_was_stored_is_found_in_another_connection(tmp_path: Path) -> None:
    answers = {name(1): '{"a": 1}', name(2): "{}"}
    Cache(tmp_path / "deep" / "answers").put_many(answers)
    cache = Cache(tmp_path / "deep" / "answers")
    assert cache.get_many([name(number) for number in range(2000)]) == answers
    assert cache.get_many([]) == {}
    cache.put_many({name(1): '{"a": 2}'})
    assert cache.get_many([name(1)]) == {name(1): '{"a": 2}'}
    assert stored(cache.path) == 2


@given(
    st.dictionaries(
        st.text(), st.text(st.characters(exclude_categories=["Cs"])) | st.integers() | st.none()
    )
)
def test_values_come_back_as_json(value: dict) -> None:
    import json

    (kept,) = as_rows([(name(1), value)]).values()
    assert json.loads(kept) == value


@given(st.sampled_from(["sentence", "digest", "messages"]), st.text(), st.text())
def test_keys_differ_where_anything_asked_does(part: str, one: str, other: str) -> None:
    def made(text: str) -> bytes:
        changed = {part: text if part != "messages" else ({"role": "user", "content": text},)}
        return cache_key("m", 0.0, 512, replace(question("a"), **changed))

    assert (made(one) == made(other)) is (one == other)


def test_keys_differ_by_model_and_sampling() -> None:
    asked: Question = question("a\ud800")
    made = [
        cache_key(*each, asked)
        for each in (("m", 0.0, 512), ("n", 0.0, 512), ("m", 0.5, 512), ("m", 0.0, 64))
    ]
    assert len(set(made)) == 4
    assert {len(each) for each in made} == {32}


def test_bad_answers_that_earlier_versions_kept_are_left_out(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "answers")
    cache.put_many({name(1): "{}"})
    with sqlite3.connect(tmp_path / "answers") as connection:
        connection.execute(
            "INSERT INTO answers (key, stored, value, reason) VALUES (?, ?, NULL, 'empty answer')",
            (name(2), time.time()),
        )
    assert cache.get_many([name(1), name(2)]) == {name(1): "{}"}


def test_the_file_stays_within_its_bytes_and_keeps_the_newest(tmp_path: Path) -> None:
    most = 2 << 20
    cache = Cache(tmp_path / "answers", most)
    count = 8000
    for first in range(0, count, 100):
        cache.put_many({name(number): "x" * 700 for number in range(first, first + 100)})
    assert (tmp_path / "answers").stat().st_size <= 1.3 * most
    there = sorted(cache.get_many([name(number) for number in range(count)]))
    assert there == [name(number) for number in range(count - stored(cache.path), count)]


def _writer(path: Path, own: int, count: int) -> None:
    """Stores answers under own keys and under keys that other writers use too."""
    cache = Cache(path)
    for number in range(count):
        cache.put_many({name(own * count + number): str(own), name(number): "shared"})


def test_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    workers = [FORKED.Process(target=_writer, args=(path, own, 100)) for own in range(1, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert stored(path) == 500


def _stores_and_is_killed(path: Path) -> None:
    """Stores an answer and is killed at once."""
    cache = Cache(path)
    cache.put_many({name(1): "{}"})
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_was_stored_outlives_a_kill(tmp_path: Path) -> None:
    worker = FORKED.Process(target=_stores_and_is_killed, args=(tmp_path / "answers",))
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    assert Cache(tmp_path / "answers").get_many([name(1)]) == {name(1): "{}"}


def _reads_inherited(cache: Cache) -> None:
    """Uses a cache that was opened before the fork."""
    cache.put_many({name(2): "{}"})
    os._exit(0 if stored(cache.path) == 2 else 1)


def test_a_fork_opens_the_file_anew(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "answers")
    cache.put_many({name(1): "{}"})
    worker = FORKED.Process(target=_reads_inherited, args=(cache,))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    assert stored(cache.path) == 2


@pytest.mark.parametrize("content", [b"no database" * 1000, None, 7])
def test_the_message_for_a_wrong_file_says_what_to_do(
    tmp_path: Path, content: bytes | int | None
) -> None:
    path = tmp_path / "answers"
    if content is None:
        path.mkdir()
    elif isinstance(content, int):
        with sqlite3.connect(path) as other:
            other.execute(f"PRAGMA user_version={content}")
    else:
        path.write_bytes(content)
    with pytest.raises(CacheError, match=str(path)):
        Cache(path).get_many([name(1)])
