"""Substitution of gender: what is seldom, a class each, rewritten from one group to the other."""

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER = loader.load("gender")
SIDES = {"f": ("female", "male"), "m": ("male", "female")}

CHANGED = [
    # case of her and his
    ("f", "The girl pressed her elbow into the snow.", "The boy pressed his elbow into the snow."),
    ("f", "She asked her lawyer for the letter.", "He asked his lawyer for the letter."),
    ("m", "A cousin of his sold us the boat.", "A cousin of hers sold us the boat."),
    ("m", "The man hid the kitten beneath his coat.", "The woman hid the kitten beneath her coat."),
    # a word without a place in the list, in the sentence before
    ("f", "The saleswoman opened a drawer. She took out a map.", "The salesman opened a drawer. He took out a map."),
    ("m", "The postman rang twice. He had lost his hat.", "The postwoman rang twice. She had lost her hat."),
    # one person without a name, told of in two sentences
    ("f", "A plumber left her bag here. She says it is heavy.", "A plumber left his bag here. He says it is heavy."),
    # called so in the family
    ("m", "Papa told us he would cook.", "Mama told us she would cook."),
    # where somebody comes from is no name of his
    ("m", "The cyclist, a father of two from Leeds, fell. He sued.", "The cyclist, a mother of two from Leeds, fell. She sued."),
    # a dog beside a person
    ("f", "The dog brought her the shoe.", "The dog brought him the shoe."),
    ("f", "A woman lost her dog.", "A man lost his dog."),
    ("m", "The lord draws the curtain.", "The lady draws the curtain."),
    # a person goes on though an animal begins the sentence
    ("f", "The girl fell. The pony stopped, and she laughed.", "The boy fell. The pony stopped, and he laughed."),
    ("f", "The dog chewed her slippers.", "The dog chewed his slippers."),
    # how long, behind an object
    ("f", "We waited for her all morning.", "We waited for him all morning."),
    ("f", "The actress took her bow.", "The actor took his bow."),
    # one thing without an article
    ("f", "The woman tuned her mandolin and slept.", "The man tuned his mandolin and slept."),
    ("f", "They carried her ashore.", "They carried him ashore."),
    ("m", "Man sells his own shadow to neighbour", "Woman sells her own shadow to neighbour"),
    # whoever is written to is nobody of whom is told
    ("f", "Dear Ingrid, your sister said she is well.", "Dear Ingrid, your brother said he is well."),
    # a veil without doctrine, an office
    ("f", "The fencer lifted her veil.", "The fencer lifted his veil."),
    ("m", "The shop steward lost his pen.", "The shop steward lost her pen."),
]
LEFT = [
    ("f", "The mare kicked her door."),
    ("m", "Our cat hates his basket, and he says so."),
    ("f", "The female lays two eggs."),
    ("f", "The matriarch leads the herd to the river."),
    ("f", "Screw the female coupling on by hand."),
    ("f", "Girl, please."),
    ("m", "Butler missed the penalty."),
    ("f", "He teaches at a girls' school."),
    ("m", "The boys' choir sings at five."),
    ("m", "Like father, like son."),
    ("m", "Give a man a fish and you feed him for a day."),
    ("f", "The black widow hid under the stone."),
    ("f", "Our neighbour Ayla sings; she is loud."),
    ("m", "The groom led the horses out."),
    ("f", "The queen hid among the workers of the hive."),
    ("m", "He was born at sea. At forty, Tom Barnes bought a farm."),
    ("f", "The dog wagged her tail until she fell asleep."),
    ("m", "It was boys' night at the pub."),
    ("f", "She could not sign it without her husband's consent."),
    ("f", "The statute forbade women to fish there."),
    ("m", "She went to see a man about a dog."),
    ("f", "The wreck lies on her side."),
]


@pytest.mark.parametrize(("side", "text", "wanted"), CHANGED)
def test_what_is_seldom_changes_with_its_sentence(side: str, text: str, wanted: str) -> None:
    source, target = SIDES[side]
    assert rewrite(text, [GENDER], "gender", source=source, target=target).text == wanted


@pytest.mark.parametrize(("side", "text"), LEFT)
def test_what_is_nobody_or_named_stays(side: str, text: str) -> None:
    source, target = SIDES[side]
    assert rewrite(text, [GENDER], "gender", source=source, target=target).text == text
