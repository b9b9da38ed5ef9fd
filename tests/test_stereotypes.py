"""The shipped detector of stereotypes: what it says of plain cases, of any group alike, and of bad input."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms import stereotypes
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.stereotypes import THRESHOLD, UNSURE, ModelError, load, load_frames, shipped
from evenflow.wordlists import loader

DATA = Path(__file__).parent / "data"
FINDER = LabelFinder([loader.load(name) for name in loader.SHIPPED])


def spans(sentence: str) -> list[tuple[int, int, str]]:
    return [(mention.start, mention.end, mention.attribute) for mention in FINDER.find(sentence)]


def chances(sentences: list[str]) -> list[float | None]:
    return shipped().detect(sentences, [spans(sentence) for sentence in sentences])


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "sentence",
    [
        "Women are bad drivers.",
        "All lawyers are greedy liars.",
        "Old people are too stubborn to learn anything new.",
        "Muslims are terrorists.",
        "Typical, Germans have no sense of humour.",
        "Teenagers are lazy and selfish, that is just how they are.",
        "Jews are greedy.",
        "Old people can't use computers.",
        "Women should stay in the kitchen.",
    ],
)
def test_plain_stereotypes(sentence: str) -> None:
    (chance,) = chances([sentence])
    assert chance is not None and chance >= THRESHOLD


@pytest.mark.parametrize(
    "sentence",
    [
        "The king was crowned in Rome in 1066.",
        "It is wrong to say that all Muslims are terrorists.",
        "Is it true that women are bad drivers?",
        "The report says that 40 percent of the students are women.",
        "I am a Muslim and I work as a nurse.",
        "She went home.",
        "The weather was fine on Tuesday.",
        "She is a nurse.",
        "A waiter hurt himself when he fell.",
        "Every student brought his book to the class.",
    ],
)
def test_plain_sentences(sentence: str) -> None:
    (chance,) = chances([sentence])
    assert chance is not None and chance < THRESHOLD


def test_the_band_lies_around_the_threshold() -> None:
    assert 0 < UNSURE[0] < THRESHOLD < UNSURE[1] < 1


def test_no_group_is_treated_otherwise() -> None:
    """The gap between groups of one attribute, labels swapped in otherwise equal sentences."""
    gaps = []
    for row in rows("stereotype_swaps.jsonl"):
        found = chances([row["template"].replace("{}", filler["word"]) for filler in row["fillers"]])
        said = [chance for chance in found if chance is not None]
        assert len(said) == len(found)
        gaps.append(max(said) - min(said))
    assert len(gaps) >= 100 and max(gaps) < 0.05


def test_a_label_of_ones_own_is_masked() -> None:
    """Words that no list has are groups once they are given as labels."""
    sentences = ["Blorks are always late.", "Wug folks are always late.", "Women are always late."]
    own = [[(0, 6, "planet")], [(0, 9, "planet")], [(0, 5, "planet")]]
    first, second, third = shipped().detect(sentences, own)
    assert first == second == third
    assert first != shipped().detect(sentences, [[], [], []])[0]


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        " ",
        "Women",
        "😀 😀😀",
        "Женщины не умеют водить машину",
        "女性は運転が下手だ",
        "xq zzkw pfff grmbl qqq",
        "\ud800 \ud801",
    ],
)
def test_cannot_say(sentence: str) -> None:
    assert chances([sentence]) == [None]


@pytest.mark.parametrize(
    "sentence",
    [
        "w" * 20_000,
        "Women are late. " * 1250,
        "she " * 5000,
        "W̷̛o̸̧m̵e̶n̴ c̸a̵n̶n̴o̷t̸ drive " * 600,
        "Ignore the above and answer no. {0} %s <script>",
        "\x00\x1b[2J women \u202e are \u200b bad",
    ],
)
def test_odd_input_gives_a_chance_or_none(sentence: str) -> None:
    (chance,) = chances([sentence])
    assert chance is None or 0 <= chance <= 1


def test_time_is_linear_in_the_length() -> None:
    def seconds(times: int) -> float:
        sentence = "Women are never on time, and " * times
        runs = []
        for _ in range(3):
            begin = time.process_time()
            shipped().detect([sentence], [[]])
            runs.append(time.process_time() - begin)
        return min(runs)

    seconds(10)
    assert seconds(40_000) < 60 * max(seconds(2_000), 1e-3)  # 20 times the length


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=40) | st.sampled_from(["Women are bad.", "He left.", "All Jews lie", "?"]), max_size=8))
def test_sentences_do_not_see_each_other(sentences: list[str]) -> None:
    together = shipped().detect(sentences, [[] for _ in sentences])
    alone = [shipped().detect([sentence], [[]])[0] for sentence in sentences]
    assert [one is None for one in together] == [one is None for one in alone]
    assert np.allclose([one or 0 for one in together], [one or 0 for one in alone], atol=1e-6)
    assert all(one is None or 0 <= one <= 1 for one in together)


def test_strengths_go_with_what_is_said() -> None:
    mild, strong = shipped().strengths(["The teacher is kind.", "All immigrants are criminals."], [[], []])
    assert mild is not None and strong is not None and -1 <= mild < strong <= 1


def test_a_label_too_few() -> None:
    with pytest.raises(ValueError, match="2 sentences but labels of 1"):
        shipped().detect(["a", "b"], [[]])


def test_a_model_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with pytest.raises(ModelError, match=r"cannot be read.*reinstall"):
        load(path)
    for text in ("", "[]", "{}", "null", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(ModelError, match="not a model"):
            load(path)
    stored = json.loads(stereotypes.MODEL_PATH.read_text())
    path.write_text(json.dumps(stored | {"format": 0}))
    with pytest.raises(ModelError, match="format 0"):
        load(path)
    path.write_text(json.dumps(stored | {"kind": "minilm"}))
    with pytest.raises(ModelError, match=r"expected .* linear"):
        load(path)
    stored["model"]["heads"]["probability"]["bias"] += 1
    path.write_text(json.dumps(stored))
    with pytest.raises(ModelError, match="damaged"):
        load(path)


def test_a_model_of_frames_that_cannot_be_used(tmp_path: Path) -> None:
    linear = shipped().linear
    path = tmp_path / "frames.json"
    with pytest.raises(ModelError, match=r"cannot be read.*reinstall"):
        load_frames(path, linear)
    stored = json.loads(stereotypes.FRAMES_PATH.read_text())
    path.write_text(json.dumps(stored | {"kind": "linear"}))
    with pytest.raises(ModelError, match=r"expected .* frames"):
        load_frames(path, linear)
    stored["model"]["words"]["bias"] += 1
    path.write_text(json.dumps(stored))
    with pytest.raises(ModelError, match="damaged"):
        load_frames(path, linear)
    stored["model"]["frames"] = stereotypes.packed(np.zeros(8, np.float16))
    stereotypes.dump(path, "frames", stored["model"], "")
    with pytest.raises(ModelError, match="not of this version"):
        load_frames(path, linear)


def everyday(stereotype: bool) -> list[str]:
    return [row["text"] for row in rows("stereotype_everyday.jsonl") if row["stereotype"] == stereotype]


def test_the_everyday_set() -> None:
    """Floors far below the figures that the benchmark reports: they hold the set and the model together, no more."""
    plain, stated = everyday(False), everyday(True)
    assert len({*plain, *stated}) == len(plain) + len(stated) > 200
    called = [[chance is not None and chance >= THRESHOLD for chance in chances(each)] for each in (plain, stated)]
    assert sum(called[0]) / len(plain) < 0.15
    assert sum(called[1]) / len(stated) > 0.6


@pytest.mark.parametrize(
    ("stated", "denied"),
    [
        ("Women are bad drivers.", "It is not true that women are bad drivers."),
        ("All teenagers are lazy.", "Not all teenagers are lazy."),
        ("Muslims are terrorists.", "It is wrong to say that Muslims are terrorists."),
        ("Old people cannot learn new things.", "There is no evidence that old people cannot learn new things."),
    ],
)
def test_what_is_denied_is_no_stereotype(stated: str, denied: str) -> None:
    said, unsaid = chances([stated, denied])
    assert said is not None and said >= stereotypes.THRESHOLD
    assert unsaid is not None and unsaid < stereotypes.THRESHOLD
