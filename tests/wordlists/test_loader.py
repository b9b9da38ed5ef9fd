"""Word lists: the shipped ones, and the message for every defect."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from unicodedata import normalize

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evenflow.wordlists import loader, nodes, spelling
from evenflow.wordlists.loader import ORIGINAL, PROPOSED, SHIPPED, WordListError, load
from evenflow.wordlists.writing import content

FOLDER = Path(loader.__file__).parent
# Digests of the published labels (Görge et al., Tables 12 to 14), sorted: [male, female] pairs,
# group -> labels.
PUBLISHED = {
    "gender-table12": "afb1c1be026e8d94b979671f2afd0df5d863e40b4d287880a346909a353fe084",
    "age-table13": "e3c4ac74be23931878451b98f14b4295761dcf29d2e0628dda43c87a8b01af84",
    "religion-table14": "ba90b5f04abaf7f3ff44ffc4231c0b1929d0065e20498ddc9d2d8e5c9af3d148",
}


def digest(data: object) -> str:
    """SHA-256 of data as JSON."""
    return hashlib.sha256(json.dumps(data, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_lists_are_sound_and_as_published(name: str) -> None:
    words = load(name)
    assert (
        words.attribute == name.partition("-")[0]
        and words.source
        and words.licence
        and not words.exact
    )
    listed = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    if "pairs" in listed:
        data: object = sorted([male, female] for female, male in listed["pairs"])
    else:
        data = {group: sorted(labels) for group, labels in listed["groups"].items()}
    assert digest(data) == PUBLISHED[name]


@pytest.mark.parametrize("name", ORIGINAL)
def test_completed_lists_say_what_they_add(name: str) -> None:
    table = load(name)
    words = load(table.attribute)
    assert words.groups == table.groups
    added = {label: group for label, group in words.labels.items() if label not in table.labels}
    assert words.labels.keys() <= table.labels.keys() | added.keys()
    assert all(words.labels.get(label, group) == group for label, group in table.labels.items())
    assert words.provenance.keys() == added.keys()
    for label, told in words.provenance.items():
        assert words.labels[label] == words.labels[told.rpartition(" of ")[2]]


@pytest.mark.parametrize("name", PROPOSED)
def test_proposed_lists_are_marked_and_not_measured_by_default(name: str) -> None:
    words = load(name)
    assert name not in SHIPPED and words.attribute == name
    assert words.review == "proposed, not reviewed by people" and words.source and words.licence


def test_sizes_of_the_shipped_lists() -> None:
    pairs = yaml.safe_load((FOLDER / "gender-table12.yaml").read_text(encoding="utf-8"))["pairs"]
    assert len(pairs) == 142 and len({tuple(pair) for pair in pairs}) == 139
    assert sizes("gender-table12") == {"female": 123, "male": 126}
    assert sizes("gender") == {"female": 119, "male": 122}
    assert sizes("age-table13") == {"young": 83, "middle": 19, "old": 81}
    assert sizes("religion-table14") == {
        "buddhism": 18,
        "christianity": 53,
        "hinduism": 32,
        "judaism": 38,
        "islam": 75,
    }


def sizes(name: str) -> dict[str, int]:
    """Group → number of labels of a shipped list."""
    words = load(name)
    return {group: list(words.labels.values()).count(i) for i, group in enumerate(words.groups)}


def test_counterparts_of_the_shipped_pairs() -> None:
    counterparts = load("gender").counterparts
    assert counterparts["she"] == ("he",) and counterparts["her"] == ("him", "his")
    assert counterparts["bride"] == ("groom", "bridegroom") and counterparts["sir"] == (
        "mam",
        "madam",
        "ma’am",
        "dame",
    )
    assert all(
        label in counterparts[other] for label, others in counterparts.items() for other in others
    )
    assert load("age").counterparts == {}


def written(folder: Path, text: str | bytes) -> Path:
    """Writes a list and returns its path."""
    path = folder / "list.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_an_own_list(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "attribute: marital-status\nsource: me\ngroups:\n  married: [husband, newly  \n    wed,"
        " 'no']\n  single_2:\n    - Bachelor\n    - {label: May, case: exact}\npairs:\n  -"
        " [husband, BACHELOR]\n  - [newly wed, May]\n",
    )
    words = load(path)
    assert words.attribute == "marital-status" and words.groups == ("married", "single_2")
    assert words.labels == {"husband": 0, "newly wed": 0, "no": 0, "Bachelor": 1, "May": 1}
    assert (
        words.exact == {"May"}
        and words.source == "me"
        and words.licence == ""
        and words.path == str(path)
    )
    assert words.counterparts == {
        "husband": ("Bachelor",),
        "Bachelor": ("husband",),
        "newly wed": ("May",),
        "May": ("newly wed",),
    }


@pytest.mark.parametrize(
    "text",
    [
        (
            "groups: {a: [{label: May, case: exact}, {label: MAY, case: exact}], b: [{label: may,"
            " case: exact}]}"
        ),
        "groups: &all {a: [x], b: &others [y]}",
        "groups: {18-25: [young], 26-99: [old]}",
        "groups: [a, b, c]\npairs: [[x, y, z], [x, y2, z]]",
        "groups: {a: [!!str yes], b: ['1st']}",
        "\n---\ngroups: {a: [x], b: [y]}\n...\n",
    ],
)
def test_sound_lists(tmp_path: Path, text: str) -> None:
    before, after = (
        ("attribute: t\n", text)
        if "---" not in text
        else ("", text.replace("---", "---\nattribute: t"))
    )
    assert load(written(tmp_path, before + after)).labels


@pytest.mark.parametrize(
    ("groups", "exact"),
    [
        ("{a: [IT, Italian], b: [US]}", {"IT", "US"}),
        ("{a: [IT], b: [US, U.K.]}", {"IT", "US", "U.K."}),
        ("{a: [{label: IT, case: any}], b: [US, it's]}", {"US"}),
        ("{a: [WOMAN, SHE], b: [MAN]}", set()),
        ("[a, b]\npairs: [[US, we]]", {"US"}),
    ],
)
def test_labels_in_capitals_match_capitals(tmp_path: Path, groups: str, exact: set[str]) -> None:
    assert load(written(tmp_path, f"attribute: t\ngroups: {groups}\n")).exact == exact


DEFECTS = [
    ("groups: {a: [x, y], b: [y]}", ":2: y: in two groups, a (line 2) and b"),
    ("groups:\n  a: [x, y]\n  b: [Y]", ":4: Y: in two groups, a (line 3) and b (there 'y')"),
    ("groups: {a: [x, {label: y, case: exact}], b: [y]}", ":2: y: in two groups, a (line 2) and b"),
    ("groups: {a: [x], b: []}", ":2: b: an empty group"),
    ("groups: {a: [x], b: }", ":2: b: an empty group"),
    ("groups: {a: [x], b: y}", ":2: b: a list of labels was expected"),
    ("groups: {a: [x], b: {y: z}}", ":2: b: a list of labels was expected"),
    ("groups: {a: [x]}", ":2: a: an attribute needs two groups or more"),
    ("groups: {}", ":2: groups: an attribute needs two groups or more"),
    ("groups: []", ":2: groups: an attribute needs two groups or more"),
    ("groups: a", ":2: groups: a mapping of groups to labels was expected"),
    ("groups: [a, b]", ":2: groups: groups without labels"),
    ("groups: {a: [x, X], b: [y]}", ":2: X: differs from 'x' (line 2) in case alone"),
    ("groups: {a: [x, x], b: [y]}", ":2: x: listed twice (first in line 2)"),
    ('groups: {a: ["ma\'am", ma’am], b: [y]}', ':2: ma’am: no other label than "ma\'am" (line 2)'),
    ("groups: {a: [x, {label: x, case: exact}], b: [y]}", ":2: x: listed with and without case:"),
    ("groups: {a: [x, 3], b: [y]}", ":2: 3: a label must be text; put it in quotes"),
    ("groups: {a: [x, no], b: [y]}", ":2: no: a label must be text; put it in quotes"),
    ("groups: {a: [x, ], b: [y, ~]}", ":2: ~: a label must be text"),
    ("groups: {a: [x, [z]], b: [y]}", ":2: a sequence: a label must be text"),
    ("groups: {a: [x, ''], b: [y]}", ":2: '': a label needs a letter"),
    ("groups: {a: [x, '60+'], b: [y]}", ":2: 60+: a label needs a letter"),
    ("groups: {a: [x, ' z'], b: ['y ']}", ":2: ' z': blanks before, after or more than one"),
    ("groups: {a: [x, 'old  man'], b: [y]}", ":2: old  man: blanks before, after or more than one"),
    ('groups: {a: [x, "old\\tman"], b: [y]}', ":2: 'old\\tman': blanks before"),
    (
        'groups: {a: [x, "wo\\u00adman"], b: [y]}',
        ":2: 'wo\\xadman': an invisible character in a label",
    ),
    ('groups: {a: [x, "\\0z"], b: [y]}', ":2: '\\x00z': an invisible character in a label"),
    ('groups: {a: [x, "\'em"], b: [y]}', ":2: 'em: a label begins with a letter or digit"),
    ("groups: {a: [x, !str z], b: [y]}", ":2: z: a label must be text"),
    ('groups: {a: [x, "\\UFFFFFFFF"], b: [y]}', "not YAML"),
    ("groups: {a: [x, _z], b: [y]}", ":2: _z: a label begins with a letter or digit"),
    ("groups: {a: [x, {label: z, case: upper}], b: [y]}", ":2: a mapping: a label with options"),
    ("groups: {a: [x, {lable: z}], b: [y]}", ":2: lable: unknown key of a label (did you mean"),
    ("groups: {a b: [x], b: [y]}", ":2: a b: a group's name has letters, digits, _ and - only"),
    ("groups: {é: [x], b: [y]}", ":2: é: a group's name has letters, digits"),
    ("groups: {a: [x], A: [y]}", ":2: A: a group named twice"),
    ("groups: {a: [x], a: [y]}", ":2: a: a group named twice"),
    ("groups: {a: [x], b: [y]}\ngroup: 3", ":3: group: unknown key (did you mean groups?)"),
    ("groups: {a: [x], b: [y]}\nlicense: CC0", ":3: license: unknown key (did you mean licence?)"),
    ("groups: {a: [x], b: [y]}\nzzz: 1", ":3: zzz: unknown key; known are attribute, source,"),
    ("groups: {a: [x], b: [y]}\nattribute: u", ":3: attribute: a key given twice (first in line"),
    ("groups: {a: [x], b: [y]}\nsource: [me]", ":3: source: text was expected"),
    ("groups: [a, b]\npairs: [[x]]", ":3: a sequence: odd counterparts: a pair has one label"),
    ("groups: [a, b]\npairs: [[x, y, z]]", "each of a, b; this has 3"),
    ("groups: [a, b]\npairs: [x]", ":3: x: odd counterparts: a pair has one label for each of"),
    ("groups: [a, b]\npairs: []", ":3: pairs: a list of pairs was expected"),
    ("groups: [a, b]\npairs: x", ":3: pairs: a list of pairs was expected"),
    ("groups: [a, b]\npairs: [[x, x]]", ":3: x: in two groups, a (line 3) and b"),
    ("groups: [a, b]\npairs: [[x, y], [y, z]]", ":3: y: in two groups, b (line 3) and a"),
    ("groups: [a, b]\npairs: [[x, y], [X, z]]", ":3: X: differs from 'x' (line 3) in case alone"),
    ("groups: {a: [x], b: [y]}\npairs: [[x, z]]", ":3: z: odd counterparts: not listed in any"),
    ("groups: {a: [x], b: [y]}\npairs: [[y, x]]", ":3: y: odd counterparts: of b (line 2), but"),
    ("groups: {a: [x, x2], b: [y]}\npairs: [[x, x2]]", ":3: x2: odd counterparts: of a (line"),
    ("groups: {a: &a [x], b: *a}", ":2: *a: aliases are not used in word lists; write the"),
    ("groups: {a: [[[[[x]]]]], b: [y]}", ": nested more than 5 deep"),
    ("groups: {a: [x], b: [y]\n", "not YAML"),
    ("groups: {a: [x], b: [y]}\n\t\nx: ]", "not YAML"),
    ("groups: {a: [x], b: [y]}\n---\nx: y", ":3: ---: a second document; a word list is one"),
]


@pytest.mark.parametrize(("text", "message"), DEFECTS)
def test_defects_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, "attribute: t\n" + text)
    with pytest.raises(WordListError) as error:
        load(path)
    assert message in str(error.value)
    assert all(line.startswith(f"{path}:") for line in str(error.value).splitlines())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: file: a word list is a mapping"),
        ("# nothing", ":1: file: a word list is a mapping"),
        ("- x\n- y", ":1: file: a word list is a mapping"),
        ("\nx", ":2: file: a word list is a mapping"),
        ("groups: {a: [x], b: [y]}", ":1: attribute: this key is missing"),
        ("attribute: t", ":1: groups: this key is missing"),
        ("attribute: t u\ngroups: {a: [x], b: [y]}", ":1: t u: an attribute's name has letters,"),
        ("attribute: [t]\ngroups: {a: [x], b: [y]}", ":1: a sequence: an attribute's name"),
        ("attribute:\ngroups: {a: [x], b: [y]}", ":1: '': an attribute's name"),
        (b"attribute: t\ngroups: {a: [x], b: [caf\xe9]}", ":2: file: not UTF-8: byte 0xe9; save"),
        ("attribute: t\ngroups: {}".encode("utf-16"), ":1: file: not UTF-8: byte 0xff"),
        ("attribute: t\n\ufeffgroups: {}", ":2: file: a byte-order mark (U+FEFF) within the text"),
        (b"attribute: t\ngroups: \x00", ":2: file: not YAML: character U+0000 is not allowed"),
        ("[" * 100_000, "nested more than 5 deep"),
        ("a: !!python/object/apply:os.system [x]", ":1: a: unknown key"),
    ],
)
def test_files_that_are_no_list(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(WordListError) as error:
        load(written(tmp_path, text))
    assert message in str(error.value)


def test_all_defects_are_reported_at_once_in_the_files_order(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "attribute: t t\ngroup: 1\ngroups:\n  a:\n    - x\n    - 3\n    - X\n  b c: [x]\n  d:"
        " []\npairs:\n  - [x]\n",
    )
    with pytest.raises(WordListError) as error:
        load(path)
    lines = [line.removeprefix(f"{path}:").split(":")[:2] for line in str(error.value).splitlines()]
    assert lines == [
        ["1", " t t"],
        ["2", " group"],
        ["6", " 3"],
        ["7", " X"],
        ["8", " b c"],
        ["8", " x"],
        ["9", " d"],
        ["11", " a sequence"],
    ]


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for name, message in (
        (tmp_path, "Is a directory; give a path, or one of gender, age, religion"),
        (tmp_path / "none.yaml", "No such file or directory; give a path"),
        ("gendre", "gender, age, religion, gender-table12, age-table13, religion-table14,"),
        ("x\0y", "null"),
    ):
        with pytest.raises(WordListError) as error:
            load(name)
        assert message in str(error.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a sparse file: reading it whole would not end
    with pytest.raises(WordListError, match="larger than 8 MiB; that is no word list"):
        load(path)


def test_a_list_with_a_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    text = "\ufeffattribute: t\r\ngroups:\r\n  a: [x]\r\n  b: [y]\r\n"
    assert load(written(tmp_path, text)).labels == {"x": 0, "y": 1}


def test_times_of_day_are_text_as_they_stand(tmp_path: Path) -> None:
    root, defects = nodes.read(written(tmp_path, "a: [1:30, 2, .nan]"))
    assert not defects and root is not None
    found = [(each.kind, each.text) for each in root.items[1].items]
    assert found == [("text", "1:30"), ("other", "2"), ("text", ".nan")]


def test_the_parser_without_the_c_library_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "attribute: t\ngroups: {a: [x, 3], b: *c}\nz: 1\n")
    messages = []
    for parser in (nodes.PARSER, yaml.SafeLoader):
        monkeypatch.setattr(nodes, "PARSER", parser)
        with pytest.raises(WordListError) as error:
            load(path)
        messages.append(str(error.value))
    assert messages[0] == messages[1] and messages[0].count("\n") == 3


LABELS = st.lists(
    # Up to the first script without blanks, Thai
    st.text(
        st.characters(categories=["L", "N"], max_codepoint=0xDFF), min_size=1, max_size=6
    ).filter(lambda s: s[0].isalpha() and spelling.is_word(s[0])),
    min_size=2,
    max_size=12,
    unique_by=lambda label: spelling.fold(label),
)


@given(LABELS)
def test_any_words_make_a_list_and_come_back(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str]
) -> None:
    groups = {"a": labels[::2], "b": labels[1::2]}
    path = written(
        tmp_path_factory.mktemp("lists"), yaml.safe_dump({"attribute": "t", "groups": groups})
    )
    listed = load(path).labels
    assert listed == {
        normalize("NFC", label): i for i, group in enumerate(groups.values()) for label in group
    }


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_file_is_a_list_or_a_message(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = written(
        tmp_path_factory.mktemp("lists"), b"attribute: t\ngroups:\n  a: [x]\n  b: [" + data
    )
    try:
        load(path)
    except WordListError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize(
    ("target", "fine"),
    [
        ("{a: 0.25, b: 0.75}", True),
        ("{a: 0, b: 1}", True),
        ("{a: 0.5}", False),
        ("{a: 0.5, b: 0.6}", False),
        ("{a: -1, b: 2}", False),
        ("{a: .nan, b: 1}", False),
        ("[0.5, 0.5]", False),
        ("{a: half, b: half}", False),
    ],
)
def test_a_list_may_have_a_target(tmp_path, target, fine):
    path = tmp_path / "list.yaml"
    text = f"attribute: x\ngroups: {{a: [one], b: [two]}}\ntarget: {target}\n"
    path.write_text(text, encoding="utf-8")
    if not fine:
        with pytest.raises(WordListError, match=r"list\.yaml:3: target: a share from 0 to 1"):
            load(str(path))
        return
    words = load(str(path))
    assert set(words.target) == {"a", "b"}
    path.write_text(content(words), encoding="utf-8")
    assert load(str(path)).target == words.target
    whole = text.replace("target", "population")
    path.write_text(whole)
    with pytest.raises(WordListError, match=r"list\.yaml:3: population: the key population_source"):
        load(str(path))
    path.write_text(whole + "population_source: census of 2020\n")
    assert load(str(path)).references == {
        "even": [0.5, 0.5],
        "population": [*words.target.values()],
    }


def test_the_list_of_ages_asks_for_young_and_old_alike():
    assert load("age").target == {"young": 0.5, "middle": 0.0, "old": 0.5}
    assert load("gender").target == {}
