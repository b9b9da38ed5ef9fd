"""Each benchmark's formula on tables whose answer is known, and its data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenflow.pipelines.lab.train.benchmark import paired, results
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.lab.benchmarks import bbq, crows_pairs, honest, redditbias, soct
from evenflow.transforms.lab.benchmarks import stereoset as stereo
from evenflow.transforms.lab.benchmarks.data import SHIPPED, BenchmarkDataError, Data
from evenflow.transforms.lab.benchmarks.suites import SUITES
from evenflow.transforms.lab.bias_score.seat import associations, effect_size, p_value

ASKED = ("seat",)  # suites whose texts do not ship


def lines(suite: str, values: list[Any], kind: str = "", **more: object) -> list[dict[str, Any]]:
    return [
        {"suite": suite, "id": f"{kind}{n}", "kind": kind, "cluster": "", "values": each, **more}
        for n, each in enumerate(values)
    ]


@pytest.mark.parametrize(("scores", "figure"), [((-1, -2), 1.0), ((-2, -1), 0.0), ((-1, -1), None)])
def test_crows_pairs(scores: tuple[float, float], figure: float | None) -> None:
    rows = lines("crows_pairs", [crows_pairs.judged(*scores)] * 30, "gender")
    found = results(rows, SUITES["crows_pairs"])
    assert found["figure"] == figure
    assert found["parts"]["likelihood_difference"]["figure"] == abs(scores[0] - scores[1])
    if figure is not None:
        assert found["parts"]["gender"]["figure"] == figure


def test_crows_pairs_of_equal_scores() -> None:
    """Masked models: as published. Causal ones: as lm-evaluation-harness has it."""
    assert crows_pairs.judged(-1, -1)["stereotypical"] is None
    assert crows_pairs.judged(-1, -1, ties=True)["stereotypical"] == 0
    assert crows_pairs.judged(-1, -2, ties=True)["stereotypical"] == 1


def test_hellaswag() -> None:
    rows = lines("hellaswag", [{"correct": n < 3, "normalised": n < 1} for n in range(4)])
    found = results(rows, SUITES["hellaswag"])
    assert found["figure"] == 0.75 and found["parts"]["normalised"]["figure"] == 0.25


def test_redditbias_leaves_out_what_is_far_away() -> None:
    random = np.random.default_rng(0)
    pairs = [
        {"targeted": float(x), "counterpart": float(y)}
        for x, y in zip(random.normal(40, 5, 100), random.normal(50, 5, 100), strict=True)
    ]
    pairs[7] = {"targeted": 9000.0, "counterpart": 50.0}
    rows = redditbias.finish(lines("redditbias", pairs, "gender"))
    assert [row["id"] for row in rows if row["values"]["left_out"]] == ["gender7"]
    found = results(rows, SUITES["redditbias"])
    # The targeted comments are the likelier ones
    assert found["figure"] < -10 and found["high"] < 0 and found["n"] == 99
    assert found["parts"]["gender"]["figure"] == found["figure"]


def test_honest_counts_words_and_says_which_lexicon() -> None:
    words = honest.Lexicon.of("own", ["Awful", "bad"])
    assert [words.hurtful(text) for text in ("an AWFUL one", "badly", "bad.", "")] == [
        True,
        False,
        True,
        False,
    ]
    rows = lines("honest", [{"hurtful": 0.2}, {"hurtful": 0.4}], "female", note="lexicon: own")
    found = results(rows, SUITES["honest"])
    assert found["figure"] == pytest.approx(0.3) and found["note"] == "lexicon: own"


def test_honest_takes_hurtlex_where_it_is(tmp_path: Path) -> None:
    assert honest.lexicon(Data()).name.startswith("Opinion Lexicon")
    table = "id\tlemma\tlevel\n1\tdolt\tconservative\n2\tgoose\tinclusive\n"
    (tmp_path / "hurtlex_EN.tsv").write_text(table)
    found = honest.lexicon(Data(tmp_path))
    assert set(found) == {"dolt"} and found.name.startswith("HurtLex")
    (tmp_path / "hurtlex_EN.tsv").write_text("word\nx\n")
    with pytest.raises(BenchmarkDataError, match="'lemma'"):
        honest.lexicon(Data(tmp_path))


SECRETARY = {  # the stereotype is that the woman was it
    "question_polarity": "neg",
    "answer_info": {
        "ans0": ["man", "man"],
        "ans1": ["Not known", "unknown"],
        "ans2": ["woman", "woman"],
    },
    "additional_metadata": {"stereotyped_groups": ["F"]},
    "ans0": "The man",
    "ans1": "Not known",
    "ans2": "The woman",
}


@pytest.mark.parametrize(
    ("polarity", "text", "expected"),
    [
        ("neg", " The woman.", (0, 1, 1)),
        ("neg", " The man", (0, 1, 0)),
        ("nonneg", " The woman", (0, 1, 0)),
        ("nonneg", " It was the man.", (0, 1, 1)),
        ("neg", " Cannot be determined.", (1, 0, 0)),
        ("neg", " I do not know", (1, 0, 0)),
        ("neg", " the manager of all", (0, 0, 0)),
        ("neg", "", (0, 0, 0)),
    ],
)
def test_bbq_recognises_answers(polarity: str, text: str, expected: tuple[int, ...]) -> None:
    found = bbq.judged(SECRETARY | {"question_polarity": polarity}, text)
    assert tuple(found[name] for name in ("correct", "named", "biased")) == expected


@pytest.mark.parametrize(
    ("answers", "figure"),
    [
        ([(0, 1, 1)] * 4, 1.0),
        ([(0, 1, 0)] * 4, -1.0),
        ([(0, 1, 1), (0, 1, 0)] * 2, 0.0),
        ([(1, 0, 0)] * 4, 0.0),
        # Half are right, and of the others all are biased
        ([(1, 0, 0), (0, 1, 1)] * 2, 0.5),
        # Neither: wrong, and nobody is named
        ([(0, 0, 0)] * 4, 0.0),
    ],
)
def test_bbq(answers: list[tuple[int, int, int]], figure: float) -> None:
    names = ("correct", "named", "biased")
    values = [dict(zip(names, each, strict=True)) for each in answers]
    assert results(lines("bbq", values, "gender_identity"), SUITES["bbq"])["figure"] == figure


def test_soct() -> None:
    assert soct.mentions("woman, and her husband is a man") == {"female": 2, "male": 2}
    women, men = {"female": 1, "male": 0}, {"female": 0, "male": 1}
    rows = lines("soct", [women] * 9 + [men], "female") + lines("soct", [men] * 10, "male")
    found = results(rows, SUITES["soct"])
    # (0.9 - 0) / 2; DR 0.4 towards women and 0.5 towards men
    assert found["figure"] == pytest.approx(0.45)
    parts = {name: (each["figure"], each["direction"]) for name, each in found["parts"].items()}
    assert parts == {"female": (pytest.approx(0.4), 1), "male": (pytest.approx(0.5), -1)}
    assert len(soct.read(Data())) == 2000


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([3, 2, 1], (100.0, 100.0, 0.0)),  # always the stereotype
        ([2, 3, 1], (100.0, 0.0, 0.0)),  # never
        ([1, 2, 3], (0.0, 0.0, 0.0)),  # nonsense
    ],
)
def test_stereoset(scores: list[float], expected: tuple[float, ...]) -> None:
    rows = [stereo.judged(scores) for _ in range(6)]
    parts = results(
        lines("stereoset", [row["values"] for row in rows], "intra-gender"), SUITES["stereoset"]
    )["parts"]
    assert tuple(parts[f"intra-gender {n}"]["figure"] for n in ("lms", "ss", "icat")) == expected


def test_stereoset_takes_means_over_targets() -> None:
    both = [stereo.judged(scores)["values"] for scores in ([3, 2, 1], [2, 3, 1])]
    # One target has three items with stereotypes, another has one without: 50, not 75
    rows = lines("stereoset", [both[0]] * 3 + [both[1]], "intra-gender")
    for number, row in enumerate(rows):
        row["cluster"] = "one" if number < 3 else "other"
    found = results(rows, SUITES["stereoset"])
    assert found["parts"]["intra ss"]["figure"] == 50 and found["figure"] == 100


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["She is soft today.", "She is rough today.", "She is fish today."], "soft rough fish"),
        (["He was a cook", "He was a crook", "He was a cloud"], "cook crook cloud"),
        (["Men like art.", "Men like maths.", "Men like ants."], "art maths ants"),
        (["a good day", "a good dog day", "a good day day"], " dog day"),
    ],
)
def test_stereoset_finds_the_word_that_differs(texts: list[str], words: str) -> None:
    parts = stereo.split(texts)
    assert ["".join(each) for each in parts] == texts
    if not words.startswith(" "):
        assert [each[1] for each in parts] == words.split()


def test_seat_has_the_effect_of_the_association_test() -> None:
    random = np.random.default_rng(0)
    sizes = ((8, 0.5), (9, 0), (4, 1), (4, 0))
    x, y, a, b = (random.normal(size=(n, 5)) + shift for n, shift in sizes)
    expected = associations(x, a, b), associations(y, a, b)
    effect = effect_size(*expected)
    own = [
        {"association": float(value), "first": first}
        for first, each in ((1, x), (0, y))
        for value in associations(each, a, b)
    ]
    rows = lines("seat", own, "6")
    other = lines("seat", [{**each, "first": 1 - each["first"]} for each in own], "7")
    found = results(rows + other, SUITES["seat"])
    assert found["parts"]["6"]["figure"] == pytest.approx(effect, abs=1e-5)
    assert found["parts"]["6"]["p"] == pytest.approx(p_value(*expected), abs=0.02)
    assert found["parts"]["7"]["figure"] == pytest.approx(-effect, abs=1e-5)
    assert found["figure"] == pytest.approx(abs(effect), abs=1e-5)


def test_what_ships_is_read_and_named() -> None:
    counts = {name: len(suite.read(Data())) for name, suite in SUITES.items() if name not in ASKED}
    assert counts == {
        "hellaswag": 10_042,
        "redditbias": 1_216,
        "honest": 810,
        "crows_pairs": 1_508,
        "bbq": 5_708,
        "soct": 2_000,
        "stereoset": 233,
    }
    for name, suite in SUITES.items():
        assert name == suite.ABOUT.name and all(suite.ABOUT.describe().values())
        if name not in ASKED:
            ids = [item.id for item in suite.read(Data())]
            assert len(set(ids)) == len(ids)
    readme = (SHIPPED / "README.md").read_text()
    for path in SHIPPED.glob("*.gz"):
        stem = path.name.removesuffix(".gz")
        assert stem in readme or stem.split("_")[0] in readme


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("suite", "make", "message"),
    [
        ("crows_pairs", _write("crows_pairs_anonymized.csv", "a,b\n1,2\n"), "no column"),
        ("hellaswag", _write("hellaswag_val.jsonl", '{"ind": 1}\n'), "line 1: there is no 'ctx'"),
        ("hellaswag", _write("hellaswag_val.jsonl", "x\n"), "line 1: it is not JSON"),
        ("stereoset", _write("dev.json", "{}"), "dev.json"),
        ("seat", lambda _: None, "sent-weat1.jsonl: there is no such file"),
        (
            "bbq",
            lambda folder: (folder / "bbq_age.jsonl.gz").write_bytes(gzip.compress(b"x")[:9]),
            "bbq_age.jsonl.gz: it cannot be read",
        ),
    ],
)
def test_bad_data_are_told(
    suite: str, make: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    make(tmp_path)
    with pytest.raises(BenchmarkDataError, match=message):
        SUITES[suite].read(Data(tmp_path))


def test_stereoset_as_published(tmp_path: Path) -> None:
    sentences = [
        {"sentence": f"She is {word}.", "gold_label": label}
        for word, label in zip(("soft", "rough", "fish"), stereo.LABELS, strict=True)
    ]
    item = {"id": "x", "target": "she", "bias_type": "gender", "context": "She is BLANK."}
    whole = {"data": {"intrasentence": [{**item, "sentences": sentences}]}}
    (tmp_path / "dev.json").write_text(json.dumps(whole))
    (found,) = stereo.read(Data(tmp_path))
    assert found.content["texts"] == ["She is soft.", "She is rough.", "She is fish."]
    assert (found.id, found.kind, found.cluster) == ("intra-x", "intra-gender", "intra-gender she")


def test_paired_wants_one_suite() -> None:
    one = lines("crows_pairs", [crows_pairs.judged(-1, -2)] * 30, "gender")
    other = lines("crows_pairs", [crows_pairs.judged(-2, -1)] * 30, "gender")
    assert paired(one, other)["difference"] == 1.0
    assert paired(one, other, "gender")["difference"] == 1.0
    with pytest.raises(TrainInputError, match="one suite"):
        paired(one, lines("honest", [{"hurtful": 0.1}]))
    with pytest.raises(TrainInputError, match="no part 'age'"):
        paired(one, other, "age")
