"""What a word list lacks in a corpus, and how it differs from another, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from evenflow.transforms.lab.word_lists import complete, criteria
from evenflow.transforms.lab.word_lists import corpus as corpora
from evenflow.transforms.substitution import roles
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList

TOLERANCE = 0.001  # of DR, within which it has settled


def completed(name: str, texts: Iterable[list[str]]) -> tuple[dict[str, Any], WordList]:
    """Find what a word list lacks: counterparts, singulars and plurals, convergence."""
    words = loader.load(name)
    missing = complete.missing_numbers(words)
    before, after = corpora.count(texts, [words, complete.with_forms(words, missing)])
    counts = after.frequencies
    present = sorted(
        (each for each in missing if counts[each.word]),
        key=lambda each: (-counts[each.word], each.word),
    )
    fuller = complete.with_forms(words, present, missing)
    kept = [label in fuller.labels for label in after.labels]
    after = replace(
        after,
        words=fuller,
        labels=[label for label in after.labels if label in fuller.labels],
        groups=after.groups[kept],
        counts=after.counts[:, kept],
    )
    curves = {"list": complete.curve(before), "completed": complete.curve(after)}
    whole = max(1, int(after.totals.sum()))
    result = {
        "list": name,
        "documents": before.documents,
        "tolerance": TOLERANCE,
        "missing_counterparts": complete.missing_counterparts(words, roles.of(words)),
        "missing_forms": [
            {"word": each.word, "group": words.groups[each.group], "of": each.of}
            | {"mentions": counts[each.word]}
            for each in present
        ],
        "forms_not_in_corpus": sorted(each.word for each in missing if not counts[each.word]),
        "curves": {
            which: [{"words": n, **each.model_dump()} for n, each in enumerate(points, 1)]
            for which, points in curves.items()
        },
        "settled_at": {
            which: complete.settled(points, TOLERANCE) for which, points in curves.items()
        },
        "labels": [
            {"label": label, "group": fuller.groups[fuller.labels[label]], "mentions": count}
            | {"share": round(count / whole, 6)}
            for label, count in sorted(
                after.frequencies.items(), key=lambda each: (-each[1], each[0])
            )
        ],
    }
    return result, fuller


def compared(name: str, reference: str) -> dict[str, Any]:
    """Compare a word list with a reference: overlap, precision and recall."""
    groups = complete.overlaps(loader.load(name), loader.load(reference))
    return {"list": name, "reference": reference, "groups": groups}


def sizes(words: WordList) -> dict[str, Any]:
    """A list's groups with their numbers of labels."""
    groups = list(words.labels.values())
    return {
        "attribute": words.attribute,
        "groups": {group: groups.count(index) for index, group in enumerate(words.groups)},
        "source": words.source,
        "review": words.review,
    }


def checked(names: Iterable[str]) -> list[dict[str, Any]]:
    """Check word lists and their role maps."""
    out: list[dict[str, Any]] = []
    for name in names:
        try:
            words = loader.load(name)
            roles.of(words)  # the role map, if the list's folder has one
            common = criteria.common_words(words)
            row = {"list": name, "sound": not common, **sizes(words), "defects": []}
            out.append(row | {"common_words": common})
        except (loader.WordListError, roles.RoleMapError) as error:
            out.append({"list": name, "sound": False, "defects": str(error).splitlines()})
    return out


def shown(words: WordList) -> dict[str, Any]:
    """A word list as data, its labels by group."""
    names = ("attribute", "source", "licence", "review", "provenance")
    groups = {
        group: [label for label, i in words.labels.items() if i == n]
        for n, group in enumerate(words.groups)
    }
    return {name: getattr(words, name) for name in names} | {
        "groups": groups,
        "exact": sorted(words.exact),
        "counterparts": words.counterparts,
    }
