"""Asks any OpenAI-compatible server many questions at once.

A question goes through these steps: the cache; a free place among `concurrency`; the circuit
breaker; a request whose schema the server enforces; after a passing failure, further requests with
growing random pauses; the check of the answer; the cache again. Every question gets an answer. A
fallback says why it has no value.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from evenflow.transforms.llm.client.asker import Say, ServerAsker
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.settings import InferenceError, ServerSettings
from evenflow.transforms.llm.questions import Answer, Question


class Client:
    """Asks a server. It is thread-safe within the process that made it.

    A question brings its own schema.

    Args:
        cache: The cache of answers, or None.
        say: Takes a message for the user, once for each kind of trouble; by default a warning in
            the log.
    """

    def __init__(
        self, settings: ServerSettings, cache: Cache | None = None, say: Say | None = None
    ):
        self.settings = settings
        self.cache = cache
        self._say = say or logging.getLogger(__name__).warning
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asker: ServerAsker | None = None
        self._thread: threading.Thread | None = None

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Asks questions; a question that is there twice is asked once.

        Returns:
            N answers, in order.

        Raises:
            InferenceError: The key is missing, or the client itself failed. A document never causes
                this.
        """
        try:
            return self.start(questions).result()
        except (ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
            raise InferenceError(
                f"the language model's client failed: {type(error).__name__}: {error}"
            ) from error

    def start(self, questions: Sequence[Question]) -> Future[list[Answer]]:
        """Starts to ask, without waiting; other work goes on until `result()` is called."""
        loop, asker = self._running()
        return asyncio.run_coroutine_threadsafe(asker.answers(questions), loop)

    def close(self) -> None:
        """Ends the open requests and connections; the next question opens new ones."""
        with self._lock:
            if (
                self._loop is not None
                and self._asker is not None
                and self._thread is not None
                and self._process == os.getpid()
            ):
                asyncio.run_coroutine_threadsafe(self._asker.close(), self._loop).result()
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
                self._loop.close()
            self._loop = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _running(self) -> tuple[asyncio.AbstractEventLoop, ServerAsker]:
        """The loop, in its own thread, and the asker in it."""
        if self._process != os.getpid():
            raise RuntimeError("a client does not outlive a fork: make one in each process")
        with self._lock:
            if self._loop is None or self._asker is None:
                self._asker = ServerAsker(self.settings, self.cache, self._say)
                self._loop = asyncio.new_event_loop()
                # A daemon: the end of the process does not wait for it
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="evenflow-llm", daemon=True
                )
                self._thread.start()
            return self._loop, self._asker
