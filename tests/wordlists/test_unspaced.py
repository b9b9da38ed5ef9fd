"""Lists of scripts without blanks: the longest label counts, and the gate judges."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenflow
from evenflow.schemas.config import ConfigError, load
from evenflow.wordlists.loader import WordListError
from evenflow.wordlists.loader import load as load_list
from evenflow.wordlists.spelling import LongestMatch

CHINESE = """attribute: gender
groups:
  female: [她, 女人, 女, 母亲, 妻子, 女儿, OL]
  male: [他, 男人, 男, 父亲, 丈夫, 儿子]
"""
LABELS = ["她", "女人", "女", "母亲", "OL", "他", "男人", "男", "父亲"]
THAI = ["แม่", "พ่อ", "พ่อแม่", "ชา"]
KANA = ["ガール", "ボーイ", "ガールフレンド"]


@pytest.mark.parametrize(
    ("labels", "text", "found"),
    [
        (LABELS, "她和女人、男人说话。", ["她", "女人", "男人"]),
        (LABELS, "男女", ["男", "女"]),
        (LABELS, "我的母亲，他的父亲", ["母亲", "他", "父亲"]),
        (LABELS, "OL们, ol, TOOL, OLD", ["OL", "ol"]),
        (LABELS, "He met her.", []),
        (THAI, "พ่อแม่รักแม่", ["พ่อแม่", "แม่"]),
        (THAI, "ชา ชาย ชา\u0e49", ["ชา", "ชา"]),
        (KANA, "ガールフレンドとボーイ", ["ガールフレンド", "ボーイ"]),
        (KANA, unicodedata.normalize("NFD", "ガールとボーイ"), ["ガール", "ボーイ"]),
    ],
)
def test_the_longest_label_is_found(labels: list[str], text: str, found: list[str]) -> None:
    mentions = LongestMatch(labels).find(text)
    assert [unicodedata.normalize("NFC", text[a:b]) for a, b, _ in mentions] == found
    assert [labels[n].lower() for _, _, n in mentions] == [each.lower() for each in found]


@given(st.text(st.sampled_from("她女人男父亲OLolx 。\u0301")))
def test_mentions_are_in_order_and_are_labels(text: str) -> None:
    before = 0
    for start, end, label in LongestMatch(LABELS).find(text):
        assert before <= start < end <= len(text)
        assert text[start:end].lower() == LABELS[label].lower()
        before = end


@pytest.fixture
def wordlist(tmp_path: Path) -> str:
    path = tmp_path / "chinese.yaml"
    path.write_text(CHINESE, encoding="utf-8")
    return str(path)


def test_counts_are_by_label(wordlist: str) -> None:
    annotator = evenflow.Annotator(attributes=["gender"], wordlists=[wordlist])
    one, two = annotator.annotate_many(["母亲和他", "女"])
    assert one.counts == {"gender": {"female": 1, "male": 1}}
    assert [(each.label, each.group) for each in one.mentions] == [
        ("母亲", "female"),
        ("他", "male"),
    ]
    assert two.counts == {"gender": {"female": 1, "male": 0}}


def test_what_is_not_done_in_these_scripts_is_refused(wordlist: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only words between blanks are exchanged"):
        load(None, {"repair.mode": ["substitute"]}, ["gender"], [wordlist])
    korean = tmp_path / "korean.yaml"
    korean.write_text("attribute: gender\ngroups: {female: [여자], male: [남자]}\n")
    with pytest.raises(WordListError, match=r"whose words are not apart from others \(hangul\)"):
        load_list(korean)
