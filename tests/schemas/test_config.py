"""The configuration: mistakes, sources of values, and its commented form."""

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenflow.schemas.config import Config, ConfigError, commented, load
from evenflow.schemas.config.attributes import AttributeSettings
from evenflow.wordlists.loader import SHIPPED, WordListError

COLOUR = "attribute: colour\ngroups:\n  red: [scarlet]\n  blue: [azure]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Path of a settings file."""
    return tmp_path / "c.yaml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pane: {rollin: 3}", ":1: pane.rollin: unknown key; did you mean 'rolling'?"),
        ("pane:\n  Rolling: 3", ":2: pane.Rolling: unknown key; did you mean 'rolling'?"),
        ("gates: {}", ":1: gates: unknown key; did you mean 'gate'?"),
        ("min_mentions: 3", "unknown key; did you mean gate.min_mentions?"),
        ("warn: 0.3", "unknown key; did you mean attributes.NAME.warn or gate.warn or"),
        ("shards: {zzzzzz: 1}", "shards.zzzzzz: unknown key; known here are rows"),
        ("attributes:\n  gender:\n    wran: 0.3", ":3: attributes.gender.wran: unknown key; did"),
        ("attributes:\n  gender:\n    targets: {}", ":3: attributes.gender.targets: unknown"),
        ("pane: {docs: many}", "pane.docs: a whole number of 1 or more, or null, was expected,"),
        ("pane: {docs: 0}", "pane.docs: a whole number of 1 or more, or null, was expected, not 0"),
        ("pane: {docs: 1.5}", "not 1.5"),
        ("pane: {docs: yes}", "not true"),
        ("pane: {mib: }", "pane.mib: a whole number of 1 or more was expected, not nothing (null)"),
        ("pane: 3", "pane: a section of keys was expected, not 3"),
        ("pane: [1]", "pane: a section of keys was expected, not a list"),
        ("gate: {warn: '0.3'}", "gate.warn: a number from 0 to 1, or null, was expected, not"),
        ("gate: {warn: {a: 1}}", "gate.warn: a number from 0 to 1, or null, was expected, not a"),
        ("gate: {warn: .nan}", "gate.warn: a number from 0 to 1, or null, was expected, not the"),
        ("gate: {warn: 2023-01-01}", "not a date"),
        ("gate: {confidence: 1}", "gate.confidence: a number above 0.5 and below 1 was"),
        (
            "gate: {on_block: halted}",
            "gate.on_block: quarantine or halt was expected, not the text",
        ),
        ("fields: {text: ''}", "fields.text: text that is not empty was expected, not the text ''"),
        ("fields: {text: 3}", "fields.text: text that is not empty was expected, not 3"),
        ("max_text_mib: ", "max_text_mib: a whole number from 1 to 32 was expected, not nothing"),
        ("gate:\n  warn: 0.5\n  block: 0.4", ":3: gate.block: block (0.4) is below warn (0.5)"),
        (
            "attributes:\n  gender:\n    warn: 0.5\ngate: {block: 0.45}",
            (
                ":3: attributes.gender.warn: block (0.45) is below warn (0.5); one of them is the"
                " gate's"
            ),
        ),
        ("attributes:\n  gender: {warn: 0.5, block: 0.3}", ":2: attributes.gender.block: block"),
        ("attributes:", ":1: attributes: at least one was expected; leave the key out for"),
        ("attributes: {}", "attributes: at least one was expected"),
        ("attributes: [gender]", "attributes: a section of keys was expected, not a list"),
        ("attributes: {gender: {warn: much}}", "attributes.gender.warn: a number from 0 to 1,"),
        ("attributes: {age: 3}", "attributes.age: a section of keys was expected, not 3"),
        ("attributes: {gendre: }", "attributes.gendre: no list of that name is shipped (did you"),
        ("attributes: {colour: }", "attributes.colour: no list of that name is shipped (gender,"),
        ("attributes: {sex: {wordlist: gender}}", "is of the attribute 'gender'; give it that"),
        (
            "attributes:\n  gender:\n    target:\n      Female: 0.5\n      male: 0.5",
            ":4: attributes.gender.target.Female: no group of",
        ),
        ("attributes: {gender: {target: {Female: 0.5, male: 0.5}}}", "did you mean 'female'?"),
        ("attributes: {gender: {target: {x: 0.5, male: 0.5}}}", "the groups are female, male"),
        ("attributes: {gender: {target: {male: 1}}}", "attributes.gender.target: a share is"),
        ("attributes: {gender: {target: {male: 0.5, female: 0.4}}}", "the shares sum to 0.9; 1"),
        (
            "attributes: {gender: {target: {male: 1.5, female: -0.5}}}",
            "female: a number from 0 to 1 was expected, not -0.5",
        ),
        ("attributes: {gender: {target: {}}}", "the shares sum to 0; 1 was expected"),
        ("attributes: {gender: {target: 3}}", "target: a section of keys, or population, or"),
        ("[1]", ":1: settings are a mapping of keys"),
        ("text", "settings are a mapping of keys"),
        ("a: [", ":1: not YAML"),
        ("\npane: {rolling: 2}\npane: {docs: 2}", ":3: pane: given twice (first in line 2)"),
        ("attributes:\n  no: {}", ":2: attributes.no: read by YAML as no text; put the key in"),
        ("pane: !!python/object:os.system {}", "not YAML"),
        ("--- {}\n--- {}", "not YAML: but found another document"),
        ("[" * 5000, "nested too deeply"),
        ("a: 2023-13-45", "not YAML"),
        ("a: &a {b: *a}", "a: unknown key"),
    ],
)
def test_mistakes_are_named(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(file)
    assert message in str(error.value)
    assert all(line.startswith(str(file)) for line in str(error.value).splitlines())


def test_all_mistakes_at_once_by_line(file: Path) -> None:
    file.write_text(
        "gate: {warn: x}\npane: {rollin: 3}\nattributes:\n  gender: {wran: 1, block:"
        " 7}\nchecks: 1\n"
    )
    with pytest.raises(ConfigError) as error:
        load(file)
    lines = str(error.value).splitlines()
    assert [line.removeprefix(f"{file}:").split(": ")[0:2] for line in lines] == [
        ["1", "gate.warn"],
        ["2", "pane.rollin"],
        ["4", "attributes.gender.block"],
        ["4", "attributes.gender.wran"],
        ["5", "checks"],
    ]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a: \xff", ":1: not UTF-8: byte 0xff"),
        (b"\x00", "not YAML"),
        (b"# " * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_files_that_hold_no_settings(file: Path, raw: bytes, message: str) -> None:
    file.write_bytes(raw)
    with pytest.raises(ConfigError, match=message):
        load(file)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path, Path("a\0b")):
        with pytest.raises(ConfigError, match="cannot be read"):
            load(path)


@pytest.mark.parametrize(
    "text",
    [
        *("", "# nothing\n", "---\n", "pane:\ngate:\n", "\ufeffpane: {}"),
        "attributes: {gender: , age: , religion: }",
    ],
)
def test_empty_sections_are_the_defaults(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert load(file) == Config() == load(None)


def test_options_win_over_the_file_and_the_file_over_defaults(file: Path) -> None:
    file.write_text("pane: {docs: 3, rolling: 2}\ngate:\n")
    config = load(file, {"pane.docs": 7, "gate.warn": 0.1})
    assert (config.pane.docs, config.pane.rolling, config.pane.mib, config.gate.warn) == (
        7,
        2,
        64,
        0.1,
    )
    with pytest.raises(
        ConfigError, match=r"^options: gate\.block: block \(0\.45\) is below warn \(0\.9\)$"
    ):
        load(None, {"gate.warn": 0.9, "gate.block": 0.45})
    file.write_text("pane: 3\n")
    with pytest.raises(ConfigError, match="pane: a section of keys was expected"):
        load(file, {"pane.docs": 7})


def test_attributes_are_chosen_and_own_lists_added(file: Path, tmp_path: Path) -> None:
    own = tmp_path / "colour.yaml"
    own.write_text(COLOUR)
    file.write_text("attributes: {gender: {warn: 0.1}, age: }\n")
    assert list(load(file, own_lists=[str(own)]).attributes) == ["gender", "age", "colour"]
    chosen = load(file, only=["colour", "gender"], own_lists=[str(own)])
    assert list(chosen.attributes) == ["colour", "gender"]
    assert chosen.attributes["colour"] == AttributeSettings(wordlist=str(own))
    assert chosen.attributes["gender"].warn == 0.1
    assert list(load(file, only=["religion"]).attributes) == ["religion"]
    assert list(load(file, only=["age"], own_lists=[str(own)]).attributes) == ["age", "colour"]
    with pytest.raises(ConfigError, match=r"attributes\.colour: no list of that name"):
        load(file, only=["colour"])
    with pytest.raises(WordListError):
        load(None, own_lists=[str(tmp_path / "none.yaml")])


@pytest.mark.parametrize("mode", ["substitute", "augment"])
def test_a_list_whose_labels_have_no_counterparts_is_not_exchanged(
    tmp_path: Path, mode: str
) -> None:
    own = tmp_path / "shade.yaml"
    own.write_text("attribute: shade\ngroups: {dark: [black], light: [white]}\n")
    changed = {"repair.mode": mode}
    with pytest.raises(ConfigError, match=rf"attributes\.shade: {mode}: nothing in"):
        load(None, changed, ["shade"], [str(own)])
    load(None, {"repair.mode": "weight"}, ["shade"], [str(own)])
    load(None, changed | {"repair.method": "base"}, ["shade"], [str(own)])
    (tmp_path / "roles_shade.yaml").write_text("roles: []\n")
    load(None, changed, ["shade"], [str(own)])


def test_paths_are_seen_from_the_files_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "colour.yaml").write_text(COLOUR)
    file = tmp_path / "lists" / "c.yaml"
    file.write_text("attributes: {colour: {wordlist: colour.yaml}}")
    assert load(file).attributes["colour"].wordlist == str(tmp_path / "lists" / "colour.yaml")
    file.write_text("attributes: {colour: {wordlist: lists/colour.yaml}}")
    monkeypatch.chdir(tmp_path)
    assert load(file).attributes["colour"].wordlist == "lists/colour.yaml"


def test_shares_that_are_1_but_for_rounding(file: Path) -> None:
    file.write_text(
        "attributes: {age: {target: {young: 0.3333333, middle: 0.3333333, old: 0.3333333}}}"
    )
    assert load(file).attributes["age"].target == {
        "young": 0.3333333,
        "middle": 0.3333333,
        "old": 0.3333333,
    }


# Text that YAML would read as something else, or that must be escaped; and any other.
TEXTS = st.one_of(
    st.sampled_from(
        [
            *("no", "1", "1e3", "", "~", "a: b", "# x", "'", '"', "{0}", "a\nb", " a ", "\x7f"),
            *("\u2028", "😀", "- a", "<<"),
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=40),
).filter(bool)
SHARES = st.sampled_from(
    [
        {"female": 0.5, "male": 0.5},
        {"female": 1.0, "male": 0.0},
        {"female": 1e-07, "male": 1 - 1e-07},
        None,
    ]
)
UNIT = st.floats(0, 1)


@settings(max_examples=60, deadline=None)
@given(
    text=TEXTS,
    id=TEXTS,
    suite=st.none() | TEXTS.map("suite {}".format),  # a path that is there would be found
    target=SHARES,
    limits=st.tuples(UNIT, UNIT).map(sorted),
    docs=st.none() | st.integers(1, 1 << 70),
    names=st.permutations(SHIPPED),
)
def test_the_commented_form_is_the_configuration(
    tmp_path_factory, text, id, suite, target, limits, docs, names
) -> None:
    assume(text != id)
    config = Config.model_validate(
        {
            "fields": {"text": text, "id": id},
            "checks": {"suite": suite},
            "pane": {"docs": docs},
            "gate": {"warn": limits[0], "block": limits[1]},
            "attributes": {name: {"target": target} if name == "gender" else {} for name in names},
        }
    )
    file = tmp_path_factory.mktemp("config") / "c.yaml"
    shown = commented(config)
    file.write_text(shown, encoding="utf-8")
    assert load(file) == config
    assert list(load(file).attributes) == list(names)


def test_the_commented_form_fits_a_terminal_and_explains_every_key() -> None:
    lines = commented(Config()).splitlines()
    assert max(map(len, lines)) <= 80
    keys = [
        number
        for number, line in enumerate(lines)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    unexplained = [
        lines[number].strip() for number in keys if not lines[number - 1].lstrip().startswith("#")
    ]
    own = {
        f"{key}: null"
        for key in (
            *("wordlist", "finder", "target", "warn", "block", "mode", "min_probability", "action"),
            "threshold",
        )
    }
    assert set(unexplained) <= {"gender:", "age:", "religion:", "stereotypes:", *own}
