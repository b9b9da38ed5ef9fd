"""Runs that share an object store, whose requests go in an order that a test chooses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from evenflow.transforms.storage.objects import ObjectStorage
from evenflow.transforms.storage.storage import Stored


class KilledError(BaseException):
    """The process of this run is dead: nothing catches it."""


class Turns:
    """Gives each request of each actor its turn.

    order: numbers of the actors, one for each request. An actor that has ended loses its turns;
    when the order is used up, the actors go on one after the other. killed: the number of requests
    after which an actor is dead.
    """

    def __init__(self, order: Sequence[int], killed: dict[int, int] | None = None):
        self._order, self._killed = list(order), killed or {}
        self._change = threading.Condition()
        self._waiting, self._running = set[int](), set[int]()
        self.made: dict[int, int] = {}
        self.errors: dict[int, BaseException] = {}

    def run(self, actors: Sequence[Callable[[], None]]) -> None:
        """Run actors to their ends; what they raise is in errors."""
        threads = [
            threading.Thread(target=self._act, args=each, daemon=True) for each in enumerate(actors)
        ]
        self._running = set(range(len(actors)))
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
            assert not each.is_alive(), "the actors wait for each other"

    def _act(self, number: int, actor: Callable[[], None]) -> None:
        threading.current_thread().name = f"actor-{number}"
        try:
            actor()
        except BaseException as error:
            self.errors[number] = error
        with self._change:
            self._running.discard(number)
            self._change.notify_all()

    def take(self) -> None:
        """Wait for this actor's turn; a thread that is no actor need not."""
        name = threading.current_thread().name
        if not name.startswith("actor-"):
            return
        me = int(name.removeprefix("actor-"))
        with self._change:
            self._waiting.add(me)
            self._change.notify_all()
            self._change.wait_for(lambda: self._waiting == self._running and self._next() == me)
            if self._order:
                self._order.pop(0)
            self._waiting.discard(me)
            self.made[me] = self.made.get(me, 0) + 1
            if self.made[me] > self._killed.get(me, 1 << 30):
                raise KilledError

    def _next(self) -> int:
        """The actor whose turn it is."""
        while self._order and self._order[0] not in self._running:
            self._order.pop(0)
        return self._order[0] if self._order else min(self._running)


class Scheduled(ObjectStorage):
    """A store whose requests wait for their turns; a list of names takes one for each name."""

    def __init__(self, url: str, turns: Turns):
        super().__init__(url)
        self._turns = turns

    def read(self, name: str) -> bytes:
        self._turns.take()
        return super().read(name)

    def at_once(self, do: Callable[[Any], Any], each: Iterable[Any]) -> Iterator[Any]:
        return reversed([do(one) for one in [*each][::-1]])  # none waits for one before it

    def write(self, name: str, data: Any) -> None:
        self._turns.take()
        super().write(name, data)

    def create(self, name: str, data: bytes, durable: bool = True) -> bool:
        self._turns.take()
        return super().create(name, data, durable)

    def stat(self, name: str) -> Stored | None:
        self._turns.take()
        return super().stat(name)

    def names(self, folder: str) -> list[str]:
        self._turns.take()
        return super().names(folder)

    def tree(self, folder: str = "") -> Iterator[Stored]:
        self._turns.take()
        return iter(list(super().tree(folder)))

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._turns.take()
            super().remove([name])

    def _copy(self, move: tuple[str, str]) -> None:
        self._turns.take()
        super()._copy(move)
