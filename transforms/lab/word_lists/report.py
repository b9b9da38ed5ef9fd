"""What a word list lacks in a corpus, and how it differs from another, as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from evenflow.transforms.lab.word_lists import compare, complete, criteria
from evenflow.transforms.lab.word_lists import corpus as corpora
from evenflow.transforms.lab.word_lists.complete import Missing
from evenflow.transforms.lab.word_lists.corpus import Mentions
from evenflow.transforms.measures.representation import dr
from evenflow.transforms.substitution import roles
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList


def completed(
    name: str, texts: Iterable[list[str]], least: int, tolerance: float
) -> tuple[dict[str, Any], WordList]:
    """Find what a word list lacks: counterparts, singulars and plurals, convergence.

    Args:
        name: A shipped list's name, or a list's path.
        texts: A corpus, in blocks.
        least: Mentions that an added form needs.
        tolerance: DR has settled within this of its end.

    Returns:
        What it lacks, and the list with the added forms.
    """
    words = loader.load(name)
    missing = complete.missing_numbers(words)
    before, after = corpora.count(texts, [words, complete.with_words(words, missing)])
    counts = after.frequencies
    present = sorted(
        (each for each in missing if counts[each.word] >= least),
        key=lambda each: (-counts[each.word], each.word),
    )
    fuller = _with_forms(words, complete.with_partners(words, present, missing))
    kept = [label in fuller.labels for label in after.labels]
    after = replace(
        after,
        words=fuller,
        labels=[label for label in after.labels if label in fuller.labels],
        groups=after.groups[kept],
        counts=after.counts[:, kept],
    )
    curves = {"list": complete.curve(before), "completed": complete.curve(after)}
    result = {
        "list": name,
        "documents": before.documents,
        "tolerance": tolerance,
        "missing_counterparts": complete.missing_counterparts(words, roles.of(words)),
        "missing_forms": [
            {"word": each.word, "group": words.groups[each.group], "of": each.of}
            | {"mentions": counts[each.word]}
            for each in present
        ],
        "forms_not_in_corpus": sorted(each.word for each in missing if not counts[each.word]),
        "curves": {
            which: [{"words": each.words, **each.score.model_dump()} for each in points]
            for which, points in curves.items()
        },
        "settled_at": {
            which: complete.settled(points, tolerance) for which, points in curves.items()
        },
        "labels": [
            {"label": label, "group": group, "mentions": mentions, "share": round(share, 6)}
            for label, group, mentions, share in compare.shares(after)
        ],
    }
    return result, fuller


def compared(name: str, reference: str, texts: Iterable[list[str]] | None) -> dict[str, Any]:
    """Compare a word list with a reference: overlap, precision, recall, and DR under each.

    Args:
        name: A shipped list's name, or a list's path.
        reference: The list that it is compared with.
        texts: A corpus, in blocks; None: without DR.

    Returns:
        What is the same and what differs.
    """
    lists = [loader.load(name), loader.load(reference)]
    groups: list[dict[str, Any]] = [
        {"group": each.group, "both": len(each.both)}
        | {"precision": each.precision, "recall": each.recall}
        | {"only_list": each.only_list, "only_reference": each.only_reference}
        for each in compare.overlaps(*lists)
    ]
    result: dict[str, Any] = {"list": name, "reference": reference, "groups": groups}
    if texts is not None:
        found = corpora.count(texts, lists)
        result["dr"] = [dr.score(dr.sums(each.by_group())).model_dump() for each in found]
        result["difference"] = compare.difference(*_same_groups(found))
    return result


def _same_groups(found: Sequence[Mentions]) -> Sequence[Mentions]:
    """Mentions whose second list has its groups in the order of the first."""
    first, second = found
    order = [second.words.groups.index(group) for group in first.words.groups]
    words = replace(second.words, groups=first.words.groups)
    place = {old: new for new, old in enumerate(order)}
    groups = second.groups.copy()
    for old, new in place.items():
        groups[second.groups == old] = new
    return [first, replace(second, words=words, groups=groups)]


def _with_forms(words: WordList, present: Sequence[Missing]) -> WordList:
    """The list with forms, their pairs, and where they come from."""
    pairs = [*words.pairs, *complete.missing_pairs(words, present)]
    made = {each.word: f"{each.why}, other number of {each.of}" for each in present}
    return replace(
        complete.with_words(words, present),
        pairs=tuple(dict.fromkeys(pairs)),
        provenance=words.provenance | made,
    )


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
    """Check word lists and their role maps.

    Args:
        names: Shipped lists' names, or lists' paths.

    Returns:
        For each list whether it is sound, its sizes and common words, or its defects.
    """
    out: list[dict[str, Any]] = []
    for name in names:
        try:
            words = loader.load(name)
            roles.of(words)  # the role map, if the list's folder has one
            common = criteria.common_words(words)
            out.append(
                {"list": name, "sound": True, **sizes(words), "defects": [], "common_words": common}
            )
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
