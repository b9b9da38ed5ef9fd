"""What commands on word lists print for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.pipelines.terminal import tables
from evenflow.pipelines.terminal.lines import visible

SHOWN = 20  # lines of a long table; --json prints all


def complete(result: dict[str, Any]) -> None:
    """Print what a list lacks, as lines of text."""
    lacking = result["missing_counterparts"]
    print(f"{result['documents']:,} documents")
    print(f"C1: {len(lacking)} labels without a counterpart in some group")
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
            interval = "" if point["low"] is None else f" [{point['low']:.4f}, {point['high']:.4f}]"
            print(f"  {point['words']:>4} words: DR {point['dr']:.4f}{interval}")
    print("share of all mentions, with the added forms:")
    for each in [each for each in result["labels"] if each["mentions"]][:SHOWN]:
        print(visible(f"  {each['share']:>6.1%} {each['label']} ({each['group']})"))


def _some(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points for a short table: the numbers 1, 2, 5, 10, 20, … and the last one."""
    wanted = {digit * 10**power for digit in (1, 2, 5) for power in range(5)}
    return [each for each in points[:-1] if each["words"] in wanted] + list(points[-1:])


def compare(result: dict[str, Any]) -> None:
    """Print a comparison as lines of text."""
    print(visible(f"{'group':<16}{'both':>6}{'only list':>11}{'only ref.':>11}  precision  recall"))
    for each in result["groups"]:
        figures = "".join(
            f"{'–' if each[key] is None else format(each[key], '.1%'):>9}"
            for key in ("precision", "recall")
        )
        only = f"{len(each['only_list']):>11}{len(each['only_reference']):>11}"
        print(visible(f"{each['group']:<16}{each['both']:>6}{only}  {figures}"))
    if "dr" not in result:
        return
    for which, score in zip((result["list"], result["reference"]), result["dr"], strict=True):
        if score["dr"] is None:
            print(visible(f"{which}: no mention"))
            continue
        interval = "" if score["low"] is None else f" [{score['low']:.4f}, {score['high']:.4f}]"
        print(visible(f"{which}: DR {score['dr']:.4f}{interval}, {score['mentions']:,} mentions"))
    if result["difference"] is not None:
        value, low, high = result["difference"]
        print(f"difference: {value:+.4f} [{low:+.4f}, {high:+.4f}]")


def labels(result: dict[str, Any]) -> None:
    """Print the labels of a list, by group."""
    for group, words in result["groups"].items():
        print(visible(f"{group}: {', '.join(words)}"))


def checked(rows: Sequence[dict[str, Any]]) -> None:
    """Print the lists that are sound, and what is odd about them."""
    for row in rows:
        if row["sound"]:
            count = sum(row["groups"].values())
            print(visible(f"{row['list']}: sound; {len(row['groups'])} groups, {count} labels"))
        for label, other in row.get("common_words", {}).items():
            print(
                visible(
                    f"{row['list']}: {label} counts each “{other}” too, a frequent word;"
                    f" write {{label: {label}, case: exact}}"
                )
            )
        if "corpus" in row:
            tables.labels_in_corpus(row["corpus"])
