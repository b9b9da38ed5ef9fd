"""Compares what strata are with what their reference says.

The expected counts of a window are those that its own sources predict (indirect standardisation,
as hospitals are compared): E_g = sum_s n_s p_sg, for n_s mentions of stratum s and the reference's
shares p_s. The shift is DR's distance from them, 1/2 sum_g |O_g - E_g| / n. So a change of the mix
of sources is none.

Documents are the clusters: a document's residual is c_d - n_d (p_s + x), with the shift x of the
window. The error of the reference counts too. A verdict takes a lower bound

    shift - sqrt((t V)^2 + (r E)^2)

with the standard errors V of the window and E of the reference. Each pane is a new look at V, so
its quantile t is far out (LEVEL, with Student's tails on the effective documents). E is one draw
that all looks share, so less of it is enough (ONCE, with Student's tails on the documents of the
reference).

Mentions per document are compared as a ratio to what is expected. Their noise grows with them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import erfc, exp, gamma, hypot, log, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from evenflow.schemas.ledger import Score, Sums
from evenflow.transforms.measures.representation.dr import DIGITS, score
from evenflow.transforms.measures.shift.reference import LEAST_DOCUMENTS, Expected
from evenflow.transforms.measures.shift.strata import Unit, packed_size, triangle
from evenflow.transforms.measures.shift.windows import Bucket

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

# Normal quantiles: 1 look of 30,000; 1 reference of 4,000, or a fall, whose limit is far from none
LEVEL, ONCE = 4.0, 3.5
LEAST_MENTIONS = 50.0  # of a window that is judged
LEAST_RISEN = 4.0  # effective documents of which mentions rose: one long document is no rise
WIDE = 0.03  # half width of a 95 % interval with which a shift is shown


@dataclass(frozen=True)
class Windows:
    """Windows beside what is expected of them: the last pane first, then longer; M groups.

    The leading axes (...) are of windows (W,), or of windows and strata (W, S).

    Attributes:
        panes: Number of panes (...).
        documents: Number of documents (...).
        naming: Number of documents with a mention (...).
        mentions: Number of mentions (...).
        observed: Counts (..., M).
        expected: Expected counts (..., M).
        products: Sum over documents of c c^T (..., M, M).
        spread: Sum over documents of their residuals' products (..., M, M).
        usual: The same as the reference has it for such documents (..., M, M).
        squares: Sum over documents of their mentions' squares (...).
        error: Covariance of the expected shares (..., M, M).
        freedom: Degrees of freedom of that error (...).
        due: Expected number of mentions (...).
        due_error: Its standard error as a share of it (...).
        due_naming: Expected number of documents with a mention (...).
        due_naming_error: Its variance (...).
    """

    panes: Floats
    documents: Floats
    naming: Floats
    mentions: Floats
    observed: Floats
    expected: Floats
    products: Floats
    spread: Floats
    usual: Floats
    squares: Floats
    error: Floats
    freedom: Floats
    due: Floats
    due_error: Floats
    due_naming: Floats
    due_naming_error: Floats

    def at(self, *index: int | slice) -> Windows:
        """Some of the windows."""
        return Windows(*(getattr(self, each.name)[index] for each in fields(self)))

    @cached_property
    def effective(self) -> Floats:
        """Effective documents, (sum n)^2 / sum n^2."""
        return self.mentions**2 / np.maximum(self.squares, 1.0)

    @cached_property
    def raised(self) -> Floats:
        """By how much a variance over documents is larger than it seems."""
        return 1 / (1 - np.minimum(1 / np.maximum(self.effective, 1.0), 0.5))

    @cached_property
    def is_judged(self) -> Marks:
        """Which have enough to judge."""
        return (self.mentions >= LEAST_MENTIONS) & (self.effective >= LEAST_DOCUMENTS)

    @cached_property
    def excess(self) -> Floats:
        """By how much each group's share is above the expected one, (..., M)."""
        return (self.observed - self.expected) / np.maximum(self.mentions, 1.0)[..., None]

    @cached_property
    def shift(self) -> Floats:
        """The shifts, 0 to 1."""
        return np.abs(self.excess).sum(axis=-1) / 2

    @cached_property
    def errors(self) -> tuple[Floats, Floats]:
        """Standard errors of the shift: of the window, and of the reference."""
        over = (self.excess > 0).astype(float)
        most = np.maximum(self.mentions, 1.0)
        # A group that is rare here, but was not, has little spread here: the usual one counts
        own = np.maximum(_along(self.spread, over), _along(self.usual, over)) / most**2
        # A reference's own error was smaller where a share was, by chance, nearer to 0 or 1
        seen, was = ((each * over).sum(axis=-1) / most for each in (self.observed, self.expected))
        grown = np.maximum(seen * (1 - seen) / np.maximum(was * (1 - was), 1e-9), 1.0)
        reference = np.maximum(_along(self.error, over) * grown, 0.0)
        return np.sqrt(np.maximum(own * self.raised, 0.0)), np.sqrt(reference)

    @cached_property
    def at_least(self) -> Floats:
        """The lower bounds of the shift that are judged; below 0 where nothing is sure."""
        own, reference = self.errors
        looks, once = _tail(LEVEL, self.effective - 1), _tail(ONCE, self.freedom)
        return self.shift - np.sqrt((looks * own) ** 2 + (once * reference) ** 2)

    @cached_property
    def ratio(self) -> Floats:
        """Mentions as a multiple of what is expected."""
        return self.mentions / np.maximum(self.due, 1e-9)

    def ratio_is_off(self, limit: float) -> Marks:
        """Where mentions surely fell by `limit` of what is expected, or rose as much."""
        fell = self.ratio <= (1 - limit) * _least(self.due_error, self.documents)
        rose = self.ratio >= (1 + LEVEL * self.due_error) / (1 - limit)
        rose &= self.effective >= LEAST_RISEN
        return (fell | rose) & (self.due >= LEAST_MENTIONS)

    def names_more(self, limit: float) -> Marks:
        """Where documents surely name people that did not, or hardly, by `limit` as above.

        Counts of such documents are compared on square roots, which have nearly one variance.
        """
        due = np.maximum(self.due_naming, 1e-9)
        noise = np.sqrt(1 + self.due_naming_error / due) / 2
        over = np.sqrt(self.naming) - np.sqrt(due)
        return (over >= LEVEL * noise) & (self.naming * (1 - limit) >= due)

    def interval(self, confidence: float) -> Score:
        """The shift of a single window with its interval, for people.

        It is DR's interval against the expected shares, with products whose spread is that of the
        residuals, and wider by the reference's error. That error is no noise of documents: where a
        group is gone, DR's interval would take it for documents that are all alike.
        """
        shares = self.observed / self.mentions
        crossed = np.outer(shares, self.products.sum(axis=1))
        products = self.spread + crossed + crossed.T - np.outer(shares, shares) * self.squares
        sums = Sums(
            documents=int(self.naming), counts=self.observed.tolist(), products=products.tolist()
        )
        found = score(sums, (self.expected / self.mentions).tolist(), confidence)
        if found.dr is None or found.low is None or found.high is None:
            return found
        error = NormalDist().inv_cdf((1 + confidence) / 2) * float(self.errors[1])
        # Noise of several groups adds up to a shift. Where noise alone may be how they all differ
        # (chi-square), the interval begins at none
        both = self.spread * self.raised / self.mentions**2 + self.error
        apart = self.excess @ np.linalg.pinv(both) @ self.excess
        fits = chance(float(apart), len(shares) - 1) > 1 - confidence
        low = 0.0 if fits else max(found.dr - hypot(found.dr - found.low, error), 0.0)
        high = min(found.dr + hypot(found.high - found.dr, error), 1.0)
        return found.model_copy(update={"low": round(low, DIGITS), "high": round(high, DIGITS)})


@dataclass(frozen=True)
class Panel:
    """Sums of windows (W,) by stratum (S,), and what is expected of the strata.

    `known`: What is expected of the strata. `each`: The windows of each stratum, (W, S).
    """

    known: Expected
    each: Windows

    @classmethod
    def of(
        cls, buckets: Sequence[Bucket], attribute: str, unit: Unit, known: Expected
    ) -> Panel | None:
        """The panel of strata of which something is expected.

        Args:
            buckets: The panes, oldest first.
            attribute: The attribute.
            unit: What is compared.
            known: What is expected of each stratum.

        Returns:
            The panel; None where not even the last pane counts the unit, as in older outputs.
        """
        documents, numbers = _numbers(buckets, attribute, known.strata, known.shares.shape[1])
        if unit == "documents":
            reach = np.cumprod(~np.isnan(numbers).any(axis=(1, 2))).sum()
            documents, numbers = documents[:reach], numbers[:reach]
        if not len(documents):
            return None
        panes = np.cumsum([each.panes for each in reversed(buckets)], dtype=float)
        return cls.of_sums(
            panes[: len(documents)],
            documents.cumsum(axis=0),
            numbers.cumsum(axis=0),
            unit,
            known,
        )

    @classmethod
    def of_sums(
        cls, panes: Floats, documents: Floats, numbers: Floats, unit: Unit, known: Expected
    ) -> Panel:
        """The panel of panes (..., W), documents (..., W, S), and packed sums (..., W, S, K)."""
        shares = known.shares
        size = shares.shape[1]
        naming, observed = numbers[..., 0], numbers[..., 1 : 1 + size]
        products = np.zeros((*documents.shape, size, size))
        if unit == "documents":
            observed = numbers[..., -size:]
            naming, products = observed.sum(axis=-1), observed[..., None] * np.eye(size)
        else:
            rows, columns = triangle(size)
            upper = numbers[..., 1 + size : -size]
            products[..., rows, columns] = products[..., columns, rows] = upper
        mentions, sizes = observed.sum(axis=-1), products.sum(axis=-1)
        squares = sizes.sum(axis=-1)
        expected = mentions[..., None] * shares
        # Of few documents nobody knows how many mentions are due: as many as came
        due = np.where(known.is_rated, documents * known.rate, mentions)
        due_error = np.where(known.is_rated, _due_error(documents, due, known), 0.0)
        # Chance can leave out all long documents, whose shares may be others than short ones have:
        # the spread is that of as many documents of the reference, less what surely fell
        least = np.maximum(_least(due_error, documents), 0.1)
        left = np.minimum(mentions / np.maximum(due * least, 1e-9), 1.0)
        like = documents * known.squares * left**2
        # And a stream is a sample of its source too, no larger than the reference: it comes again
        like = np.maximum(squares, like) + mentions**2 / known.documents
        every = Windows(
            np.broadcast_to(panes[..., None], documents.shape),
            documents,
            naming,
            mentions,
            observed,
            expected,
            products,
            _spread(products, sizes, squares, shares, observed, expected, mentions),
            like[..., None, None] * known.spread,
            squares,
            np.broadcast_to(known.error, products.shape),
            np.broadcast_to(known.documents - 1, documents.shape),
            due,
            due_error,
            documents * known.naming / known.counted,
            2 * (documents / known.counted) ** 2 * known.naming,
        )
        return cls(known, every)

    def together(self, left: Collection[str] = ()) -> Windows:
        """The windows of all strata together, (..., W), but for those that are left out."""
        names = self.known.strata
        chosen = [names.index(name) for name in self.known.judged if name not in left]
        axis = self.each.documents.ndim - 1
        each = Windows(
            *(np.take(getattr(self.each, one.name), chosen, axis) for one in fields(Windows))
        )
        total = {one.name: getattr(each, one.name).sum(axis=axis) for one in fields(Windows)}
        most = np.maximum(total["mentions"], 1.0)[..., None]
        moved = (total["observed"] - total["expected"]) / most
        centre = self.known.shares[chosen] + moved[..., None, :]
        crossed = np.einsum("...si,...sj->...ij", centre, each.products.sum(axis=-1))
        centred = np.einsum("...s,...si,...sj->...ij", each.squares, centre, centre)
        out = Windows(**total)
        # Variances of several sources, each with degrees of freedom of its own (Satterthwaite 1946)
        weighed = (each.mentions / most) ** 2 * np.trace(each.error, axis1=-2, axis2=-1)
        own = (weighed**2 / np.maximum(each.freedom, 1.0)).sum(axis=-1)
        return replace(
            out,
            panes=each.panes[..., 0],
            spread=out.products - crossed - np.swapaxes(crossed, -1, -2) + centred,
            error=np.einsum("...s,...sij->...ij", (each.mentions / most) ** 2, each.error),
            freedom=weighed.sum(axis=-1) ** 2 / np.maximum(own, 1e-18),
            due_error=np.sqrt(((each.due * each.due_error) ** 2).sum(axis=-1))
            / np.maximum(out.due, 1e-9),
        )


def _numbers(
    buckets: Sequence[Bucket], attribute: str, strata: Sequence[str], size: int
) -> tuple[Floats, Floats]:
    """Documents (W, S) and packed sums (W, S, K) of buckets, the last first.

    Led documents that were not counted are not a number.
    """
    full = packed_size(size)
    documents = np.zeros((len(buckets), len(strata)))
    numbers = np.zeros((*documents.shape, full))
    for row, bucket in enumerate(reversed(buckets)):
        own = bucket.strata
        here = [(at, *own[name]) for at, name in enumerate(strata) if name in own]
        if here:
            documents[row, [at for at, *_ in here]] = [every for _, every, _ in here]
        named = [(at, sums[attribute]) for at, _, sums in here if attribute in sums]
        if named:
            columns, packed = zip(*named, strict=True)
            short = [np.nan] * size
            numbers[row, list(columns)] = [
                each if len(each) == full else [*each, *short] for each in packed
            ]
    return documents, numbers


def _along(matrix: Floats, over: Floats) -> Floats:
    """a^T X a of matrices (..., M, M) along sets of groups (..., M)."""
    return np.einsum("...i,...ij,...j->...", over, matrix, over)


def _spread(
    products: Floats,
    sizes: Floats,
    squares: Floats,
    shares: Floats,
    observed: Floats,
    expected: Floats,
    mentions: Floats,
) -> Floats:
    """Sums of r r^T of strata (W, S, M, M), r = c - n (shares + shift)."""
    moved = shares + (observed - expected) / np.maximum(mentions, 1.0)[..., None]
    crossed = moved[..., :, None] * sizes[..., None, :]
    both = moved[..., :, None] * moved[..., None, :] * squares[..., None, None]
    return products - crossed - np.swapaxes(crossed, -1, -2) + both


def _due_error(documents: Floats, due: Floats, known: Expected) -> Floats:
    """Standard errors of expected mentions as a share of them."""
    spread = np.maximum(known.squares - known.rate**2, known.rate)
    own = np.sqrt(documents * spread + documents**2 * known.rate_error)
    return own / np.maximum(due, 1e-9)


def _least(error: Floats, documents: Floats) -> Floats:
    """The least share of expected mentions that chance leaves, with standard errors of them."""
    # Sums of positive numbers are skewed: their cube roots are nearly normal (Wilson, Hilferty
    # 1931), but not those of few documents, of which chance can leave out all long ones
    few = error**2 + 1 / np.maximum(documents, 1.0) > 1 / LEAST_DOCUMENTS
    root = np.maximum(1 - error**2 / 9 - ONCE * error / 3, 0.0)
    return np.where(few, 1 - ONCE * error, root**3)


def chance(x: float, freedom: int) -> float:
    """The chance that a chi-square is above x, by its recurrence (Abramowitz, Stegun 26.4.8)."""
    half = min(max(x / 2, 0.0), 700.0)  # above it there is no chance that a float can hold
    powers = np.arange(freedom % 2 + 2, freedom + 1, 2) / 2
    below = erfc(sqrt(half)) if freedom % 2 else 0.0
    return below + exp(-half) * sum(half ** (power - 1) / gamma(power) for power in powers)


def _tail(z: float, freedom: Floats) -> Floats:
    """Student's quantile at the level of a normal one (Fisher's expansion)."""
    free = np.maximum(freedom, 5.0)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / free + second / free**2 + third / free**3


def shown(found: Windows) -> int:
    """The shortest window whose shift is known to ± WIDE; else the longest."""
    own, reference = found.errors
    known = found.is_judged & (1.96 * np.sqrt(own**2 + reference**2) <= WIDE)
    return int(np.argmax(known)) if known.any() else len(known) - 1


def is_off(found: Windows, limit: float, mentions: float) -> Marks:
    """Which windows are surely off."""
    more = found.ratio_is_off(mentions) | found.names_more(mentions)
    return found.is_judged & (found.at_least >= limit) | more


def first_over(found: Windows, limit: float) -> int | None:
    """The shortest window whose shift is surely at least `limit`, and goes on; None: there is none.

    A source that has recovered has shifted in long windows still. So no shorter window that can
    tell may show that less than half of the shift is left, for the same groups.
    """
    judged = found.is_judged
    over = judged & (found.at_least >= limit)
    if not over.any():
        return None
    first = int(np.argmax(over))
    groups = found.excess[first] > 0
    left = found.excess[:first, groups].sum(axis=1) + 2 * found.errors[0][:first]
    ended = judged[:first] & (left < found.shift[first] / 2)
    return None if ended.any() else first


def first_off(found: Windows, limit: float) -> int | None:
    """The shortest window whose mentions per document are surely off; None: there is none."""
    off = found.ratio_is_off(limit)
    if not off.any():
        return None
    first = int(np.argmax(off))
    ratios = found.ratio[found.due >= LEAST_MENTIONS]
    same = (ratios[0] < 1) == (found.ratio[first] < 1)
    strong = abs(log(max(ratios[0], 1e-9))) >= -log(1 - limit) / 2
    return first if same and strong else None


def first_naming(found: Windows, limit: float) -> int | None:
    """The shortest window with surely more documents that name people, which goes on; or None."""
    off = found.names_more(limit)
    if not off.any():
        return None
    first, more = int(np.argmax(off)), found.naming - found.due_naming
    left = more + 2 * np.sqrt(np.maximum(found.naming, 1.0))
    ended = left < found.documents * more[first] / found.documents[first] / 2
    return None if ended[:first].any() else first
