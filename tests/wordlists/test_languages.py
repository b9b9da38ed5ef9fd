"""Lists of other languages: particles, what is no mention, and texts of the list's language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from put_out import rows

import evenflow
from evenflow.gates.expectations import frame
from evenflow.schemas.config import ConfigError
from evenflow.schemas.config import load as load_config
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.text import english, language
from evenflow.wordlists import writing
from evenflow.wordlists.loader import LANGUAGES, WordListError, load

TEXTS = {
    "es": "Su madre dijo que la señora y el señor llegaron con una muchacha muy joven a la casa.",
    "fr": "Sa mère a dit que la dame et son mari étaient arrivés avec une fille dans la maison.",
    "de": "Die Mutter sagte, dass die Dame und ihr Mann mit einem Jungen in das Haus kamen.",
    "zh": "他的父亲和儿子昨天来到了北京，他们在那里遇到了一位先生，这个男人是他的丈夫。",
    "en": "The woman said that her husband and his brother had come to the house yesterday.",
}

ENGLISH = "He and his father said that this man had met his son and the other men in the town."


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        ("es", "La madre y él", ["madre female", "él male"]),
        ("es", "la materia prima", []),
        ("de", "Der Junge las, die junge Frau schlief.", ["Junge male", "Frau female"]),
        ("ko", "어머니는 아들에게 말했다. 그는 왔다.", ["어머니 female", "아들 male", "그는 male"]),
        ("ko", "딸기를 먹었다.", []),
        ("tr", "Kadınların babası geldi.", ["kadın female", "baba male"]),
        ("tr", "Babil ve kadıncıl", []),
        ("ar", "والمرأة والرجل", ["مرأة female", "رجل male"]),
        ("zh", "他们和其他人", []),
        ("zh", "她和他的母亲", ["她 female", "他 male", "母亲 female"]),
        ("ja", "彼女は彼らに会った。", ["彼女 female"]),
        ("hi", "लड़की और लड़के", ["लड़की female", "लड़के male"]),
        ("ru", "Сестры и братьев", ["сестры female", "братьев male"]),
    ],
)
def test_mentions(code: str, text: str, found: list[str]) -> None:
    finder = LabelFinder([load(f"gender_{code}")])
    assert [f"{each.label} {each.group}" for each in finder.find(text)] == found


@pytest.mark.parametrize("code", LANGUAGES)
def test_lists_say_what_they_are_and_can_be_written(code: str, tmp_path: Path) -> None:
    words = load(f"gender_{code}")
    assert words.language.split()[0] == code
    assert words.review == "proposed, not reviewed by a speaker"
    path = tmp_path / "again.yaml"
    path.write_text(writing.content(words), encoding="utf-8")
    again = load(path)
    assert (again.labels, again.exact, again.language) == (
        words.labels,
        words.exact,
        words.language,
    )
    assert getattr(again.finder, "particles", ()) == getattr(words.finder, "particles", ())


@pytest.mark.parametrize("key", ["prefixes", "suffixes", "ignore"])
@pytest.mark.parametrize("value", ["x", [], [["x"]], [1]])
def test_particles_are_lists_of_words(key: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    own = {"attribute": "t", "groups": {"a": ["x"], "b": ["y"]}, key: value}
    path.write_text(yaml.safe_dump(own))
    with pytest.raises(WordListError, match=f"{key}: a list of words was expected"):
        load(path)


def test_languages_are_detected() -> None:
    assert {code: language.detect(text) for code, text in TEXTS.items()} == {
        code: code for code in TEXTS
    }
    assert language.detect("12 + 7 = 19.") == language.UNKNOWN


def test_a_list_is_searched_in_its_language_alone(tmp_path: Path) -> None:
    codes = list(TEXTS)
    config = {"measure.by_language": True, "repair.mode": ["measure"]}
    names = ["gender", *(f"gender_{code}" for code in codes if code != "en")]
    gate = evenflow.Gate(config, attributes=names)
    rows = [{"id": code, "text": TEXTS[code], "language": "given"} for code in codes]
    gate.run(rows, tmp_path / "out")
    [file] = (tmp_path / "out" / "accepted").glob("part-*.parquet")
    table = pq.read_table(file).to_pylist()
    assert [row["language_detected"] for row in table] == codes
    assert {row["language"] for row in table} == {"given"}
    for row in table:
        for name in names:
            own = row["id"] == (name.partition("_")[2] or "en")
            counted = row[f"mentions_{name}_female"] + row[f"mentions_{name}_male"]
            assert bool(counted) == own, (row["id"], name)
    [entry] = map(json.loads, map(Path.read_bytes, (tmp_path / "out" / "ledger").glob("0*.json")))
    assert entry["languages"] == dict.fromkeys(codes, 1)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("de", "de"),
        ("pt-BR", "pt"),
        ("zh_Hant_TW", "zh"),
        ("EN", "en"),
        *(
            (odd, "es")
            for odd in (None, "", "english", "e", "12", 3, ["de"], "de!", b"de", "x" * 9999)
        ),
    ],
)
def test_a_field_says_the_language(said: object, expected: str) -> None:
    assert language.of(TEXTS["es"], said) == expected


def test_a_field_decides_what_a_list_is_searched_in(tmp_path: Path) -> None:
    said = ["en", "es", None, "nonsense"]  # the text is Spanish
    config = {"measure.by_language": True, "measure.language_field": "lang"}
    rows = [{"id": str(n), "text": TEXTS["es"], "lang": each} for n, each in enumerate(said)]
    gate = evenflow.Gate(config, attributes=["gender", "gender_es"])
    gate.run(rows, tmp_path / "out")
    [file] = (tmp_path / "out" / "accepted").glob("part-*.parquet")
    table = pq.read_table(file).to_pylist()
    assert [row["language_detected"] for row in table] == ["en", "es", "es", "es"]
    spanish = [bool(row["mentions_gender_es_female"]) for row in table]
    assert spanish == [False, True, True, True]
    [entry] = map(json.loads, map(Path.read_bytes, (tmp_path / "out" / "ledger").glob("0*.json")))
    assert entry["languages"] == {"en": 1, "es": 3} and entry["checks"]["success"]
    measured = evenflow.measure(
        str(tmp_path / "out" / "accepted"), config, attributes=["gender_es"]
    )
    assert measured["languages"] == {"en": 1, "es": 3}
    with pytest.raises(ConfigError, match=r"measure\.language_field: .*by_language"):
        load_config(None, {"measure.language_field": "lang"})


def test_a_wrong_count_is_found_in_a_pane_with_two_languages(tmp_path: Path) -> None:
    config = {"measure.by_language": True, "measure.language_field": "lang"}
    names = ["gender", "gender_es"]
    rows = [{"id": each, "text": TEXTS["es"], "lang": each} for each in ("en", "es")]
    evenflow.Gate(config, attributes=names).run(rows, tmp_path / "out")
    [file] = (tmp_path / "out" / "accepted").glob("part-*.parquet")
    table = pq.read_table(file)
    words = load_config(None, config, names).word_lists()
    columns = frame.names(words, "id", "text")
    reader = frame.ShardReader(words, columns)

    def recounted(name: str, held: list[Any]) -> list[bool]:
        """Which documents are counted otherwise, where a column holds something else."""
        number, column = table.column_names.index(name), pa.array(held, table[name].type)
        pq.write_table(table.set_column(number, name, column), tmp_path / "held.parquet")
        found = reader.read([tmp_path / "held.parquet"])[columns.recount].tolist()
        return [isinstance(each, str) for each in found]

    for name in columns.counts:
        english, spanish = table[name].to_pylist()
        assert recounted(name, [english, spanish]) == [False, False]
        assert recounted(name, [english + 1, spanish]) == [True, False]
        assert recounted(name, [english, spanish + 1]) == [False, True]
        assert recounted(name, [english, 0]) == [False, spanish > 0]
    assert table["mentions_gender_es_female"].to_pylist()[1] > 0
    assert recounted("language_detected", ["en", "en"]) == [False, True]
    assert recounted("language_detected", ["es", "es"]) == [True, False]


def test_texts_of_other_languages_are_not_repaired(tmp_path: Path) -> None:
    words = tmp_path / "mine.yaml"  # a list of no language, with pairs that stand in both texts
    words.write_text("attribute: mine\ngroups: [a, b]\npairs: [[madre, padre], [doctor, nurse]]\n")
    config = {
        "repair.mode": ["substitute"],
        "repair.method": "base",
        "attributes.mine.target": None,
    }
    spanish, english = (
        "La madre del chico está en la casa con la madre.",
        "The doctor saw a doctor.",
    )
    for by_language in (False, True):
        gate = evenflow.Gate(
            {**config, "measure.by_language": by_language, "repair.min_probability": 0.0},
            attributes=["mine"],
            wordlists=[str(words)],
        )
        output = tmp_path / f"out{by_language}"
        gate.run([spanish, english] * 20, output)
        texts = {row["text"] for row in rows(output, "accepted", "quarantine")}
        changed = any("padre" in text for text in texts)
        assert changed is not by_language


def test_forty_documents_in_chinese_are_not_let_through_in_silence(tmp_path: Path) -> None:
    texts = [f"{number}：{TEXTS['zh']}" for number in range(40)]
    states = {}
    for code, lines in (("zh", texts), ("en", [f"{n}: {ENGLISH}" for n in range(40)])):
        name = "gender" if code == "en" else "gender_zh"
        gate = evenflow.Gate({"measure.by_language": True, "gate.warn": 0.25}, attributes=[name])
        states[code] = gate.run(lines, tmp_path / code).state
    assert states["zh"] == states["en"] == "warn"


def test_languages_load_with_configuration() -> None:
    on = load_config(None, {"measure.by_language": True}, ["gender", "gender_zh"], [])
    assert [words.only[0] for words in on.word_lists()] == ["en", "zh"]
    off = load_config(None, {}, ["gender", "gender_zh"], [])
    assert [words.only for words in off.word_lists()] == [(), ()]


SPANISH = (
    "Su hijo dijo que he visto a la señora. El son cubano suena en la casa de su padre, he dicho."
)


def test_a_list_of_the_language_counts_it(tmp_path: Path) -> None:
    names = ["gender", "gender_es"]
    output = tmp_path / "out"
    evenflow.Gate({}, attributes=names).run([SPANISH] * 20 + [ENGLISH] * 20, output)
    [entry] = map(json.loads, map(Path.read_bytes, (output / "ledger").glob("0*.json")))
    assert "other_languages" not in entry and entry["checks"]["success"]
    counts = {name: each["sums"]["counts"] for name, each in entry["attributes"].items()}
    assert counts["gender"] == [0, 140]
    assert counts["gender_es"][0] >= 20


def test_texts_of_other_languages_keep_their_words(tmp_path: Path) -> None:
    config = {"repair.mode": ["substitute"], "repair.method": "base", "repair.min_probability": 0.0}
    evenflow.Gate(config, attributes=["gender"]).run([SPANISH] * 40, tmp_path / "out")
    assert {row["text"] for row in rows(tmp_path / "out", "accepted", "quarantine")} == {SPANISH}


@pytest.mark.parametrize("code", [*TEXTS, "it", "pt", "nl", "da", "sv", "pl", "ru", "ja", "hi"])
def test_another_language_is_seen_and_english_is_not(code: str) -> None:
    text = {**TEXTS, **FURTHER}[code]
    assert language.other(text) == (None if code == "en" else code)
    assert language.other(text.upper()) == language.other(text)
    assert language.other(text, ["fi"]) is None


FURTHER = {
    "it": "La madre disse che la signora e il marito erano arrivati con una ragazza nella casa.",
    "pt": "A mãe disse que a senhora e o marido dela chegaram com uma menina muito nova em casa.",
    "nl": "De moeder zei dat de vrouw en haar man met een jongen in het huis waren gekomen.",
    "da": "Han sagde, at hans søster og den gamle mand havde taget toget hjem fra byen i går.",
    "sv": "Hon sade att hennes bror och den gamle mannen hade tagit tåget hem från staden.",
    "pl": "Matka powiedziała, że pani i jej mąż przyszli wczoraj z chłopcem do tego domu.",
    "ru": "Мать сказала, что дама и её муж пришли вчера вечером с мальчиком в этот дом.",
    "ja": "彼女の母は、あの紳士が昨日その家に少年と一緒に来たと言いました。とても驚きました。",
    "hi": "माँ ने कहा कि वह महिला और उसका पति कल एक लड़के के साथ घर आए थे।",
}


@pytest.mark.parametrize(
    "text",
    [
        "def he(self, man):\n    return self.his[man]\n\n\nclass Son(Base):\n    pass\n" * 3,
        "Daniela Ramos\nBruna Anastacio\nSantiago Muñoz\nGiovanni Rossi\nJürgen Müller\n",
        "int main(void) { struct man *he = malloc(sizeof *he); free(he); return 0; }\n" * 3,
        "name,born,place\nMaría,1990,Sevilla\nJosé,1985,Lima\nInés,1970,Quito\nLuis,1999,Cali\n",
        "[1] A. Müller et al., Phys. Rev. Lett. 12 (1999) 345-350.\n[2] J. García, 2001.\n" * 2,
        "Él dijo: vale.",
    ],
)
def test_code_tables_names_and_what_is_short_may_be_english(text: str) -> None:
    assert language.other(text) is None


def test_the_frequent_words_are_of_the_class() -> None:
    assert english.words("english") == language.WEIGHTS.keys()


def test_languages_are_set_without_by_language_alone() -> None:
    with pytest.raises(ConfigError, match=r"measure\.languages: .*by_language"):
        load_config(None, {"measure.languages": ["en"], "measure.by_language": True})
