"""Answers questions from the cache or the server, each different question once.

All runs in one asyncio loop; `client` runs the loop in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import httpx

from evenflow.transforms.llm.client import http, parsing
from evenflow.transforms.llm.client.cache import Cache, CacheError, as_rows, cache_key
from evenflow.transforms.llm.client.http import Completion, RequestError
from evenflow.transforms.llm.client.retrying import RetryingAsker
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.client.stats import Reply
from evenflow.transforms.llm.questions import Answer, Question

# Bad answers of a model. None is kept: a server that was mended is asked again.
BAD_ANSWERS = frozenset({http.EMPTY, http.TRUNCATED, http.NOT_JSON, http.OFF_SCHEMA})

Say = Callable[[str], None]


class ServerAsker:
    """Asks the questions of one process. Call its public methods in one loop."""

    def __init__(self, settings: ServerSettings, cache: Cache | None, say: Say):
        self._settings = settings
        self._cache = cache
        self._say = say
        self._clients = http.open_places(settings)
        # Places at the server. The one that was used last is taken first: its connection is the
        # most likely to be still open.
        self._places: asyncio.LifoQueue[httpx.AsyncClient] = asyncio.LifoQueue()
        for client in self._clients:
            self._places.put_nowait(client)
        self._model = RetryingAsker(settings, self._warn)
        self._under_way: dict[bytes, asyncio.Task[Reply]] = {}
        self._unsaved: list[tuple[bytes, Reply, asyncio.Future[None]]] = []
        self._saver: asyncio.Task[None] | None = None
        self._warned: set[str] = set()

    async def close(self) -> None:
        """Ends the open requests; callers that wait for one get a CancelledError."""
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for client in self._clients:
            await client.aclose()

    async def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in order."""
        # In another thread, so that the loop goes on with other questions while keys are made and
        # kept answers are checked.
        keys, wanted, found = await asyncio.to_thread(self._look_up, questions)
        missing = iter([each for each in wanted if each not in found])

        async def work() -> None:
            for each in missing:
                found[each] = await self._once(each, wanted[each])

        # Few workers pull from one iterator, so that a million questions are no million tasks. They
        # are twice as many as the places at the server, so that no place stays empty while an
        # answer is stored.
        await asyncio.gather(
            *(work() for _ in range(min(2 * self._settings.concurrency, len(wanted) - len(found))))
        )
        # A repeated question is counted without its cost: it gets the first one's answer.
        out: list[Answer] = []
        seen: set[bytes] = set()
        for each in keys:
            out.append(_repeated(found[each]) if each in seen else found[each])
            seen.add(each)
        return out

    def _look_up(
        self, questions: Sequence[Question]
    ) -> tuple[list[bytes], dict[bytes, Question], dict[bytes, Answer]]:
        """The questions' keys, each key's question, and the kept answers."""
        settings = self._settings
        keys = [
            cache_key(settings.model, settings.temperature, settings.max_tokens, each)
            for each in questions
        ]
        wanted = dict(zip(keys, questions, strict=True))
        if self._cache is None or not wanted:
            return keys, wanted, {}
        try:
            kept = self._cache.get_many(list(wanted))
        except CacheError as error:
            self._warn("cache", str(error))
            return keys, wanted, {}
        answers = {each: self._from_cache(found, wanted[each]) for each, found in kept.items()}
        return (
            keys,
            wanted,
            {each: answer for each, answer in answers.items() if answer is not None},
        )

    def _from_cache(self, kept: str, question: Question) -> Answer | None:
        """A kept answer, checked like a new one; None if it fails the check."""
        try:
            return Reply(
                parsing.parse_answer(Completion(kept, False, 0), self._model.validator(question)),
                "cache",
            )
        except RequestError:
            return None

    async def _once(self, key: bytes, question: Question) -> Answer:
        """The answer; a question that is asked again meanwhile gets the same one."""
        task = self._under_way.get(key)
        if task is not None:
            return _repeated(await asyncio.shield(task))
        task = asyncio.ensure_future(self._stored(key, question))
        self._under_way[key] = task
        try:
            return await asyncio.shield(task)
        finally:
            self._under_way.pop(key, None)

    async def _stored(self, key: bytes, question: Question) -> Reply:
        """The answer, after it was stored: an answer that was given out survives a kill."""
        place = await self._places.get()
        try:
            reply = await self._model.answer(question, place)
        finally:
            self._places.put_nowait(place)
        if self._cache is not None and reply.value is not None:
            saved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._unsaved.append((key, reply, saved))
            if self._saver is None or self._saver.done():
                self._saver = asyncio.ensure_future(self._save(self._cache))
            await saved
        return reply

    async def _save(self, cache: Cache) -> None:
        """Stores the answers, in one transaction all that came during the last one."""
        while self._unsaved:
            batch, self._unsaved = self._unsaved, []
            try:
                rows = as_rows((key, reply.value) for key, reply, _ in batch)
                await asyncio.to_thread(cache.put_many, rows)
            except CacheError as error:
                self._warn("cache", f"{error}; answers are not kept")
            finally:
                for _, _, saved in batch:
                    if not saved.done():
                        saved.set_result(None)

    def _warn(self, kind: str, message: str) -> None:
        """Sends a message of a kind once; the answers count the later ones."""
        if kind not in self._warned:
            self._warned.add(kind)
            if kind in BAD_ANSWERS and self._cache is not None:
                message += f"; the cache of answers ({self._cache.path}) keeps none such"
            self._say(f"{self._settings.shown}: {message}")


def _repeated(answer: Answer) -> Answer:
    """The answer for a repeated question: as from the cache, and at no cost."""
    return Reply(
        answer.value, "cache" if answer.value is not None else answer.origin, answer.reason
    )
