"""The linguistic indicators: values by sentence, their words, equal scores for all groups, bad input, and model files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.indicators import MODEL_PATH, Indicators, ModelError, digest, load, read, shipped
from evenflow.transforms.stereotyping import indicator_tagging as tagging
from evenflow.transforms.stereotyping.indicator_joined import Joined
from evenflow.transforms.stereotyping.indicator_targets import PRONOUNS
from evenflow.transforms.stereotyping.indicator_words import is_plural
from evenflow.wordlists import loader

CASES = [
    ("All women are bad drivers.", "target", "generic target"),
    ("My neighbour was late yesterday.", "target", "specified target"),
    ("She kicked the ball over the fence.", "target", "specified target"),
    ("A Muslim is always loyal.", "target", "generic target"),
    ("Those stupid women laughed.", "connotation", "negative"),
    ("The wonderful women laughed.", "connotation", "positive"),
    ("Women laugh.", "connotation", "neutral"),
    ("Teenagers are moody.", "gram_form", "noun"),
    ("He is moody.", "gram_form", "other"),
    ("Men talk too much.", "ling_form", "generic"),
    ("These Germans are always on time.", "ling_form", "subset"),
    ("Lotta bought a car.", "ling_form", "individual"),
    ("Asians are good at chess.", "behaviour", "yes"),
    ("The girl was injured by a bomb.", "behaviour", "no"),
    ("Asians are good at chess.", "situation", "enduring characteristics"),
    ("The girl helped her mother yesterday.", "situation", "situational behaviour"),
    ("The girl was injured by a bomb.", "situation", "other"),
    ("Immigrants are lazy.", "evaluation", "negative"),
    ("Immigrants are brave and honest.", "evaluation", "positive"),
    ("Immigrants are not honest.", "evaluation", "negative"),
    ("She hates him.", "generalization", "abstract"),
    ("She kicks him.", "generalization", "concrete"),
    ("Old people are slow because they are tired.", "explanation", "yes"),
    ("Old people are slow.", "explanation", "no"),
    ("Old people are always slow.", "signal_word", "typical"),
    ("Old people are unexpectedly fast.", "signal_word", "exceptional"),
    ("Old people are slow.", "signal_word", "none"),
    ("Women are bad drivers.", "stance", "stated"),
    ("Are women bad drivers?", "stance", "asked"),
    ("Women are not worse drivers than men.", "stance", "denied"),
    ("It is wrong to say that women are bad drivers.", "stance", "countered"),
    ("He said that women are bad drivers.", "stance", "reported"),
    ("I am a Muslim and I pray five times a day.", "stance", "self"),
    ("In 2019 two women opened a shop.", "stance", "news"),
]
# Sentences whose label is swapped, by the lists' groups.
FRAMES = [
    "{} are bad drivers.",
    "All {} are lazy.",
    "Why are {} so loud?",
    "Nobody trusts {} because they lie.",
    "The {} in our street stole a car last night.",
    "It is wrong to say that {} are dirty.",
    "Most of the {} were poor and angry.",
]


def one(text: str, label: str = "") -> Indicators:
    labels = [(text.index(label), text.index(label) + len(label), "any")] if label else []
    found = shipped().indicators([text], [labels])[0]
    assert found is not None
    return found


@pytest.mark.parametrize(("text", "name", "value"), CASES)
def test_values(text: str, name: str, value: str) -> None:
    assert one(text).found[name].value == value


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("All women are bad drivers, of course.", "target", ["All women"]),
        ("All women are bad drivers, of course.", "signal_word", ["All", "of course"]),
        ("All women are bad drivers.", "content", ["are bad drivers"]),
        ("Old people are slow because they are tired.", "explanation", ["because"]),
        ("Those stupid women laughed.", "connotation", ["stupid"]),
        ("Are women bad drivers?", "stance", ["?"]),
    ],
)
def test_words(text: str, name: str, words: list[str]) -> None:
    assert [text[start:end] for start, end in one(text).found[name].words] == words


def test_a_listed_label_is_the_target() -> None:
    text = "The doctor told Mary that zorgs are greedy."
    assert one(text, "zorgs").to_json()["indicators"]["label"]["words"] == [
        {"start": text.index("zorgs"), "end": text.index("zorgs") + 5, "text": "zorgs"}
    ]


def test_stronger_sentences_score_higher() -> None:
    ordered = [
        "Two women opened a shop on Monday.",
        "The woman opened a shop.",
        "Women are fond of music.",
        "All women are stupid and greedy.",
    ]
    scores = [one(text).score for text in ordered]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


@pytest.mark.parametrize("text", ["All women are bad drivers.", "She was late, however.", "Jews are not greedy."])
def test_json_is_plain_and_its_words_are_the_text(text: str) -> None:
    data = json.loads(json.dumps(one(text).to_json()))
    assert 0 <= data["score"] <= 1
    for indicator in data["indicators"].values():
        for word in indicator["words"]:
            assert text[word["start"] : word["end"]] == word["text"]


def test_reasons_name_group_trait_and_words() -> None:
    reasons = one("All women are bad drivers.").reasons()
    assert "speaks of a whole group: 'All women'" in reasons
    assert "an enduring trait: 'are bad drivers'" in reasons
    assert "words that people find strong in such sentences: 'lazy'" in one("Teenagers are lazy.").reasons()
    assert "the sentence asks, it does not state: '?'" in one("Are women bad drivers?").reasons()


def _widest(frame: str, labels: list[str]) -> tuple[float, str, str]:
    scores = {label: one(frame.replace("{}", label), label).score for label in labels}
    high, low = max(scores, key=scores.__getitem__), min(scores, key=scores.__getitem__)
    return scores[high] - scores[low], high, low


def _listed() -> list[str]:
    return [label for name in ("gender", "age", "religion") for label in loader.load(name).labels if label not in PRONOUNS]


@pytest.mark.parametrize("frame", FRAMES)
def test_the_score_does_not_hang_on_the_group(frame: str) -> None:
    """Every plural label of the shipped lists gets the same score in the same sentence."""
    labels = [label for label in _listed() if is_plural(label.lower())]
    assert len(labels) > 50
    gap, high, low = _widest(frame, labels)
    assert gap < 0.05, (high, low)


@pytest.mark.parametrize(
    "frame", ["A {} is always rude.", "That {} stole a car.", "Every {} wants to be rich.", "I saw the {} again."]
)
def test_the_score_does_not_hang_on_one_of_the_group(frame: str) -> None:
    """Every singular label of one word gets the same score too."""
    labels = [label for label in _listed() if not is_plural(label.lower()) and label.isalpha()]
    assert len(labels) > 100
    gap, high, low = _widest(frame, labels)
    assert gap < 0.05, (high, low)


@pytest.mark.parametrize("frame", FRAMES)
def test_peoples_that_rules_find_score_the_same(frame: str) -> None:
    groups = ["women", "men", "Muslims", "Hindus", "Mexicans", "Iraqis", "immigrants", "teenagers", "Norwegians"]
    scores = [one(frame.replace("{}", group)).score for group in groups]
    assert max(scores) - min(scores) < 0.05


@pytest.mark.parametrize(
    ("her", "his"), [("She is bossy.", "He is bossy."), ("I met her.", "I met him."), ("Her car", "His car")]
)
def test_pronouns_score_the_same(her: str, his: str) -> None:
    scorer = shipped()
    first, second = scorer.indicators([f"{her} That is all.", f"{his} That is all."], [[], []])
    assert first is not None and second is not None
    assert first.score == second.score


BAD = [
    "",
    " ",
    "x",
    "women",
    "women men girls boys",
    "😀😀😀",
    "женщины плохо водят машину",
    "Frauen können einfach nicht gut Auto fahren, das weiß jeder.",
    "w̷̛̗o̵m̴e̶n̸ ̷a̵r̶e̷ ̴b̵a̶d̷",
    "a" * 20_000,
    "' \" “ ” …",
    "{} %s ${x} <b>&amp;",
]


@pytest.mark.parametrize("text", BAD)
def test_bad_input_gives_none_or_a_score(text: str) -> None:
    found = shipped().indicators([text], [[]])[0]
    assert found is None or 0 <= found.score <= 1


@pytest.mark.parametrize(
    "text", ["", "😀😀😀", "women men girls", "Frauen können einfach nicht gut Auto fahren, das weiß jeder."]
)
def test_cannot_say(text: str) -> None:
    assert shipped().indicators([text], [[]]) == [None]


def test_a_long_sentence_is_read_in_part() -> None:
    """Only so many words are read, so that a hostile sentence costs no more than a long one."""
    reading = read("women are not more lazy, " * 800, [])
    assert reading is not None
    assert len(reading.spans) == 400


def test_all_labels_is_none() -> None:
    text = "old black women"
    assert shipped().indicators([text], [[(0, 3, "age"), (4, 9, "race"), (10, 15, "gender")]]) == [None]


@given(st.text(max_size=200), st.lists(st.tuples(st.integers(0, 200), st.integers(1, 20)), max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_text(text: str, places: list[tuple[int, int]]) -> None:
    labels = [(start, min(len(text), start + size), "any") for start, size in places if start < len(text)]
    found = shipped().indicators([text, text], [labels, labels])
    assert found[0] == found[1]
    if found[0] is not None:
        assert 0 <= found[0].score <= 1
        assert found[0].reasons() is not None
        for indicator in found[0].found.values():
            assert all(0 <= start < end <= len(text) for start, end in indicator.words)


@given(st.text(alphabet="women are'nt’ not-12.,?\"", max_size=80))
def test_words_cover_all_but_blanks(text: str) -> None:
    spans = tagging.split(text)
    inside = "".join(text[start:end] for start, end in spans)
    assert inside == "".join(text.split())
    joined = Joined(tagging.tag(text, spans, {}))
    assert joined.span(0, len(joined.text)) == list(range(len(spans)))


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("The old man has never lied .", "DT JJ NN VBZ RB VBN ."),
        ("They do n't work in offices .", "PRP VBP RB VB IN NNS ."),
        ("She will buy a red car .", "PRP MD VB DT JJ NN ."),
    ],
)
def test_tags(text: str, tags: str) -> None:
    assert [token.tag for token in tagging.tag(text, tagging.split(text), {})] == tags.split()


def test_a_masked_word_is_not_seen() -> None:
    texts = ["women are here", "qqqqq are here"]
    first, second = (tagging.tag(text, tagging.split(text), {0: tagging.PLURAL}) for text in texts)
    assert [(t.lower, t.tag) for t in first] == [(t.lower, t.tag) for t in second]


def test_labels_and_sentences_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="zip"):
        shipped().indicators(["a", "b"], [[]])


def _changed(tmp_path: Path, **changes: object) -> Path:
    model = json.loads(MODEL_PATH.read_text(encoding="utf-8")) | changes
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model, ensure_ascii=False), encoding="utf-8")
    return path


def test_a_copy_loads(tmp_path: Path) -> None:
    assert load(_changed(tmp_path)).intercept == shipped().intercept


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "expected format"),
        ({"version": 0}, "version 0, expected 1"),
        ({"score": {}}, "does not fit its digest"),
    ],
)
def test_wrong_models_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        load(_changed(tmp_path, **changes))


def test_a_model_of_other_word_lists_is_refused(tmp_path: Path) -> None:
    model = json.loads(MODEL_PATH.read_text(encoding="utf-8"))
    model["files"]["indicator_words.yaml"] = "0" * 64
    with pytest.raises(ModelError, match=r"another indicator_words\.yaml"):
        load(_changed(tmp_path, files=model["files"], digest=digest(model)))


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        load(tmp_path / "none.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read as JSON"):
        load(broken)
    broken.write_text("[]", encoding="utf-8")
    with pytest.raises(ModelError, match="expected format"):
        load(broken)
