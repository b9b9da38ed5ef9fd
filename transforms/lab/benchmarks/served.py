"""A model behind an OpenAI-compatible server, for benchmarks that need written text alone."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence

import httpx

from evenflow.transforms.lab.benchmarks.suite import Suite
from evenflow.transforms.lab.language_models.generation import Prompt
from evenflow.transforms.llm.client import http
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.models.loading import LanguageModelError

LONGEST_PAUSE = 10.0  # seconds between two requests for a prompt


class ServedModel:
    """A model that a server continues texts with (/v1/completions).

    Whether its answers are the same again depends on the server: each request has its seed.

    Args:
        url: The server's address.
        model: The model's name there.

    Raises:
        ServerSettingsError: The address is none.
    """

    def __init__(self, url: str, model: str):
        self._settings = ServerSettings(url, model)
        self.name = f"{model} at {self._settings.url}"

    def kind(self, suite: Suite) -> str:
        """server; raises LanguageModelError for a suite that needs more than written text."""
        if "server" not in suite.models:
            raise LanguageModelError(
                f"{suite.name} needs probabilities, which a server does not give; give the folder"
                " of the model"
            )
        return "server"

    def digest(self) -> str:
        """What stands for the model, whose files are not at hand."""
        return hashlib.sha256(self.name.encode()).hexdigest()

    def ready(self, suite: Suite) -> ServedModel:
        """The model itself."""
        return self

    def check_prompt(self, prompt: Prompt, most: int, name: str) -> None:
        """Nothing: the server knows its context."""

    def generate(
        self, prompts: Sequence[Prompt], most: int, stops: Sequence[str] = ()
    ) -> list[str]:
        """Continue prompts (see `generation.generate`).

        Args:
            prompts: The prompts.
            most: Most tokens of a continuation.
            stops: Texts before which a continuation ends.

        Returns:
            The continuations, in order.

        Raises:
            LanguageModelError: The server does not answer.
        """
        return asyncio.run(self._answers(prompts, most, stops))

    async def _answers(
        self, prompts: Sequence[Prompt], most: int, stops: Sequence[str]
    ) -> list[str]:
        clients = http.open_places(self._settings)
        places: asyncio.LifoQueue[httpx.AsyncClient] = asyncio.LifoQueue()
        for each in clients:
            places.put_nowait(each)

        async def one(prompt: Prompt) -> str:
            payload: dict[str, object] = {
                "model": self._settings.model,
                "prompt": prompt.text,
                "max_tokens": most,
                "temperature": 0 if prompt.seed is None else 1,
                "stop": list(stops),
            }
            if prompt.seed is not None:
                payload["seed"] = prompt.seed
            place = await places.get()
            try:
                return await self._once(place, payload)
            finally:
                places.put_nowait(place)

        try:
            return list(await asyncio.gather(*map(one, prompts)))
        except http.RequestError as error:
            raise LanguageModelError(f"{self.name}: {error.reason} ({error.detail})") from error
        finally:
            for each in clients:
                await each.aclose()

    async def _once(self, client: httpx.AsyncClient, payload: dict[str, object]) -> str:
        """The text of an answer, after further requests where one fails in passing."""
        end, pause = time.monotonic() + self._settings.deadline, 0.5
        while True:
            try:
                left = max(end - time.monotonic(), 1.0)
                found = await http.complete(client, self._settings, payload, left, http.TEXTS)
                return found.text
            except http.RequestError as error:
                pause = min(2 * pause, LONGEST_PAUSE)
                wait = error.after if error.after is not None else pause
                if not error.retry or time.monotonic() + wait > end:
                    raise
                await asyncio.sleep(wait)
