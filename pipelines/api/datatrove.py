"""Steps for pipelines of datatrove: demographic statistics, and a filter that judges panes.

    pipeline = [
        JsonlReader("corpus"),
        DemographicStats("stats"),
        RepresentationFilter(exclusion_writer=JsonlWriter("removed")),
        JsonlWriter("kept"),
    ]

After `StatsMerger("stats", "stats")`, `representation("stats", "fqdn")` scores each domain.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from datatrove.data import Document
from datatrove.io import DataFolderLike, get_datafolder
from datatrove.pipeline.stats.base import BaseStats
from datatrove.pipeline.stats.config import DEFAULT_TOP_K_CONFIG, GROUP, TopKConfig
from datatrove.pipeline.stats.merger import STATS_MERGED_NAME
from datatrove.utils.stats import MetricStats

from evenflow.annotator import Annotator
from evenflow.datatrove_filter import RepresentationFilter
from evenflow.schemas.ledger import Score, Sums
from evenflow.settings import Configuration, configuration
from evenflow.transforms.measures.representation.dr import score
from evenflow.wordlists.loader import WordList

__all__ = ["DemographicStats", "RepresentationFilter", "representation"]
NAMED = "documents"  # documents that name the attribute


def _products(words: WordList) -> list[tuple[str, int, int]]:
    """The statistics that hold the sums of products, which the interval needs."""
    return [
        (f"{words.attribute}_{one}_x_{other}", i, j)
        for i, one in enumerate(words.groups)
        for j, other in enumerate(words.groups)
        if i <= j
    ]


class DemographicStats(BaseStats):
    """Mentions of each group, and what DR's interval needs (gender_female, gender_documents).

    Args:
        output_folder: As for datatrove's other statistics, and so are the last two.
        groups_to_compute: summary, fqdn (domains) and suffix, unless given.
        top_k_config: How many domains are kept.
    """

    name = "⚖ Demographic stats"

    def __init__(
        self,
        output_folder: DataFolderLike,
        config: Configuration = None,
        groups_to_compute: list[GROUP] | None = None,
        top_k_config: TopKConfig = DEFAULT_TOP_K_CONFIG,
    ) -> None:
        groups = groups_to_compute or ["summary", "fqdn", "suffix"]
        super().__init__(output_folder, groups, top_k_config=top_k_config)
        self.annotator = Annotator(config)

    def extract_stats(self, doc: Document) -> dict[str, int | float]:
        """Count the mentions of a document. Raises TextError where it has no text."""
        found = self.annotator.annotate(doc.text).counts
        stats: dict[str, int | float] = {}
        for words in self.annotator.finder.lists:
            own = found[words.attribute]
            stats |= {f"{words.attribute}_{group}": count for group, count in own.items()}
            stats[f"{words.attribute}_{NAMED}"] = int(any(own.values()))
            counts = list(own.values())
            stats |= {name: counts[i] * counts[j] for name, i, j in _products(words)}
        return stats


def representation(
    folder: DataFolderLike, group: GROUP = "summary", config: Configuration = None
) -> dict[str, dict[str, Score]]:
    """Score merged statistics.

    Args:
        folder: Where `StatsMerger` has written.
        group: summary, fqdn or suffix.

    Returns:
        Scores with their intervals by key (a domain, say) and attribute.
    """
    settings, files = configuration(config), get_datafolder(folder)
    found: dict[str, dict[str, Score]] = defaultdict(dict)
    for words in settings.word_lists():
        products = _products(words)
        names = [f"{words.attribute}_{each}" for each in (NAMED, *words.groups)]
        totals: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for name in (*names, *(each for each, _, _ in products)):
            with files.open(f"{group}/{name}/{STATS_MERGED_NAME}", "rt") as file:
                for key, value in json.load(file).items():
                    totals[key][name] = round(MetricStats.from_dict(value).total)
        for key, own in totals.items():
            sums: Any = [[0] * len(words.groups) for _ in words.groups]
            for name, i, j in products:
                sums[i][j] = sums[j][i] = own[name]
            counts = [own[name] for name in names[1:]]
            every = Sums(documents=own[names[0]], counts=counts, products=sums)
            target, confidence = settings.target(words), settings.gate.confidence
            found[key][words.attribute] = score(every, target, confidence)
    return dict(found)
