"""Nobody is changed by half, in real documents whose persons are labelled."""

from __future__ import annotations

import re
from pathlib import Path

from evenflow.transforms.lab.training import labelled
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.substitution import gendered
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists import loader

DOCUMENTS = Path(__file__).parents[2] / "data" / labelled.FILE
# Words without a label, as comments write “he’s”, “she’s” and “he’d”
SHORT = {"male": re.compile(r"(?<!\w)he[sd](?!\w)"), "female": re.compile(r"(?<!\w)shes(?!\w)")}


def test_no_contracted_pronoun_stays_when_its_person_changes() -> None:
    """In all labelled documents that have one, 257 of 3,514."""
    lists = [loader.load("gender")]
    finder, proposer = LabelFinder(lists), Substituter(lists, "gender")
    seen, half = 0, list[str]()
    for of in labelled.read(DOCUMENTS):
        if of.attribute != "gender" or not any(each.search(of.text) for each in SHORT.values()):
            continue
        found = finder.find_all(of.text)
        sentences = trimmed(of.text, uncut(bounds(of.text), found).tolist())
        sets = [
            each
            for each in proposer.propose(of.text, sentences, finder.named(found))
            if each.edits
            and not all(gendered.kind_of(one.label) == "plural" for one in each.mentions)
        ]
        owner = {of.places[at].start: who for at, who in of.owners.items()}
        edited = {edit.start for each in sets for own in each.edits.values() for edit in own}
        for each in sets:
            people = {owner[mention.start] for mention in each.mentions}
            for start, end in each.spans:
                # The others of the group in the sentence, by whom the word might be meant
                here = {
                    owner[place.start]
                    for place, group in zip(of.places, of.groups, strict=True)
                    if group == each.source and start <= place.start < end
                }
                for match in SHORT[each.source].finditer(of.text, start, end):
                    seen += people == here
                    if people == here and match.start() not in edited:
                        half.append(of.text[start:end])
    assert half == []
    assert seen > 50
