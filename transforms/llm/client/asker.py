"""The way of a question to a server and back, in one asyncio loop; see `inference`, which runs it
in a thread.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from evenflow.transforms.llm.client import http, parsing
from evenflow.transforms.llm.client.breaker import Breaker
from evenflow.transforms.llm.client.cache import Cache, CacheError, Kept, as_rows, key
from evenflow.transforms.llm.client.http import Completion, RequestError
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.client.stats import Reply
from evenflow.transforms.llm.questions import Answer, Question

# Pauses between two requests of a question: random up to 0.5 s, 1 s, 2 s … 10 s («full jitter», as
# AWS has it).
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
# Share of a pause that the server asked for, added at random, so that not all come back at once
SPREAD = 0.1
# Seconds that a server is left alone because it asked for more than a deadline
LONGEST_REST = 600.0
# Bad answers that a model would give again at temperature 0: kept for a while, so that a replay
# does not ask again.
KEPT_REASONS = frozenset({http.EMPTY, http.TRUNCATED, http.NOT_JSON, http.OFF_SCHEMA})
SCHEMA_REFUSALS = (400, 415, 422, 501)  # with which a server may refuse response_format

Say = Callable[[str], None]


class ServerAsker:
    """Asks the questions of one process; its public methods are to be called in one loop.

    say: takes a message for the user, once for each kind of trouble. Raises InferenceError for a
    key that cannot be read.
    """

    def __init__(self, settings: ServerSettings, cache: Cache | None, say: Say):
        self._settings = settings
        self._cache = cache
        self._say = say
        self._clients = http.open_places(settings)
        # Places at the server. The one that was left last is taken first: its connection is the
        # likeliest to be open still.
        self._places: asyncio.LifoQueue[httpx.AsyncClient] = asyncio.LifoQueue()
        for client in self._clients:
            self._places.put_nowait(client)
        self._breaker = Breaker(settings.patience, settings.cooldown)
        self._resume = 0.0  # when the server wants to be asked again (monotonic seconds)
        # Digests of prompts whose schema the server does not enforce
        self._unenforced: set[str] = set()
        self._validators: dict[str, Draft202012Validator] = {}
        self._under_way: dict[bytes, asyncio.Task[Reply]] = {}
        self._unsaved: list[tuple[bytes, Reply, asyncio.Future[None]]] = []
        self._saver: asyncio.Task[None] | None = None
        self._said: set[str] = set()

    async def close(self) -> None:
        """End what is under way: whoever waits for it gets a CancelledError."""
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for client in self._clients:
            await client.aclose()

    async def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in order."""
        # In another thread: the loop goes on with other questions while many keys are made and kept
        # answers checked.
        keys, wanted, found = await asyncio.to_thread(self._looked_up, questions)
        missing = iter([each for each in wanted if each not in found])

        async def work() -> None:
            for each in missing:
                found[each] = await self._once(each, wanted[each])

        # Few workers pull from one iterator, so that a million questions are no million tasks;
        # twice as many as there are places at the server, so that none stays empty while an answer
        # is being stored.
        await asyncio.gather(
            *(work() for _ in range(min(2 * self._settings.concurrency, len(wanted) - len(found))))
        )
        # A repeated question is counted, but its cost is not: it was answered by what the first one
        # got.
        out: list[Answer] = []
        seen: set[bytes] = set()
        for each in keys:
            out.append(_repeated(found[each]) if each in seen else found[each])
            seen.add(each)
        return out

    def _looked_up(
        self, questions: Sequence[Question]
    ) -> tuple[list[bytes], dict[bytes, Question], dict[bytes, Answer]]:
        """The questions' keys, each key's question, and the answers that are kept."""
        settings = self._settings
        keys = [
            key(settings.model, settings.temperature, settings.max_tokens, each)
            for each in questions
        ]
        wanted = dict(zip(keys, questions, strict=True))
        if self._cache is None or not wanted:
            return keys, wanted, {}
        try:
            kept = self._cache.get_many(list(wanted))
        except CacheError as error:
            self._tell("cache", str(error))
            return keys, wanted, {}
        answers = {each: self._kept(found, wanted[each]) for each, found in kept.items()}
        return (
            keys,
            wanted,
            {each: answer for each, answer in answers.items() if answer is not None},
        )

    def _kept(self, kept: Kept, question: Question) -> Answer | None:
        """A kept answer, checked like a fresh one; None if it does not hold."""
        if kept.value is None:
            return Reply(None, "fallback", kept.reason)
        try:
            return Reply(
                parsing.value(Completion(kept.value, False, 0), self._validator(question)), "cache"
            )
        except RequestError:
            return None

    async def _once(self, key: bytes, question: Question) -> Answer:
        """The answer; whoever asks the same meanwhile gets the same one."""
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
        """The answer, after it was stored: what has been given out is not asked again after a kill."""
        place = await self._places.get()
        try:
            reply = await self._answer(question, place)
        finally:
            self._places.put_nowait(place)
        if self._cache is not None and (reply.value is not None or reply.reason in KEPT_REASONS):
            saved: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._unsaved.append((key, reply, saved))
            if self._saver is None or self._saver.done():
                self._saver = asyncio.ensure_future(self._save(self._cache))
            await saved
        return reply

    async def _save(self, cache: Cache) -> None:
        """Store what has come in, one transaction for all that came during the last one."""
        while self._unsaved:
            batch, self._unsaved = self._unsaved, []
            try:
                rows = as_rows((key, reply.value, reply.reason) for key, reply, _ in batch)
                await asyncio.to_thread(cache.put_many, rows)
            except CacheError as error:
                self._tell("cache", f"{error}; answers are not kept")
            finally:
                for _, _, saved in batch:
                    if not saved.done():
                        saved.set_result(None)

    async def _answer(self, question: Question, place: httpx.AsyncClient) -> Reply:
        """The model's answer, or a fallback."""
        began = time.monotonic()
        spent = _Spent(place)
        try:
            value = await self._value(question, began + self._settings.deadline, spent)
        except RequestError as failure:
            self._tell(failure.reason, f"{failure.reason}: {failure.detail}")
            return Reply(
                None,
                "fallback",
                failure.reason,
                spent.tokens,
                time.monotonic() - began,
                spent.requests,
            )
        return Reply(value, "model", "", spent.tokens, time.monotonic() - began, spent.requests)

    async def _value(self, question: Question, deadline: float, spent: _Spent) -> dict[str, Any]:
        """The model's checked answer. Raises Failure."""
        checked = self._validator(question)
        if question.digest in self._unenforced:
            return parsing.value(await self._completion(question, {}, deadline, spent), checked)
        try:
            enforced = parsing.enforced(question.prompt, question.schema)
            return parsing.value(
                await self._completion(question, enforced, deadline, spent), checked
            )
        except RequestError as failure:
            refused = failure.reason == http.REJECTED and failure.status in SCHEMA_REFUSALS
            if not refused and failure.reason != http.NOT_JSON:
                raise
        # The server may know no schemas, and refuse them or pass them over. Asked in words, does it
        # answer?
        found = parsing.value(await self._completion(question, {}, deadline, spent), checked)
        self._unenforced.add(question.digest)
        self._tell(
            "schema",
            "the server enforces no JSON schema; JSON is asked for in words, and checked here",
        )
        return found

    async def _completion(
        self, question: Question, enforced: Mapping[str, Any], deadline: float, spent: _Spent
    ) -> Completion:
        """The model's words, after as many requests as may help; without `enforced`, asked for the
        schema in words.

        Raises Failure.
        """
        settings = self._settings
        messages = [dict(each) for each in question.messages]
        payload: dict[str, Any] = {
            "model": settings.model,
            "messages": messages if enforced else parsing.asked(messages, question.schema),
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "seed": 0,
            **enforced,
        }

        def is_over(state: RetryCallState) -> bool:
            return (
                state.attempt_number >= settings.attempts
                or time.monotonic() + state.upcoming_sleep >= deadline
            )

        retry = retry_if_exception(lambda error: isinstance(error, RequestError) and error.retry)
        backoff = wait_random_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE)
        async for attempt in AsyncRetrying(retry=retry, wait=backoff, stop=is_over, reraise=True):
            with attempt:
                return await self._request(payload, deadline, spent)
        raise AssertionError("tenacity returns or raises")

    async def _request(
        self, payload: Mapping[str, Any], deadline: float, spent: _Spent
    ) -> Completion:
        """One request, once server and breaker allow it. Raises Failure."""
        pause = (self._resume - time.monotonic()) * random.uniform(1, 1 + SPREAD)
        if pause > 0:
            if time.monotonic() + pause >= deadline:
                raise RequestError(http.OVERLOADED, f"the server asked to wait {pause:.0f} s")
            await asyncio.sleep(pause)
        if not self._breaker.allows():
            # A question that saw the trouble itself says which it was.
            raise spent.trouble or RequestError(
                http.BREAKER_OPEN, "it is asked nothing but a question now and then"
            )
        spent.requests += 1
        try:
            found = await http.complete(
                spent.place, self._settings, payload, max(0.01, deadline - time.monotonic())
            )
        except RequestError as failure:
            self._judge(failure)
            spent.trouble = replace(failure, retry=False)
            if self._breaker.is_open:
                raise spent.trouble from failure
            raise
        self._breaker.succeeded()
        spent.tokens += found.tokens
        return found

    def _judge(self, failure: RequestError) -> None:
        """What a failure says of the server."""
        settings = self._settings
        after = failure.after or 0.0
        opened = self._breaker.opened
        if failure.reason in (http.REFUSED, http.NO_MODEL):
            self._breaker.trip(settings.cooldown)  # the next question would fare no better
        elif after >= settings.deadline:
            # No question that waited would keep its deadline
            self._breaker.trip(min(after, LONGEST_REST))
        elif failure.breaks:
            self._resume = max(self._resume, time.monotonic() + after) if after else self._resume
            self._breaker.failed(after)
        else:
            self._breaker.succeeded()  # it answered: what was wrong is the question's
        if self._breaker.opened > opened:
            self._tell(
                "open",
                f"{failure.reason}: {failure.detail}; it is left alone, and tried now and then",
            )

    def _validator(self, question: Question) -> Draft202012Validator:
        if question.digest not in self._validators:
            self._validators[question.digest] = parsing.validator(question.schema)
        return self._validators[question.digest]

    def _tell(self, kind: str, message: str) -> None:
        """Say something of a kind once; what follows is counted in the answers."""
        if kind not in self._said:
            self._said.add(kind)
            self._say(f"{self._settings.url}: {message}")


class _Spent:
    """A question's place, its requests and tokens so far, and what went wrong with its last
    request.
    """

    def __init__(self, place: httpx.AsyncClient) -> None:
        self.place = place
        self.requests = 0
        self.tokens = 0
        self.trouble: RequestError | None = None


def _repeated(answer: Answer) -> Answer:
    """What an answer is for the second who asks: as from the cache, and at no cost."""
    return Reply(
        answer.value, "cache" if answer.value is not None else answer.origin, answer.reason
    )
