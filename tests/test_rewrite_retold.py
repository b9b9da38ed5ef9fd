"""Reviews without capitals: a character whom a noun alone tells of stays, minor figures and people at large change."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER = loader.load("gender")
# What makes a text a review, long enough to be told as one.
BEFORE = (
    "the movie opened last week and the theatre was half empty . the director has made better films , and the screenplay "
    "has been through many hands . the camera shakes a good deal , the music is loud , and the sequel is on its way . "
)
NAMED = "tom barker ( harrison ford ) drives a truck . "
HER = "laura barker ( demi moore ) drives a truck . "
BEHIND = (
    " the score is fine . the ending takes too long . i looked at my watch more than once , and so did the row in front of me ."
)


def changed(said: str) -> bool:
    """Whether anything of a review changes that stands between other sentences."""
    text = BEFORE + said + BEHIND
    return rewrite(text, [GENDER], "gender").text != text


@pytest.mark.parametrize(
    "said",
    [
        # named at a distance
        "there is also a husband nagging all day long , george ( tim roth ) .",
        "a young man , jim zhorek and a dog cross the border .",
        NAMED + "he meets the banker bill morton , who is a mere boy .",
        "the film is on the life of evita per ? n , a woman who sang .",
        "clint eastwood ( a man with few words ) is the sheriff .",
        # what somebody is, without a verb
        HER + "a shy girl going through all the motions of youth .",
        # who has the part, and whose sex is the point
        "the part should have been played by a better actress .",
        "one of them is deaf , one is lame , one is a woman .",
        "we wonder which man is the thief .",
        "he spends an hour in drag . he mimics a girl's voice badly .",
        "a guy with a map and some girl with a gun run from the bats .",
        # titles
        "'the way we sing' , 'when a woman cries' , 'rust' and many more are about drink .",
        "- what men fear ( 3/10 )",
        "travolta ( sleeping girls , rust ) is good .",
        # groups with names
        NAMED + "even nice guys have bad days , and tom has one .",
        "men by the names of eastwood and peckinpah made westerns .",
        NAMED + "the guys play a show that night .",
        "our heroes have to leave the ship .",
        NAMED + "he has two brothers - one of them a cop , the other a crook .",
        NAMED + "he waits in a queue with many other men .",
        "she turns into a princess at the end .",
        "he has issues with mama .",
        "the guy rope holds the balloon .",
        "there is a boy-meets-girl subplot .",
    ],
)
def test_who_is_known_stays(said: str) -> None:
    assert not changed(said)


@pytest.mark.parametrize(
    "said",
    [
        "a waitress spills coffee on him .",
        "a man you do not know tells you to run .",
        "scantily clad women ask if you want a drink .",
        "a woman alone in a house hears a noise .",
        "overprotective mothers will write angry letters .",
        NAMED + "a woman warns him at the door .",
        "the dealers like to dance with guys .",
        "the killer takes three more women .",
        "my brother hit me with a bat .",
        "the couple next to me left , and a woman behind us laughed .",
        "a man jumps off a bridge , for crying out loud .",
    ],
)
def test_whoever_passes_by_changes(said: str) -> None:
    assert changed(said)
