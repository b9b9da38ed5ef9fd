"""Rewrites a document for `evenflow explain --counterfactual`, and says why a sentence stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from evenflow.pipelines.explain.document import whole_sentences
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import chooser, exchanged
from evenflow.transforms.substitution.judges import Bar, ExchangeJudge
from evenflow.transforms.substitution.sets import apply, within
from evenflow.transforms.substitution.substituter import Method, Substituter
from evenflow.wordlists.loader import WordList


class Rewriter:
    """Rewrites every eligible sentence of documents, for each attribute from the original text.

    `source`: Change sets of this group only; None: of any group. `target`: Change them to this
    group only; None: to any whose target is not 0. `config`: Says what an exchange needs. `judge`:
    Gives the probability; None: the first stage does. `bar`: Bars exchanges, whatever the judge
    says; None: none.
    """

    def __init__(
        self,
        lists: Sequence[WordList],
        method: Method,
        source: str | None = None,
        target: str | None = None,
        config: Config | None = None,
        judge: ExchangeJudge | None = None,
        bar: Bar | None = None,
    ):
        config = config or Config()
        self._finder = LabelFinder(lists)
        stay, by_line = config.repair.protect, isinstance(judge, reading.DocumentJudge)
        self._substituters = {
            words.attribute: Substituter(lists, words.attribute, method, None, True, stay, by_line)
            for words in lists
        }
        self._judge, self._bar = judge, bar
        self._least = {name: reading.min_probability(config, name) for name in self._substituters}
        self._doubted = {name: reading.doubted(config, name) for name in self._substituters}
        self._unwanted = {
            words.attribute: [
                group
                for group, share in zip(words.groups, config.target(words) or (), strict=False)
                if not share
            ]
            for words in lists
        }
        known = {group for words in lists for group in words.groups}
        for group in (source, target):
            if group is not None and group not in known:
                raise ValueError(
                    f"group {group!r} is not there; the lists have {', '.join(sorted(known))}"
                )
        self._source, self._target = source, target

    def add_to(self, document: dict[str, Any]) -> None:
        """Add the rewritten text to a document and to each of its sentences.

        Added are text_cda, by attribute (of a sentence null: unchanged), and to each sentence its
        sets: attribute, set (a number), source, target (null: none was possible or wanted),
        confidence, reason (why it stays or is unsure) and edits.
        """
        text = document["text"]
        found = self._finder.find_all(text)
        sentences = whole_sentences(text, found)
        mentions = self._finder.named(found)
        document["text_cda"] = {}
        for row in document["sentences"]:
            row["text_cda"], row["sets"] = {}, []
        for attribute, substituter in self._substituters.items():
            done = exchanged(
                text,
                substituter.propose(text, sentences, mentions),
                self._least[attribute],
                chooser(text, self._source, self._target, self._unwanted[attribute]),
                self._judge,
                self._bar,
                self._doubted[attribute],
            )
            for number, (each, target) in enumerate(zip(done.sets, done.targets, strict=True)):
                chosen = each.edits[target] if target is not None else ()
                described = {
                    "attribute": attribute,
                    "set": number,
                    "source": each.source,
                    "target": target,
                    "confidence": round(each.confidence, 3),
                    "reason": each.reason,
                    "edits": [edit._asdict() for edit in chosen],
                }
                for place in each.sentences:
                    document["sentences"][place]["sets"].append(described)
            document["text_cda"][attribute] = done.text
            for row in document["sentences"]:
                own = within(done.edits, row["start"], row["end"])
                row["text_cda"][attribute] = apply(row["sent_text"], own) if own else None


def difference(document: dict[str, Any]) -> Text:
    """Draw the changes of a document for a terminal."""
    out = Text()
    for row in document["sentences"]:
        for attribute, changed in row["text_cda"].items():
            if changed is None:
                continue
            out.append(f"{row['sent_id']:>4}  {attribute}: ", style="dim")
            edits = sorted(
                (edit["start"], edit["end"], edit["replacement"])
                for each in row["sets"]
                if each["attribute"] == attribute
                for edit in each["edits"]
                if row["start"] <= edit["start"] and edit["end"] <= row["end"]
            )
            at = row["start"]
            for start, end, replacement in edits:
                out.append(visible(document["text"][at:start]))
                out.append(visible(document["text"][start:end]), style="red strike")
                out.append(visible(replacement), style="bold green")
                at = end
            out.append(visible(document["text"][at : row["end"]]) + "\n")
        for each in row["sets"]:
            if not each["edits"] and each["reason"]:
                out.append(
                    f"{row['sent_id']:>4}  {each['attribute']}: left as it is,"
                    f" {visible(each['reason'])} (probability {each['confidence']:g})\n",
                    style="dim",
                )
    return out
