"""Gives each document of a pane one weight for all attributes (mode weight, see `calibration`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.schemas import documents, ledger
from evenflow.schemas.config import Config
from evenflow.transforms.repair.calibration import (
    PRICE,
    Aim,
    CalibrationError,
    Calibrator,
    Floats,
    Keep,
    ProfileWeights,
)
from evenflow.transforms.repair.linearised import Linearised
from evenflow.transforms.repair.output_as import draw
from evenflow.transforms.repair.profiles import Ints, profiles
from evenflow.transforms.staging.block import INPUT, Part, StagedBlock

MOST_VALUES = 32  # of a field that are kept apart; the rarest are kept together
NAMED = 40  # characters of a value in the name of what is kept
DIGITS = 9  # decimals of sums and of what the ledger keeps of weights
SOLVED = 6  # decimals of what a solver found, a step above its error: processors differ below that
LINEAR = 8  # digits of products that equations were solved for, of the greatest one


@dataclass(frozen=True)
class Weighed:
    """The weights of a pane.

    `times`: How often the documents of each block are written; None: once, with their weights.
    """

    record: ledger.Weights
    sums: dict[str, ledger.Sums]
    weights: list[Floats]
    times: list[Ints] | None
    ids: list[str]
    text_bytes: int


@dataclass(frozen=True)
class _Pane:
    """What weights may depend on, of D documents in K profiles.

    `counts`: Mentions of each group, (D,) each, by attribute. `bytes`: Length of the texts, (D,).
    `values`: Of each field that must keep its mix: the documents' values as numbers (D,), and their
    names. `of`: The documents' profiles, (D,).
    """

    counts: dict[str, list[npt.NDArray[np.int32]]]
    bytes: Ints
    values: dict[str, tuple[Ints, list[str]]]
    of: Ints

    def total(self, amounts: npt.NDArray[np.generic] | None = None) -> Floats:
        """The sum of amounts (D,) over the documents of each profile, (K,); of 1 unless given.

        The sums are whole numbers, so the order of the documents does not matter.
        """
        return np.bincount(self.of, amounts).astype(float)

    def both(self, a: int, b: int, names: tuple[str, str]) -> Floats:
        """Number of documents (K,) that name group a of one attribute and b of another."""
        first, second = (self.counts[name][at] for name, at in zip(names, (a, b), strict=True))
        return self.total((first > 0) & (second > 0))


def weigh(
    blocks: Sequence[StagedBlock],
    attributes: Sequence[documents.Attribute],
    config: Config,
    before: Mapping[str, Sequence[float]],
) -> Weighed:
    """Find the weights of a pane's documents.

    They do not depend on how the blocks were cut. If what must stay contradicts itself, every
    weight is 1, and the record says why.

    Args:
        blocks: The pane's blocks with documents, in source order.
        before: Weighted mentions that were accepted before, (M,) by attribute.

    Raises:
        OSError: A file cannot be read.
    """
    tables = [block.read(Part.DOCUMENTS) for block in blocks]
    pane = _read(tables, attributes, config)
    settings = config.repair
    aims = [
        Aim(
            each.name,
            np.stack([pane.total(column) for column in pane.counts[each.name]], axis=1),
            _target(each),
            np.array(before.get(each.name, [0.0] * len(each.groups)), float),
        )
        for each in attributes
        if each.weighs
    ]
    one = Calibrator(
        pane.total(),
        aims,
        list(_keeps(pane, attributes, config)),
        settings.weight_limit,
        settings.least_effective,
    )
    problem, solved = None, one
    try:
        found = one.calibrate()
    except CalibrationError as error:
        problem, solved = str(error), Calibrator(one.documents, aims, [], 1.0)
        found = solved.calibrate()
    record = _record(found, one, problem)
    weights, linear = found.weights[pane.of], Linearised(solved, found)
    ends = np.cumsum([len(table) for table in tables])[:-1]
    parts = np.split(weights, ends)
    if settings.output_as == "weight":
        sums = _sums(pane, linear, weights, before)
        return Weighed(record, sums, parts, None, [], int(pane.bytes.sum()))
    ids = [each for table in tables for each in table[documents.ID.name].to_pylist()]
    times = draw(weights, pane.of, ids, settings.seed)
    record.left_out = int((times == 0).sum())
    record.copies = int(np.maximum(times - 1, 0).sum())
    sums = _sums(pane, linear, times.astype(float), before)
    return Weighed(record, sums, parts, np.split(times, ends), ids, int(times @ pane.bytes))


def _read(
    tables: Sequence[pa.Table], attributes: Sequence[documents.Attribute], config: Config
) -> _Pane:
    """Read what weights may depend on, and find the profiles."""

    def column(name: str) -> npt.NDArray[np.int32]:
        parts = [table[name].to_numpy() for table in tables]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    counts = {
        each.name: [column(own.name) for own in documents.mention_fields(each)]
        for each in attributes
    }
    lengths = [
        pc.call_function("binary_length", [table[documents.TEXT.name]]).to_numpy()
        for table in tables
    ]
    size = np.concatenate(lengths).astype(np.int64) if lengths else np.zeros(0, np.int64)
    fields = dict.fromkeys([*config.repair.keep, *config.repair.totals])
    values = {name: _values(tables, name) for name in fields if "*" not in name}
    of = profiles(
        [*(each for own in counts.values() for each in own), size],
        [numbers for numbers, _ in values.values()],
    )
    return _Pane(counts, size, values, of)


def _values(tables: Sequence[pa.Table], name: str) -> tuple[Ints, list[str]]:
    """The values of a field: the documents' as numbers, and their names, the most frequent first.

    The rarest values are one. A document without the field has the value “none”.
    """
    texts: list[pa.Array] = []
    for table in tables:
        if INPUT + name not in table.column_names:
            texts.append(pa.nulls(len(table), pa.string()))
            continue
        own = table[INPUT + name].combine_chunks()
        if pa.types.is_nested(own.type) or pa.types.is_binary(own.type):
            own = pa.array([None if each is None else str(each) for each in own.to_pylist()])
        texts.append(own.cast(pa.string()))
    encoded = pa.chunked_array(texts, pa.string()).combine_chunks().fill_null("none")
    encoded = encoded.dictionary_encode()
    found: list[str] = encoded.dictionary.to_pylist()
    numbers = encoded.indices.to_numpy().astype(np.int64)
    counts = np.bincount(numbers, minlength=len(found)).tolist()
    order = sorted(range(len(found)), key=lambda at: (-counts[at], found[at]))
    place = np.empty(len(found), np.int64)
    place[order] = np.minimum(np.arange(len(found)), MOST_VALUES)
    names = [found[at] for at in order[:MOST_VALUES]]
    return place[numbers], names + (["others"] if len(found) > MOST_VALUES else [])


def _keeps(
    pane: _Pane, attributes: Sequence[documents.Attribute], config: Config
) -> Iterator[Keep]:
    """What weights must keep."""
    settings, documents_ = config.repair, len(pane.of)
    room = settings.keep_within * documents_
    if settings.keep_length < 1 and documents_:
        size, whole = pane.total(pane.bytes), float(pane.bytes.sum())
        part = settings.keep_length * whole
        yield Keep("the length of the texts in bytes", size, whole - part, whole + part)
    for name, (numbers, values) in pane.values.items():
        asked = settings.totals.get(name, {})
        for at, value in enumerate(values):
            own = pane.total(numbers == at)
            wanted = asked.get(value)
            if wanted is None and (asked or len(values) == 1):
                continue
            middle = own.sum() if wanted is None else wanted * documents_
            named = f"the share of {name} {value[:NAMED]}"
            yield Keep(named, own, middle - room, middle + room, wanted is not None)
        for value in asked:
            if value not in values and asked[value] > settings.keep_within:
                nothing = np.zeros(len(pane.total()))
                low = asked[value] * documents_ - room
                yield Keep(f"the share of {name} {value[:NAMED]}", nothing, low, documents_)
    for name, columns in pane.counts.items() if settings.least_mentions else ():
        own = np.sum([pane.total(column) for column in columns], axis=0)
        yield Keep(f"mentions of {name}", own, settings.least_mentions * own.sum(), math.inf)
    groups = {each.name: each.groups for each in attributes}
    for item in (each for each in settings.keep if "*" in each):
        first, _, second = (part.strip() for part in item.partition("*"))
        for a, one in enumerate(groups[first]):
            for b, other in enumerate(groups[second]):
                own = pane.both(a, b, (first, second))
                if own.any():
                    yield Keep(f"documents that name {one} and {other}", own, own.sum(), math.inf)


def _target(attribute: documents.Attribute) -> Floats:
    """An attribute's target shares, (M,), which sum to 1 exactly."""
    groups = len(attribute.groups)
    q = np.array([1 / groups] * groups if attribute.target is None else attribute.target)
    return q / q.sum()


def _sums(
    pane: _Pane, linear: Linearised, times: Floats, before: Mapping[str, Sequence[float]]
) -> dict[str, ledger.Sums]:
    """The weighted sums of each attribute, of documents that count so many times."""
    found: dict[str, ledger.Sums] = {}
    for name, columns in pane.counts.items():
        earlier = np.array(before.get(name, [0.0] * len(columns)), float)
        products = np.zeros((len(columns), len(columns)))
        for terms in linear.terms(pane.of, pane.counts, name, earlier, times):
            products += np.einsum("da,db->ab", terms, terms)
        counts = [float(np.einsum("d,d->", times, column)) for column in columns]
        found[name] = ledger.Sums(
            documents=int(np.any([column > 0 for column in columns], axis=0).sum()),
            counts=[round(each, DIGITS) for each in counts],
            products=_steady(products).tolist(),
        )
    return found


def _steady(products: Floats) -> Floats:
    """Products without the last digits, in which processors differ."""
    greatest = float(np.abs(products).max(initial=0.0))
    return np.round(products, min(DIGITS, LINEAR - math.ceil(math.log10(greatest or 1.0))))


def _record(found: ProfileWeights, one: Calibrator, problem: str | None) -> ledger.Weights:
    """What the ledger keeps of weights."""
    weights, count = found.weights, one.documents

    def rounded(value: float | None) -> float | None:
        return None if value is None or math.isinf(value) else round(float(value), DIGITS)

    def solved(value: float | None) -> float | None:
        return None if value is None else round(value, SOLVED)

    met = {
        each.name: ledger.WeighedAttribute(
            before=rounded(each.before),
            after=rounded(each.after),
            least=solved(each.least),
            proven=math.floor(each.proven * 10**SOLVED) / 10**SOLVED,  # a bound stays one
            wider=solved(each.wider),
            multipliers=[round(value, DIGITS) for value in each.multipliers],
        )
        for each in found.aims
    }
    return ledger.Weights(
        documents=int(count.sum()),
        total=round(float(count @ weights), DIGITS),
        squares=round(float(count @ weights**2), DIGITS),
        least=float(weights.min(initial=1.0)),
        greatest=float(weights.max(initial=1.0)),
        profiles=len(count),
        limit=one.limit,
        floor=one.least_effective,
        held=problem is None and found.price < PRICE,
        limit_price=round(found.limit_price, SOLVED),
        attributes=met,
        kept=[
            ledger.KeptTotal(
                name=each.name,
                low=rounded(each.low),
                value=round(each.value, DIGITS),
                high=rounded(each.high),
                price=round(each.price, DIGITS),
            )
            for each in found.kept
        ],
        problem=problem,
    )
