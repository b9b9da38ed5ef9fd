"""What a stratum was: its shares and its mentions per document, each with an error of its own.

Two errors are kept. One is of a sample of documents (sums over documents). The other is of the
source itself, which wanders: its parts differ by more than documents do. Both come from sums, of
documents and of chunks (panes, or parts of a corpus in its order), so that a reference adds up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, reduce
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from evenflow.schemas.ledger import Entry
from evenflow.transforms.measures.shift.strata import (
    UNITS,
    Packed,
    Strata,
    Unit,
    groups_of,
    has_led,
    pack,
    packed_size,
    plus,
    symmetric,
)

Floats = npt.NDArray[np.float64]
MOST = 1 << 100  # of a number of a reference, which is a file from outside: it stays a float
MOST_NUMBERS = 5000  # 100 groups
Whole = Annotated[int, Field(ge=0, le=MOST)]

CHUNKS = 16  # of a stratum of a corpus: few enough that a chunk has many documents
LEAST_CHUNK = 5  # documents of a chunk
BY_CHANCE = 2.0  # standard errors of what documents explain that are no wandering
LEAST_CHUNKS = 4  # below, nothing is known of how a stratum wanders
# Effective documents, (sum n)^2 / sum n^2: shares are judged from, in a reference and a window; and
# mentions per document, what a run has learnt, and wandering beyond chance are known from
LEAST_DOCUMENTS, MANY = 15.0, 60.0
FROZEN = 0.03  # half width of the shares' 95 % intervals with which a stratum is learnt no further
HALF = 0.5  # of a document that a reference has more, shared by the groups
FROZEN_CHUNKS = 8  # panes that a stratum is learnt from at least, to know how it wanders
NORMAL_95 = 1.96
UNKNOWN = 1e6  # variance of what nobody knows: nothing is sure


class Learnt(Entry):
    """An attribute of a stratum; additive."""

    documents: int = Field(ge=0, le=MOST)
    chunks: int = Field(ge=0, le=MOST)
    squares: int = Field(ge=0, le=MOST)
    crossed: int = Field(ge=0, le=MOST)
    sums: list[Whole] = Field(max_length=MOST_NUMBERS)
    between: list[Whole] = Field(max_length=MOST_NUMBERS)

    @classmethod
    def of_chunk(cls, documents: int, sums: Packed) -> Learnt:
        """What a chunk of documents says."""
        groups = groups_of(sums)
        counts = sums[1 : 1 + groups]
        between = _upper(counts)
        if has_led(sums):
            between += _upper(sums[-groups:])
        return cls.model_construct(
            documents=documents,
            chunks=1,
            squares=documents**2,
            crossed=documents * sum(counts),
            sums=sums,
            between=between,
        )

    def __hash__(self) -> int:
        return id(self)  # what is made of an object is kept for it; equal ones are rare

    def counts(self, unit: Unit) -> list[int]:
        """The mentions of groups, or the documents that they lead (M,); empty: not counted."""
        groups = groups_of(self.sums)
        if unit == "mentions":
            return self.sums[1 : 1 + groups]
        return self.sums[-groups:] if has_led(self.sums) else []

    def plus(self, other: Learnt) -> Learnt:
        """This with further chunks."""
        numbers = ("documents", "chunks", "squares", "crossed")
        return Learnt.model_construct(
            **{name: getattr(self, name) + getattr(other, name) for name in numbers},
            sums=plus(self.sums, other.sums),
            between=plus(self.between, other.between),
        )


Known = dict[str, Learnt]  # what is known of a stratum, by attribute


class Reference(Entry):
    """A reference: a file that a gate is given, or what a gate has learnt.

    Attributes:
        by: The field whose values are strata; null: files are.
        made: What it was made from, for people.
        groups: Groups of each attribute, in the order of the sums.
    """

    version: Literal[1] = 1
    by: str | None = None
    made: str = Field(default="", max_length=1000)
    groups: dict[str, list[str]] = Field(default_factory=dict[str, list[str]], max_length=100)
    strata: dict[str, Known] = Field(default_factory=dict[str, Known], max_length=256)

    @model_validator(mode="after")
    def _has_whole_sums(self) -> Reference:
        for known in self.strata.values():
            for attribute, own in known.items():
                groups = len(self.groups.get(attribute, ()))
                size = groups * (groups + 1) // 2
                found = len(own.sums), len(own.between)
                if found not in ((1 + groups + size, size), (packed_size(groups), 2 * size)):
                    raise ValueError(f"{attribute}: sums of {groups} groups are not so long")
        return self


@dataclass(frozen=True)
class Expected:
    """What is expected of an attribute of strata (S,), M groups.

    Attributes:
        strata: Names of the strata.
        shares: Shares (S, M).
        error: Covariance (S, M, M) of the shares: of the sample, and of how a stratum wanders.
        spread: Sum of documents' residuals' products (S, M, M) by squared mentions of a document.
        rate: Mentions per document (S,).
        squares: Mean square of a document's mentions (S,).
        rate_error: Variance of the rate (S,).
        half_width: Greatest half width of the shares' 95 % intervals, of the sample alone (S,).
        wanders: Greatest standard deviation of a share between parts of a stratum (S,).
        documents: Effective documents (S,).
        counted: Documents, also those that name nobody (S,).
        naming: Documents with a mention, and one more (S,).
    """

    strata: Sequence[str]
    shares: Floats
    error: Floats
    spread: Floats
    rate: Floats
    squares: Floats
    rate_error: Floats
    half_width: Floats
    wanders: Floats
    documents: Floats
    counted: Floats
    naming: Floats

    @property
    def judged(self) -> list[str]:
        """The strata by whose shares something is judged, not by their mentions alone."""
        return [self.strata[at] for at in np.flatnonzero(self.is_judged).tolist()]

    @property
    def is_judged(self) -> npt.NDArray[np.bool_]:
        """What is known well enough that something is judged by its shares (S,)."""
        return self.documents >= LEAST_DOCUMENTS

    @property
    def is_rated(self) -> npt.NDArray[np.bool_]:
        """Whose mentions per document are known well enough too (S,)."""
        return self.documents >= MANY

    @property
    def is_done(self) -> npt.NDArray[np.bool_]:
        """Whose shares are known so well that it is learnt no further (S,)."""
        return self.is_rated & (self.half_width <= FROZEN)

    def with_judged(self, other: Expected | None) -> Expected:
        """The strata that something is judged by, of another, and of this what it does not have.

        Also those whose shares nobody knows: more of their documents may begin to name people.
        """
        both = [self] if other is None else [self, other]
        chosen = np.concatenate([each.is_judged | (each.counted >= MANY) for each in both])
        if other is not None:
            chosen[: len(self.strata)] &= ~np.isin(self.strata, other.strata)
        strata = [name for each in both for name in each.strata]
        _, *numbers = fields(self)
        out = Expected(
            [strata[at] for at in np.flatnonzero(chosen)],
            *(
                np.concatenate([getattr(each, own.name) for each in both])[chosen]
                for own in numbers
            ),
        )
        return replace(out, error=np.where(out.is_judged[:, None, None], out.error, UNKNOWN))


def expected(
    known: Mapping[str, Known], attribute: str, unit: Unit, least: float = 1, naming: bool = True
) -> Expected | None:
    """What is expected of an attribute of strata.

    Args:
        known: What is known of each stratum.
        attribute: The attribute.
        unit: What is compared.
        least: Strata with fewer documents that name the attribute are left out.
        naming: Documents that name nobody do not count for it.

    Returns:
        What is expected; None where no stratum is left.
    """
    own: dict[str, Learnt] = {}
    for name in sorted(known):
        each = known[name].get(attribute)
        if each is None or not each.documents:
            continue
        counted = each.sums[0] if naming else each.documents
        if (counted if unit == "mentions" else sum(each.counts(unit))) >= least:
            own[name] = each
    return _expected(tuple(own), tuple(own.values()), unit) if own else None


def judged_by(
    reference: Mapping[str, Known], others: Mapping[str, Known], attribute: str, unit: Unit
) -> Expected | None:
    """What is expected of the strata of a reference, and of others, that something is judged by.

    What the reference knows too little of is learnt on in a run. Few panes do not show how a
    source wanders, so that it is not judged by them.
    """
    one = expected(reference, attribute, unit, LEAST_DOCUMENTS, naming=False)
    known = frozenset[str]() if one is None else frozenset(one.judged)
    more: dict[str, Known] = {}
    for name in others.keys() - known:
        every = [
            own[attribute] for own in (reference.get(name, {}), others[name]) if attribute in own
        ]
        if every and (each := reduce(Learnt.plus, every)).chunks >= FROZEN_CHUNKS:
            more[name] = {attribute: each}
    two = expected(more, attribute, unit, MANY)
    return two and two.with_judged(None) if one is None else one.with_judged(two)


def judged(known: Known, attributes: Iterable[str]) -> list[str]:
    """The attributes of a stratum of a reference by which something is judged."""
    every = {
        attribute: [judged_by({"": known}, {}, attribute, unit) for unit in UNITS]
        for attribute in attributes
    }
    return [name for name, found in every.items() if any(each and each.judged for each in found)]


def lacking(known: Known) -> str:
    """What a stratum lacks until something is judged, of the attribute that is known best."""
    found = {name: each for name in known if (each := expected({"": known}, name, "mentions"))}
    if not found:
        return "no document names a group"
    name = max(found, key=lambda own: float(found[own].documents[0]))
    naming, count = known[name].sums[0], float(found[name].documents[0])
    uneven = f", but unevenly: they count as {count:.0f}" if naming >= LEAST_DOCUMENTS else ""
    return f"{naming:,} documents name {name}{uneven}; {LEAST_DOCUMENTS:.0f} are needed"


def residuals(products: Floats, shares: Floats) -> Floats:
    """Sums of r r^T (S, M, M) with r = c - n shares, from the sums of c c^T."""
    crossed = shares[:, :, None] * products.sum(axis=1)[:, None, :]
    both = shares[:, :, None] * shares[:, None, :] * products.sum(axis=(1, 2))[:, None, None]
    return products - crossed - np.swapaxes(crossed, 1, 2) + both


def _widest(matrices: Floats) -> Floats:
    """Greatest standard deviations (S,) of covariances (S, M, M)."""
    return np.sqrt(np.maximum(np.diagonal(matrices, axis1=1, axis2=2), 0.0).max(axis=1))


@lru_cache(maxsize=64)  # every pane asks for that of the reference
def _expected(names: tuple[str, ...], every: tuple[Learnt, ...], unit: Unit) -> Expected:
    """What is expected of strata (S,) by what was learnt of them (S,)."""
    groups = groups_of(every[0].sums)
    size = groups * (groups + 1) // 2
    counts = np.array([each.counts(unit) for each in every], float)
    if unit == "mentions":
        upper = np.array([each.sums[1 + groups :][:size] for each in every], float)
        products = symmetric(upper, groups)
        between = np.array([each.between[:size] for each in every], float)
    else:
        products = counts[:, :, None] * np.eye(groups)
        between = np.array([each.between[size:] for each in every], float)
    documents, chunks, squares, crossed = np.array(
        [[each.documents, each.chunks, each.squares, each.crossed] for each in every], float
    ).T
    mentions = counts.sum(axis=1)
    total = np.maximum(products.sum(axis=(1, 2)), 1.0)
    effective = np.maximum(mentions**2 / total, 1.0)
    # Half a document more, shared by the groups, so that none is expected never or for sure
    more = HALF * total / np.maximum(mentions, 1.0)
    shares = (counts + more[:, None] / groups) / (mentions + more)[:, None]
    added = residuals((more**2 / HALF / groups)[:, None, None] * np.eye(groups), shares)
    raised = 1 / (1 - np.minimum(1 / effective, 0.5))
    sample = (residuals(products, shares) + added) * raised[:, None, None]
    rate = np.maximum(mentions, 1.0) / documents  # none is expected never
    spread = np.maximum(products.sum(axis=(1, 2)) / documents - rate**2, rate)
    # What documents explain, and BY_CHANCE standard errors of it, is no wandering; of few documents
    # the error is as large, and hides what wanders, so that it is not taken off
    by_chance = 1 + BY_CHANCE * (effective >= MANY) * (2 / np.maximum(chunks, 1.0)) ** 0.5
    chunked = symmetric(between, groups)
    apart = residuals(chunked, shares) - sample * by_chance[:, None, None]
    values, vectors = np.linalg.eigh(
        apart / np.maximum(chunked.sum(axis=(1, 2)), 1.0)[:, None, None]
    )
    enough = chunks >= LEAST_CHUNKS
    values = np.clip(values, 0, None) * enough[:, None]
    wanders = (vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    moved = chunked.sum(axis=(1, 2)) - 2 * rate * crossed + rate**2 * squares
    rate_wanders = np.maximum(moved - documents * spread * by_chance, 0.0) / np.maximum(squares, 1)
    error = sample / np.maximum(mentions**2, 1.0)[:, None, None]
    return Expected(
        names,
        shares,
        error + wanders,
        sample / total[:, None, None],
        rate,
        total / documents,
        spread / documents + rate_wanders * enough,
        NORMAL_95 * _widest(error),
        _widest(wanders),
        effective,
        documents,
        np.array([each.sums[0] + 1.0 for each in every]),
    )


def of_counts(
    names: Sequence[str], counts: Mapping[str, npt.NDArray[np.int64]]
) -> dict[str, Known]:
    """What is known of the strata of a corpus, in CHUNKS chunks each.

    Chunks have as many mentions each, so that a part of a stratum that names few weighs in how far
    it wanders.

    Args:
        names: The documents' strata (D,), in the corpus' order.
        counts: Their mentions (D, M), by attribute.
    """
    every, codes = np.unique(np.array(names, object), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    strata = np.split(order, np.searchsorted(codes[order], np.arange(1, len(every))))
    return {
        str(name): {attribute: _in_chunks(own[where]) for attribute, own in counts.items()}
        for name, where in zip(every, strata, strict=True)
    }


def _in_chunks(counts: npt.NDArray[np.int64]) -> Learnt:
    """What is known of a stratum's documents (D, M), in their order."""
    number = min(CHUNKS, max(len(counts) // LEAST_CHUNK, 1))
    mentions = counts.sum(axis=1).cumsum()
    ends = 1 + np.searchsorted(mentions, mentions[-1] * np.arange(1, number) / number)
    chunks = np.split(counts, np.unique(ends[ends < len(counts)]))
    return reduce(Learnt.plus, (Learnt.of_chunk(len(chunk), pack(chunk)) for chunk in chunks))


def learnt(
    known: Mapping[str, Known], pane: Strata, groups: Mapping[str, int], left: Iterable[str] = ()
) -> dict[str, Known]:
    """What is known with a further pane, which is one chunk; what is done stays as it is."""
    without = frozenset(left)
    chosen = [name for name, (documents, _) in pane.items() if documents and name not in without]
    out: dict[str, Known] = dict(known) | {name: dict(known.get(name, {})) for name in chosen}
    for attribute, size in groups.items():
        done = _done({name: out[name] for name in chosen}, attribute)
        for name in (each for each in chosen if each not in done):
            documents, sums = pane[name]
            fresh = Learnt.of_chunk(documents, sums.get(attribute) or [0] * packed_size(size))
            before = out[name].get(attribute)
            out[name][attribute] = fresh if before is None else before.plus(fresh)
    return out


def _done(known: Mapping[str, Known], attribute: str) -> frozenset[str]:
    """The strata of which an attribute is learnt no further."""
    old = {
        name: own
        for name, own in known.items()
        if attribute in own and own[attribute].chunks >= FROZEN_CHUNKS
    }
    found = expected(old, attribute, "mentions", MANY)
    return frozenset(() if found is None else np.array(found.strata)[found.is_done].tolist())


def _upper(counts: Sequence[int]) -> list[int]:
    """The upper triangle of the products of counts (M,)."""
    return [a * b for at, a in enumerate(counts) for b in counts[at:]]
