"""Reports: whoever has a name there stays, so does who has none in the news; only what is said of anybody at all changes."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import reports
from evenflow.wordlists import loader

GENDER = loader.load("gender")
# Another article before and behind: a report is told by its length and by whom it quotes.
BEFORE = (
    "Rain fills the upper lakes\n\nThe upper lakes have risen by two metres since March, the water authority says.\n\n"
    '"It will last for two dry summers," Greta Lindqvist says.\n\n\n\n'
)
BEHIND = (
    "\n\n\n\nPorts to close for a day\n\nThe northern ports will close on Friday, the operators say, to test all cranes. "
    "Ships that come in on that day have to wait outside until the evening,"
    " and most of them will be a day late.\n"
)


def changed(article: str) -> bool:
    """Whether anything of an article changes that stands between others."""
    text = BEFORE + article + BEHIND
    return rewrite(text, [GENDER], "gender").text != text


@pytest.mark.parametrize(
    "article",
    [
        # named next
        "One grower says his pears have split after the rain.\n\nOleg Brandt near the river says it has never been so wet.",
        "A Danish chemist who lost her funding has built a cheaper battery.\n\nDr Karen Holm says it lasts for a week.",
        "One of the women facing eviction has found a flat.\n\nHelen Marsh moved in on Friday.",
        "The party's new transport spokeswoman says trams should run all night.\n\nLaura Okafor says buses are too slow.",
        "The prize has gone to a man who mapped the reef alone.\n\nKeith Voss began with a borrowed boat.",
        "A nurse has won the race with his first horse.\n\nTom Adler says nobody had trained it before.",
        "Professor Karl Oberhof with his glass organ\n\nA chemist who says he can bend glass cold is to teach it.",
        # named before, by a name that no list has
        "The raft drifted past the keeper, and Vosk measured how far. He swam behind it with a rope.",
        "The shells are thin, and Tresk figured out why. She used a laser that her team had built.",
        '"Nobody had looked there," adds Rooney, a researcher at the museum. She and colleague Dr John Bradshaw looked.',
        "The minister told Mr Beazley to wait. The leader asked the growers if his plan would suit them.",
        "M&uuml;ller-Dahl, a Swiss geologist at the survey, and her colleagues drilled through the ice.",
        "The Prime Minister John Howard was asked about it. Most people say he did not answer.",
        # named in what was cut off
        "He also keeps bees on the roof.\n\nThe honey is sold at the market.",
        "But she warns that the roof may leak again.",
        # a title, and an office before its name
        "Mr Tarrant says the mill will close.",
        "Chairwoman of Northern Dairy Growers Ruth Palmer says milk is too cheap.",
        "Rural reference group chairman Dr David Rivett says the clinic is full.",
        # a headline over a name
        "Mother of injured rider calls for fences\n\nThe ponds should have fences. Elaine Porter says so.",
    ],
)
def test_who_has_a_name_in_a_report_stays(article: str) -> None:
    assert not changed(article)


@pytest.mark.parametrize(
    "article",
    [
        "If a grower loses his crop, the bank has to wait.\n\nHelen Marsh says the law is clear.",
        "Every driver must carry his licence.\n\nHelen Marsh says fines have doubled.",
        "Any spokesman can read out a letter.\n\nHelen Marsh says the office is shut.",
        "The fee is due whenever a spokesman calls.\n\nHelen Marsh says it will rise.",
    ],
)
def test_what_is_said_of_anybody_changes(article: str) -> None:
    assert changed(article)


@pytest.mark.parametrize(
    "article",
    [
        "Otters come ashore at dusk. The biggest was a female with a scar.",
        "Wolves hunt in the valley. Two males were seen near the farm, and both were thin.",
        "Whales sing for hours. Males do it most often.",
        "The scientists asked 200 people about sleep. The effect was strongest among women.",
        "Men with flat feet run as fast as others, a new study has found.",
        "The pill may lower a man's chance of fathering a child.",
        "The clinic pays women to donate their eggs.",
        "The probe has flown past two of Earth's sister planets.",
        "The rover lost contact with its sister craft.",
        "The tombs of the Ptolemaic queens lie under the sea.",
        "The couple's risk of miscarriage was higher when the man was over 40.",
    ],
)
def test_findings_on_a_sex_stay(article: str) -> None:
    assert not changed(article)


@pytest.mark.parametrize(
    "article",
    [
        "The team operated on a 43-year-old woman who had lost consciousness, researchers say.",
        "A female motorist was fined because her lights were off.",
        "Six women were rescued from the ferry.",
        "A man was taken to hospital after a crash.\n\nPolice officer John Smith said the road was wet.",
        "Jim Dale says theft is up. Last week a tourist had his car stolen near the beach.",
        "A cyclist broke her arm when a branch fell on the path.",
        "Women and children gathered roots while the rest hunted.",
        "It is every man's dream to hear that beer is good for you.",
        "Older fathers are more likely to have ill children.",
        "The shelter is for women who have nowhere to go.",
    ],
)
def test_people_of_the_news_stay_with_a_name_or_without(article: str) -> None:
    assert not changed(article)


def test_a_short_text_and_a_story_are_no_news() -> None:
    short = "A man lost his hat in the wind, police say."
    story = (
        "The house lay at the end of the lane, and nobody had lived in it for years. The shutters hung from their hinges. " * 4
        + '"There is a light," Tom said. A woman came out of the door with a lamp in her hand.'
    )
    assert rewrite(short, [GENDER], "gender").text == "A woman lost her hat in the wind, police say."
    assert rewrite(story, [GENDER], "gender").text.endswith("A man came out of the door with a lamp in his hand.")


def test_sisters_who_are_people_change() -> None:
    assert rewrite("My sister plants trees.", [GENDER], "gender").text == "My brother plants trees."


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The lake has risen. " * 30 + '"It will last," Lindqvist says.', True),
        ("The lake has risen. " * 30 + "It will last, the scientists say.", True),
        ("The lake has risen. " * 30 + "I said it would, and they said no.", False),
        ('"It will last," Lindqvist says.', False),
        ("", False),
    ],
)
def test_a_report_quotes_somebody(text: str, wanted: bool) -> None:
    assert reports.is_report(text) is wanted


def test_articles_are_parted_by_two_empty_lines() -> None:
    assert reports.breaks("One.\n\nTwo.\r\n\r\n \r\n\nThree.\n\n\nFour.") == [0, 17, 27]
