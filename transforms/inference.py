"""Asks any OpenAI-compatible server: many questions at once, each answered by the model, the cache, or marked a fallback.

The way of a question: cache; a free place among `concurrency`; circuit breaker; request, its schema enforced by the
server; again after a failure that may pass, with growing random pauses; the answer checked here; stored, then given out.
Whatever goes wrong, every question has its answer, and a fallback says why.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any

from apache_beam.ml.inference.base import ModelHandler, PredictionResult

from evenflow.transforms.llm.inference_asker import Asker, Say
from evenflow.transforms.llm.inference_cache import Cache
from evenflow.transforms.llm.inference_settings import InferenceError, Key, Settings
from evenflow.transforms.llm.inference_stats import Counted, Reply, Stats, tally
from evenflow.transforms.llm.llm_questions import Answer, Question

__all__ = (
    "Answer",
    "Cache",
    "Client",
    "Counted",
    "InferenceError",
    "Key",
    "LLMHandler",
    "Question",
    "Reply",
    "Settings",
    "Stats",
    "tally",
)


class Client:
    """Asks a server; for any number of threads of the process that made it.

    cache: of answers, or None. say: takes a message for the user, once for each kind of trouble; a warning in the log if
    None. A question brings its own schema.
    """

    def __init__(self, settings: Settings, cache: Cache | None = None, say: Say | None = None):
        self.settings = settings
        self.cache = cache
        self._say = say or logging.getLogger(__name__).warning
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asker: Asker | None = None
        self._thread: threading.Thread | None = None

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in order; what stands there twice is asked once.

        Raises InferenceError for a missing key, and for an error of the client's own: it is never a document's fault.
        """
        try:
            return self.start(questions).result()
        except (ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
            raise InferenceError(f"the language model's client failed: {type(error).__name__}: {error}") from error

    def start(self, questions: Sequence[Question]) -> Future[list[Answer]]:
        """Like `ask`, without waiting: other work goes on until result() is called. Raises InferenceError."""
        loop, asker = self._running()
        return asyncio.run_coroutine_threadsafe(asker.answers(questions), loop)

    def close(self) -> None:
        """End what is under way and the connections; asked again, it opens new ones."""
        with self._lock:
            if self._loop is not None and self._asker is not None and self._thread is not None and self._process == os.getpid():
                asyncio.run_coroutine_threadsafe(self._asker.close(), self._loop).result()
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
                self._loop.close()
            self._loop = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _running(self) -> tuple[asyncio.AbstractEventLoop, Asker]:
        """The loop, in a thread of its own, and who asks in it."""
        if self._process != os.getpid():
            raise RuntimeError("a client does not outlive a fork: make one in each process")
        with self._lock:
            if self._loop is None or self._asker is None:
                self._asker = Asker(self.settings, self.cache, self._say)
                self._loop = asyncio.new_event_loop()
                # Nobody has to wait for it when the process ends.
                self._thread = threading.Thread(target=self._loop.run_forever, name="evenflow-llm", daemon=True)
                self._thread.start()
            return self._loop, self._asker


class LLMHandler(ModelHandler[Question, PredictionResult, Client]):
    """For Beam's RunInference: batches of questions to predictions, each with its question and its answer.

    A worker process makes a client of its own; the cache's file is shared by all. A batch has several times as many
    questions as there are requests under way, so that its last ones leave the server idle for a small share of the time.
    """

    BATCHES = 8  # times the concurrency, in questions

    def __init__(self, settings: Settings, cache: Cache | None = None):
        super().__init__(min_batch_size=settings.concurrency, max_batch_size=self.BATCHES * settings.concurrency)
        self._settings = settings
        self._cached = None if cache is None else (cache.path, cache.max_bytes)

    def load_model(self) -> Client:
        """The process's client."""
        return Client(self._settings, None if self._cached is None else Cache(*self._cached))

    def run_inference(
        self, batch: Sequence[Question], model: Client, inference_args: dict[str, Any] | None = None
    ) -> Iterable[PredictionResult]:
        """A prediction for each question of a batch, in order; its inference is an Answer."""
        return [PredictionResult(*each, self._settings.model) for each in zip(batch, model.ask(batch), strict=True)]

    def get_num_bytes(self, batch: Sequence[Question]) -> int:
        """Characters of a batch's messages, for Beam's metrics."""
        return sum(len(message["content"]) for question in batch for message in question.messages)

    def get_metrics_namespace(self) -> str:
        """Beam's metrics are found under it."""
        return "evenflow_llm"
