"""What commands on word lists print for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.pipelines.terminal import tables
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.words import Table, counted, estimate, number, percent

SHOWN = 20  # lines of a long table; --json prints all


def complete(result: dict[str, Any]) -> None:
    """Print what a list lacks, as lines of text."""
    lacking = result["missing_counterparts"]
    print(counted(result["documents"], "document"))
    print(f"C1: {counted(len(lacking), 'label')} without a counterpart in some group")
    for label, groups in list(lacking.items())[:SHOWN]:
        print(visible(f"  {label}: none in {', '.join(groups)}"))
    forms = result["missing_forms"]
    print(
        f"C2: {len(forms)} singulars or plurals are in the corpus and not in the list;"
        f" {len(result['forms_not_in_corpus'])} more are in neither"
    )
    for each in forms[:SHOWN]:
        print(
            visible(f"  {each['word']} ({each['group']}, {each['of']}): {each['mentions']:,} times")
        )
    if max(len(lacking), len(forms)) > SHOWN:
        print("  …; --json prints all")
    for which, points in result["curves"].items():
        if not points:
            print(f"C3: {which}: no label is in the corpus")
            continue
        settled = result["settled_at"][which]
        print(
            f"C3: {which}: DR stays within {result['tolerance']:g} of its end from {settled} words"
            " a group"
        )
        for point in _some(points):
            dr = estimate(point["dr"], point["low"], point["high"])
            print(f"  {point['words']:>4} words: DR {dr}")
    print("share of all mentions, with the added forms:")
    for each in [each for each in result["labels"] if each["mentions"]][:SHOWN]:
        print(visible(f"  {each['share']:>6.1%} {each['label']} ({each['group']})"))


def _some(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points for a short table: the numbers 1, 2, 5, 10, 20, … and the last one."""
    wanted = {digit * 10**power for digit in (1, 2, 5) for power in range(5)}
    return [each for each in points[:-1] if each["words"] in wanted] + list(points[-1:])


def compare(result: dict[str, Any]) -> None:
    """Print a comparison as lines of text."""
    rows = [
        (
            each["group"],
            *(number(each["both"]), number(len(each["only_list"]))),
            *(number(len(each["only_reference"])), percent(each["precision"])),
            percent(each["recall"]),
        )
        for each in result["groups"]
    ]
    columns = ("group", "both", "only list", "only ref.", "precision", "recall")
    tables.draw(Table("", columns, rows))


def labels(result: dict[str, Any]) -> None:
    """Print the labels of a list, by group."""
    for group, words in result["groups"].items():
        print(visible(f"{group}: {', '.join(words)}"))


def checked(rows: Sequence[dict[str, Any]]) -> None:
    """Print the lists that are sound, and what is odd about them."""
    for row in rows:
        if not row["defects"]:
            labels = row.get("corpus", {}).get("labels", ())
            weak = any((each["precision"] or 0) < 0.5 for each in labels)
            state = "sound" if row["sound"] and not weak else "no defect, but see below"
            groups, count = len(row["groups"]), counted(sum(row["groups"].values()), "label")
            if "corpus" not in row:
                count += "; whether they mean other things too (may, white), --corpus shows"
            print(visible(f"{row['list']}: {state}; {counted(groups, 'group')}, {count}"))
        for label, other in row.get("common_words", {}).items():
            print(
                visible(
                    f"{row['list']}: {label} counts each “{other}” too, a frequent word;"
                    f" write {{label: {label}, case: exact}}"
                )
            )
        if "corpus" in row:
            tables.labels_in_corpus(row["corpus"])
