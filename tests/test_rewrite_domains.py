"""Kinds of text beside comments and news: novels, school mathematics, encyclopaedias, and tasks on a text."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import lives, narration
from evenflow.wordlists import loader

GENDER = loader.load("gender")
NOVEL = """"Come in, Mrs. Harwood," said the miller, holding the lamp. "You must be cold."

"Not at all," replied the widow; "I walked quickly, and the dog kept beside me all the way from the bridge."

"Then sit by the fire," cried Hubert, who had been mending a boot. He drew up a stool, and the rest of the household
made room.

The widow sat down, and took off her gloves one after the other, while the others waited for the news that she had
promised.

"There is a stranger at the inn," exclaimed Mrs. Harwood at last. "A man with a wooden leg, who pays in gold and never
says whence it came. He has asked about the mill, and about its owner, and about the old road to the quarry, which
nobody has taken these ten years."

"Has he?" demanded Hubert. "Then we had better bolt the door. Many women in the village have told me the same, and none
of them lies."

The rain fell harder. A man with a lantern went by, and pulled his hat over his eyes. In the yard a shutter had come
loose, and at every gust it struck the wall like a hammer. Nobody spoke for a while.

"It will be the quarry he wants," murmured the miller. "There was always talk of a chest. My brother dug for it as a
boy, and found nothing but a rusty spade and the bones of a sheep." And with that he took the lamp from its hook and
went out to see to the shutter."""


def kept(text: str) -> bool:
    """Whether a text stays as it is."""
    return rewrite(text, [GENDER], "gender").text == text


def changed(text: str) -> str:
    """A text with the genders exchanged."""
    return rewrite(text, [GENDER], "gender").text


def test_a_novel_points_at_people_with_names() -> None:
    assert narration.is_story(NOVEL)
    text = changed(NOVEL)
    assert "replied the widow" in text
    assert "took off her gloves" in text
    assert "Mrs. Harwood at last" in text
    assert "My brother dug" in text


def test_a_novel_has_people_without_names() -> None:
    text = changed(NOVEL)
    assert "A woman with a lantern went by, and pulled her hat over her eyes" in text
    assert "Many men" in changed(NOVEL.replace("told me the same", "told me so"))


def test_what_is_no_piece_of_a_novel() -> None:
    assert not narration.is_story('"Come in," said the nurse. "Thanks," replied the old man.')
    assert not narration.is_story("The widow paid the bill. " * 100)
    assert changed('"Come in," said the nurse. She shut her book.') == '"Come in," said the nurse. He shut his book.'


@pytest.mark.parametrize(
    "text",
    [
        "She was survived by her daughter and two grandchildren.",
        "He is also the patron saint of the Guild of Northern Bakers.",
        "He was a fellow of the Royal Society of Arts.",
        "She plays for Real Cedros.",
        "He rose to fame as a juggler.",
        "He was a founding editor of the Harbour Review.",
    ],
)
def test_an_encyclopaedia_tells_of_real_people(text: str) -> None:
    assert kept(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("She graduated from college last year.", "He graduated from college last year."),
        ("He was elected by a landslide.", "She was elected by a landslide."),
        ("She was born in a small village.", "He was born in a small village."),
        ("She is best known for her cakes.", "He is best known for his cakes."),
        ("He plays for his school team.", "She plays for her school team."),
        ("He is a member of our choir.", "She is a member of our choir."),
        ("The nurse lost her keys.", "The nurse lost his keys."),
    ],
)
def test_plain_sentences_still_change(text: str, wanted: str) -> None:
    assert changed(text) == wanted
    assert not lives.is_told(text, 0, len(text), frozenset(text.lower().strip(".").split()))


@pytest.mark.parametrize(
    "text",
    [
        "Quellon currently works in Lisbon, where he teaches drawing.",
        "Zorvak pulls the rope as hard as he can.",
        "Hearth bought 5 pears. Yesterday she bought 7 pears. How many did she buy?",
        "Ayaan and 12 of his friends are going to the zoo.",
        "casey was late for the train so she ran. Why did Casey run?",
        "zelphine was late for the train so she ran. Why did Zelphine run?",
        "Question: WHO IS COOKING FOR LINDA WHEN SHE COMES HOME? Answer: nobody.",
    ],
)
def test_names_that_no_list_has_or_no_capital_shows(text: str) -> None:
    assert kept(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Bread costs more than he can pay.", "Bread costs more than she can pay."),
        ("Rent doubled, so she moved out.", "Rent doubled, so he moved out."),
        ("Paracetamol tablets helped her a lot.", "Paracetamol tablets helped him a lot."),
        ("The nurse and two of her friends went home.", "The nurse and two of his friends went home."),
    ],
)
def test_common_words_are_no_names(text: str, wanted: str) -> None:
    assert changed(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "W: Is this seat free?\nM: Yes, do sit down.\nQuestion: What does the woman want? What does the man say to her?",
        "What is the last name of the person who printed his own book?\n\nEdward Thornbury was a poet. Jane Thornbury drew.",
        "Linda keeps bread in a box. Barbara keeps it in a bag. Which woman's bread grows mould first?",
    ],
)
def test_questions_on_people_with_names(text: str) -> None:
    assert kept(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Which boy lost his hat?", "Which girl lost her hat?"),
        ("What is the name of the nurse who lost her keys?", "What is the name of the nurse who lost his keys?"),
        (
            "What kind of man hides his hat? Linda asked Barbara.",
            "What kind of woman hides her hat? Linda asked Barbara.",
        ),
        (
            "M: My boss is ill.\nW: What has he got?",
            "M: My boss is ill.\nW: What has she got?",
        ),
        ("What did the woman say to her boss?", "What did the man say to his boss?"),
    ],
)
def test_questions_on_anybody(text: str, wanted: str) -> None:
    assert changed(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "There are 9 girls in the choir. There are three times as many boys. How many children sing?",
        "Women should drink 2 litres a day. Men should drink 3 litres a day.",
    ],
)
def test_sexes_that_are_counted_apart(text: str) -> None:
    assert kept(text)


def test_a_name_behind_a_pronoun_of_the_other_sex() -> None:
    assert kept("From her music class, Kevin learned two songs. She also learned a dance.")


@pytest.mark.parametrize(
    "text",
    [
        "Hermes is a son of Zeus, and Artemis has a twin brother, the radiant archer Apollo.",
        "name is Robert\noccupation is actress\nBirth place is Leeds",
        "We lost to the u-21 women 's national hockey team.",
        "The actress who was playing the part of Amelia Earhart was wonderful.",
        "Laura Penn has to be the most gifted actress in town.",
        "Mark is such a lucky guy.",
        "Unlike other girls, Linda liked spiders.",
        "We met the ex-husband, opera singer Paul Lindqvist.",
        "How much does Alex earn if she works 3 hours?",
        "Who denies the rumour about his shop?\nPaul Lindqvist opened a shop.",
        "What is the quiet girl's name? Martha Lindqvist lives in Leeds.",
        "M: Excuse me, madam. Is this my gate?\nW: Yes, sir.",
        "The village is matriarchal, with women in most offices.",
        "Boy, was I wrong about that lamp.",
        "It was a god-awful mess.",
        "Earl, please send the lease to Houston.",
    ],
)
def test_who_is_known_or_nobody(text: str) -> None:
    assert kept(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The boy was late.", "The girl was late."),
        ("Who forgot his hat?", "Who forgot her hat?"),
        ("What is the waitress's name?", "What is the waiter's name?"),
        ("The girl who played the flute lost her shoe.", "The boy who played the flute lost his shoe."),
        ("My wife has to be the kindest woman in town.", "My husband has to be the kindest man in town."),
        (
            "The occupation is hard, said the miner, rubbing his hands.",
            "The occupation is hard, said the miner, rubbing her hands.",
        ),
    ],
)
def test_who_is_nobody_known(text: str, wanted: str) -> None:
    assert changed(text) == wanted
