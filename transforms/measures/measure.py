"""What a measure is: what it counts of documents, how it judges panes, what it adds to outputs.

A measure looks at a pane as a whole, or at each attribute beside its representation. All that knows
it is its own folder and one line of `registry`. The name is also that of its section of the
configuration and of its key in the ledger.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import pyarrow as pa
from pydantic import Field, SerializeAsAny

from evenflow.schemas.config import Config
from evenflow.schemas.documents import summed
from evenflow.schemas.ledger import STATES, Entry, Measured, State
from evenflow.schemas.words import Table
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.staging.sentence_table import Relevant, Screened
from evenflow.transforms.substitution.judges import Bar
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.llm.worker import Tier

Columns = dict[str, list[Any]]  # values of documents, (D,), by the name of a shard's column


class MeasureTotals(Entry):
    """A measure over all panes.

    Attributes:
        last: Record of the last pane, without its sums.
        recent: Sums of the last rolling - 1 accepted panes.
        states: Number of panes in each state; empty of a measure that does not keep it.
    """

    last: SerializeAsAny[Measured]
    sums: dict[str, Any]
    recent: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    states: dict[State, int] = Field(default_factory=dict[State, int])


def rolled(counted: Mapping[str, Any], totals: MeasureTotals | None) -> dict[str, Any]:
    """What was counted of the next pane, together with the last accepted ones."""
    return reduce(summed, totals.recent if totals is not None else (), dict(counted))


class Family(NamedTuple):
    """A family of metrics.

    Attributes:
        name: Its name, without `evenflow_` and `_total`.
        values: Its values by the labels' values; one that is None has no sample.
        is_counter: Whether it never falls.
    """

    name: str
    about: str
    labels: Sequence[str]
    values: Mapping[Any, float | None]
    is_counter: bool = False


class Counter(ABC):
    """Counts what a measure needs of documents; built once a process.

    Attributes:
        needs_sentences: Whether it needs the bounds of sentences.
        copies: Whether it asks for changed copies of documents (`is_due`).
    """

    fields: Sequence[str] = ()
    needs_sentences: bool = False
    copies: bool = False

    @abstractmethod
    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count documents that were searched together.

        Args:
            piece: Those of them that were searched together, and what was found in them.
            columns: What single documents get is added to these; None: it is not kept.

        Returns:
            What judges need: numbers, or mappings of such, that add up key by key.
        """

    def aside(self, found: Documents) -> tuple[dict[int, str], Columns]:
        """The documents that go to quarantine alone, before anything is counted.

        Returns:
            The reasons by the documents' numbers, and what the others get in columns if that is
            known already.
        """
        return {}, {}

    def is_due(self, columns: Columns, number: int) -> bool:
        """Whether a changed copy is due of a document, by its number and what columns hold."""
        return False


class Tally(Protocol):
    """Counts what a screen found, over a pane's table of sentences."""

    def seen(self, rows: pa.Table) -> pa.Table:
        """Count rows of a block, and return them."""
        ...

    def summary(self) -> dict[str, Any]:
        """What is judged of the pane."""
        ...


class Screen(Protocol):
    """Looks through sentences before documents are counted, and takes some out."""

    name: str

    def screen(self, documents: Sequence[Relevant]) -> Sequence[Screened]:
        """Look through documents; returns each as it is afterwards."""
        ...

    def tally(self) -> Tally:
        """What counts the next pane."""
        ...


R = TypeVar("R", bound=Measured)


def counted_states(before: MeasureTotals | None, record: Measured) -> dict[State, int]:
    """The number of panes in each state, with the next pane's."""
    panes = before.states if before else {}
    return {state: panes.get(state, 0) + (state == record.verdict.state) for state in STATES}


class Measure(ABC, Generic[R]):
    """A measure."""

    name: ClassVar[str]
    title: ClassVar[str]
    record: type[R]
    settings: Any = None
    off: ClassVar[Mapping[str, Any]]
    limits: ClassVar[Sequence[str]] = ("warn", "block")
    about_limits: ClassVar[str] = ""
    in_panes: ClassVar[bool] = True
    in_explain: ClassVar[bool] = True
    template: ClassVar[str] = "measure.html.j2"

    def own_settings(self, config: Config) -> Any:
        """Its settings, of a measure of another package; None if it is off."""
        given = config.measures.get(self.name)
        return None if given is None else self.settings.model_validate(given)

    @abstractmethod
    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts under a configuration; None if the measure is off."""

    def screen(self, config: Config, tier: Tier | None) -> Screen | None:
        """What looks through sentences, with a language model if there is one; None: nothing."""
        return None

    def bar(self, lists: Sequence[WordList]) -> Bar | None:
        """What bars exchanges in sentences; None: nothing."""
        return None

    @abstractmethod
    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> R | None:
        """Judge the next pane."""

    @abstractmethod
    def sums(self, record: R) -> dict[str, Any]:
        """The part of a record that adds up over panes."""

    @abstractmethod
    def without_sums(self, record: R) -> R:
        """A record without that part, as `MeasureTotals.last` has it."""

    def added(
        self, before: MeasureTotals | None, record: R, accepted: bool, most: int
    ) -> MeasureTotals:
        """Add the next pane."""
        sums = self.sums(record)
        recent = before.recent if before else []
        if accepted:
            recent = [*recent, sums][-most:] if most else []
        return MeasureTotals(
            last=self.without_sums(record),
            sums=summed(before.sums, sums) if before else sums,
            recent=recent,
            states=counted_states(before, record),
        )

    def totals(self, last: Any, sums: dict[str, Any], **others: Any) -> MeasureTotals:
        """Sums from plain data, with a record of this measure."""
        return MeasureTotals(last=self.record.model_validate(last), sums=sums, **others)

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """What the report says of all panes."""
        return self.without_sums(self._own(totals)).model_dump() | {"panes": totals.states}

    def of_pane(self, record: R) -> dict[str, Any]:
        """What the report says of a pane."""
        return self.without_sums(record).model_dump()

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        """What `gate status` prints of its section."""
        return []

    def table(self, section: Mapping[str, Any], attributes: Mapping[str, Any]) -> Table | None:
        """What the report shows of its section as a table, beside its own attributes."""
        return None

    def notes(self, record: R) -> Iterator[str]:
        """Yield what a user should know of the last pane, in sentences."""
        yield from ()

    def said(self, totals: MeasureTotals, attribute: str) -> Iterator[str]:
        """Yield what the card of accepted data says of an attribute."""
        yield from ()

    def figure(self, record: R, attribute: str) -> float | None:
        """The figure of an attribute that triggers watch; None if there is none."""
        return None

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield its metrics; without sums they have no sample."""
        yield from ()

    def limit_families(self, config: Config) -> Iterator[Family]:
        """Yield its thresholds as metrics, which alerts compare."""
        values = {(level,): value for level, value in self.thresholds(config).items()}
        if values or self.limits:
            yield Family(f"{self.name}_threshold", self.about_limits, ["level"], values)

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """Its thresholds by level; empty if the measure is off."""
        return {}

    def program(self, config: Config) -> str | None:
        """What its figures come from besides code and lists, for epochs; None: nothing."""
        return None

    def look(self, config: Config, on_note: Callable[[str], None]) -> None:
        """Look through what it reads before a run begins; tell what a user should know."""

    def digests(self, config: Config) -> dict[str, Any]:
        """Digests of what it reads, which a continued run must have too, by key of the settings."""
        return {}

    def _own(self, totals: MeasureTotals) -> R:
        """The last pane's record."""
        last: Any = totals.last
        return last


class MeasureApart(Measure[R]):
    """A measure that ships and may be off; what counts and judges is loaded once it is on.

    Attributes:
        parts: The module that has `counter(config, lists)` and `judge(config, lists, counted,
            totals)`.
    """

    parts: ClassVar[str]

    @cached_property
    def judging(self) -> ModuleType:
        """The module of its parts."""
        return import_module(self.parts)

    def is_on(self, config: Config) -> bool:
        """Whether its settings are others than those of a measure that is off."""
        own = getattr(config, self.name)
        return any(getattr(own, key) != value for key, value in self.off.items())

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts; None if the measure is off."""
        return self.judging.counter(config, lists) if self.is_on(config) else None

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> R | None:
        """Judge the next pane together with the last accepted ones; None if it is off."""
        return self.judging.judge(config, lists, counted, totals) if self.is_on(config) else None

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """Its thresholds; empty if the measure is off."""
        own = getattr(config, self.name)
        return {"warn": own.warn, "block": own.block} if self.is_on(config) else {}
