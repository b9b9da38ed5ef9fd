"""Keeps what was used lately."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Lately(Generic[Value]):
    """The values that were used last, by key. Several threads may use it."""

    def __init__(self, most: int):
        self._most, self._lock = most, threading.Lock()
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def peek(self, key: Hashable) -> Value | None:
        """Return the value of a key; None if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value; the one that was not used for the longest time is dropped."""
        with self._lock:
            self._values[key] = value
            self._drop(key)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made and kept if it is not there."""
        found = self.peek(key)
        if found is None:
            made = make()  # without the lock: it may take long
            with self._lock:
                found = self._values.setdefault(key, made)  # another thread may have been first
                self._drop(key)
        return found

    def _drop(self, used: Hashable) -> None:
        """Drop what was not used for the longest time."""
        self._values.move_to_end(used)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
