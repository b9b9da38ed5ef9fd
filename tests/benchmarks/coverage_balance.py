"""Plans with and without balance, as in Figure 3 of IntersectionRE, and on Adult.

    python tests/benchmarks/coverage_balance.py

The paper's text (sections 4.1 and 4.2) has the 30,818 records of NYT-10 by ancestry, and the women
of three ancestries. Those of the other two are 2.3 % together; here they are divided by the
ancestries' sizes, and all with one of both: the number of records is the same. τ is 15 %, of the
new records too.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.lab.coverage.additions import Balance, Plan, Rates
from evenflow.transforms.lab.coverage.plan import plan
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.table import Table

ADULT = Path(__file__).parents[1] / "data" / "coverage" / "adult.csv"
NYT = 30_818
SHARES = {  # of all records, per cent: of the ancestry, and of its women
    "European/Western": (71.1, 9.4),
    "Middle Eastern": (11.7, None),
    "Asian": (9.2, None),
    "Latino/Caribbean": (4.9, 0.4),
    "African": (3.1, 0.3),
}
WOMEN = 12.4
FIXED = Fraction(1, 20)


def nyt(divided: tuple[float, float]) -> Table:
    """The records of NYT-10; `divided` says whose the women are that the text does not divide."""
    rest = WOMEN - sum(women for _, women in SHARES.values() if women is not None)
    parts = iter(divided)
    counts: dict[tuple[tuple[str, ...], ...], int] = {}
    for ancestry, (share, known) in SHARES.items():
        women = rest * next(parts) if known is None else known
        counts[("female",), (ancestry,)] = round(women * NYT / 100)
        counts[("male",), (ancestry,)] = round((share - women) * NYT / 100)
    return Table.of({"group": ["female", "male"], "within": sorted(SHARES)}, counts)


def adult() -> Table:
    """Adult by sex and race."""
    frame = pd.read_csv(ADULT).groupby(["sex", "race"])["records"].sum()
    values = {
        "group": sorted(frame.index.unique("sex")),
        "within": sorted(frame.index.unique("race")),
    }
    return Table.of(values, {((sex,), (race,)): int(n) for (sex, race), n in frame.items()})


def row(name: str, table: Table, made: Plan | None) -> str:
    """What a plan comes to."""
    after = table if made is None else made.after.table
    digits = after.lattice.decode(after.codes)
    ratios = []
    for value in range(len(after.values[1])):
        own = after.counts[digits[:, 1] == value]
        groups = after.counts[(digits[:, 1] == value) & (digits[:, 0] == 0)]
        ratios.append(float(groups.sum() / own.sum()))
    share = float(after.counts[digits[:, 0] == 0].sum() / after.total)
    return (
        f"  {name:10} {0 if made is None else made.records:>7,} {share:>16.3f}"
        f" {min(ratios):>10.3f} {max(ratios):>10.3f}"
    )


def main() -> None:
    """Print the plans."""
    balances = {
        "none": [],
        "adaptive": [Balance("group", "within", rates=Rates())],
        "ε = 0.05": [Balance("group", "within", FIXED)],
    }
    tables = {
        "NYT-10, women divided by size": nyt((11.7 / 20.9, 9.2 / 20.9)),
        "NYT-10, all of those Middle Eastern": nyt((1, 0)),
        "NYT-10, all of those Asian": nyt((0, 1)),
        "Adult, sex and race": adult(),
    }
    for name, table in tables.items():
        print(f"{name}: {table.total:,} records, τ = 15 %")
        print("  balance    records   share of women   least and greatest within")
        print(row("as it is", table, None))
        coverage = Coverage(table, Threshold.parse("15%"))
        for words, wanted in balances.items():
            print(row(words, table, plan(coverage, coverage.mups(), balances=wanted)))


if __name__ == "__main__":
    main()
