"""The chains that each shipped list finds in a text."""

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.substitution import roles
from evenflow.transforms.substitution.bygroup import ByGroup
from evenflow.transforms.substitution.gendered import Gendered
from evenflow.transforms.substitution.persons import Chain
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader

LISTS = {name: loader.load(name) for name in loader.SHIPPED}
FINDERS = {name: LabelFinder([words]) for name, words in LISTS.items()}
SOURCES = {
    name: (Gendered if name == "gender" else ByGroup)(words, roles.of(words))
    for name, words in LISTS.items()
}


def chains(attribute: str, text: str) -> list[Chain]:
    return SOURCES[attribute].find_chains(text, sentences(text), FINDERS[attribute].find(text))
