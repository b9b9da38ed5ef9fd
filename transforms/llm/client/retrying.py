"""Asks a server one question, with retries, under a circuit breaker and with or without its schema.

One asyncio loop runs all questions of a process.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from evenflow.transforms.llm.client import http, parsing
from evenflow.transforms.llm.client.breaker import Breaker
from evenflow.transforms.llm.client.http import Completion, RequestError
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.client.stats import Reply
from evenflow.transforms.llm.questions import Question

# Pauses between two requests of a question: random up to 0.5 s, 1 s, 2 s … 10 s ("full jitter" in
# the terms of AWS).
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
# Share of a pause that the server asked for, added at random, so that not all come back at once
SPREAD = 0.1
# Seconds that a server is left alone because it asked for more than a deadline
LONGEST_REST = 600.0
# A request may take this part of a question's deadline, so that a server that hangs costs no more
TRIES = 3
SCHEMA_REFUSALS = (400, 415, 422, 501)  # with which a server may refuse response_format


class RetryingAsker:
    """Asks a server one question after the other. Call its methods in one loop."""

    def __init__(self, settings: ServerSettings, warn: Callable[[str, str], None]):
        self._settings = settings
        self._warn = warn
        # A question waits no longer than its deadline, so patience beyond it bridges nothing
        self._cooldown = min(settings.cooldown, settings.deadline)
        patience = min(settings.patience, settings.deadline)
        self._breaker = Breaker(patience, self._cooldown, together=settings.concurrency)
        self._resume = 0.0  # when the server wants to be asked again (monotonic seconds)
        # Digests of prompts whose schema the server does not enforce
        self._unenforced: set[str] = set()
        self._validators: dict[str, Draft202012Validator] = {}

    def validator(self, question: Question) -> Draft202012Validator:
        """The validator of a question's answers."""
        if question.digest not in self._validators:
            self._validators[question.digest] = parsing.validator(question.schema)
        return self._validators[question.digest]

    async def answer(self, question: Question, place: httpx.AsyncClient) -> Reply:
        """The model's answer, or a fallback."""
        began = time.monotonic()
        spent = _Spent(place)
        try:
            value = await self._value(question, began + self._settings.deadline, spent)
        except RequestError as failure:
            self._warn(failure.reason, f"{failure.reason}: {failure.detail}")
            found = Reply(None, "fallback", failure.reason)
        else:
            found = Reply(value, "model")
        seconds = time.monotonic() - began
        return replace(found, tokens=spent.tokens, seconds=seconds, requests=spent.requests)

    async def _value(self, question: Question, deadline: float, spent: _Spent) -> dict[str, Any]:
        """The model's checked answer; raises RequestError."""
        if question.digest not in self._unenforced:
            try:
                return await self._parsed(question, True, deadline, spent)
            except RequestError as failure:
                refused = failure.reason == http.REJECTED and failure.status in SCHEMA_REFUSALS
                if not refused and failure.reason != http.NOT_JSON:
                    raise
        # A server that knows no schemas may refuse or ignore them. It may still answer if the
        # prompt asks for the schema in words.
        found = await self._parsed(question, False, deadline, spent)
        self._unenforced.add(question.digest)
        self._warn(
            "schema",
            "the server enforces no JSON schema; JSON is asked for in words, and checked here",
        )
        return found

    async def _parsed(
        self, question: Question, enforced: bool, deadline: float, spent: _Spent
    ) -> dict[str, Any]:
        """The checked answer after as many requests as may help; raises RequestError."""
        settings = self._settings
        messages = [dict(each) for each in question.messages]
        payload: dict[str, Any] = {
            "model": settings.model,
            "messages": messages if enforced else parsing.with_schema(messages, question.schema),
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "seed": 0,
        }
        if enforced:
            payload |= parsing.response_format(question.prompt, question.schema)
        completion = await self._completion(payload, deadline, spent)
        return parsing.parse_answer(completion, self.validator(question))

    async def _completion(
        self, payload: Mapping[str, Any], deadline: float, spent: _Spent
    ) -> Completion:
        """The model's text after as many requests as may help; raises RequestError."""
        longest = FIRST_PAUSE
        for attempt in count(1):
            try:
                return await self._request(payload, deadline, spent)
            except RequestError as failure:
                pause = random.uniform(0, longest)
                over = time.monotonic() + pause >= deadline or attempt >= self._settings.attempts
                if over or not failure.retry:
                    raise
            longest = min(LONGEST_PAUSE, 2 * longest)
            await asyncio.sleep(pause)
        raise AssertionError("it returns or raises")

    async def _request(
        self, payload: Mapping[str, Any], deadline: float, spent: _Spent
    ) -> Completion:
        """One request, once server and breaker allow it; raises RequestError."""
        pause = (self._resume - time.monotonic()) * random.uniform(1, 1 + SPREAD)
        if pause > 0:
            if time.monotonic() + pause >= deadline:
                raise RequestError(http.OVERLOADED, f"the server asked to wait {pause:.0f} s")
            await asyncio.sleep(pause)
        if not self._breaker.allows():
            # A question that met the trouble itself names it
            raise spent.trouble or RequestError(
                http.BREAKER_OPEN, "it is asked nothing but a question now and then"
            )
        spent.requests += 1
        left, most = deadline - time.monotonic(), self._settings.deadline / TRIES
        try:
            found = await http.complete(
                spent.place, self._settings, payload, max(0.01, min(left, most))
            )
        except RequestError as failure:
            self._record_failure(failure, left >= most)
            spent.trouble = replace(failure, retry=False)
            if self._breaker.is_open:
                raise spent.trouble from failure
            raise
        self._breaker.succeeded()
        spent.tokens += found.tokens
        return found

    def _record_failure(self, failure: RequestError, had_its_time: bool) -> None:
        """Applies what the failure of a request shows about the server."""
        settings = self._settings
        after = failure.after or 0.0
        opened = self._breaker.opened
        if failure.reason in (http.REFUSED, http.NO_MODEL):
            self._breaker.trip(self._cooldown)  # the next question would do no better
        elif after >= settings.deadline:
            # No question that waited would keep its deadline
            self._breaker.trip(min(after, LONGEST_REST))
        elif failure.breaks:
            self._resume = max(self._resume, time.monotonic() + after) if after else self._resume
            # A server that hangs was silent for as long as a request may take
            hung = failure.reason == http.TIMEOUT and failure.status is None and had_its_time
            self._breaker.failed(after, self._breaker.patience if hung else 0.0)
        else:
            self._breaker.succeeded()  # the server answered; the fault is the question's
        if self._breaker.opened > opened:
            self._warn(
                "open",
                f"{failure.reason}: {failure.detail}; it is left alone, and tried now and then",
            )


@dataclass
class _Spent:
    """A question's place, its requests and tokens so far, and its last request's failure."""

    place: httpx.AsyncClient
    requests: int = 0
    tokens: int = 0
    trouble: RequestError | None = None
