"""Reading settings files with the lines of their keys."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenflow.schemas.yaml_file import SettingsError, read

TEXT = """\
# a comment
a:
  b: 1

  c: {d: 2, e: 3}
f: [1, 2]
"g h": x
"""


def test_every_key_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(TEXT)
    found = read(path)
    assert found.data == {"a": {"b": 1, "c": {"d": 2, "e": 3}}, "f": [1, 2], "g h": "x"}
    assert {".".join(key): line for key, line in found.lines.items()} == {
        **{"a": 2, "a.b": 3, "a.c": 5, "a.c.d": 5, "a.c.e": 5, "f": 6, "g h": 7}
    }
    assert found.line(("a", "c", "e")) == 5
    assert found.line(("a", "c", "none")) == 5  # the section around it
    assert found.line(("f", "1")) == 6
    assert found.line(("none",)) is None
    assert found.line(()) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", ":3: a: given twice (first in line 1)"),
        ("a: {b: 1, b: 2}\n", ":1: a.b: given twice (first in line 1)"),
        (
            "1: a\nyes: b\n",
            ":1: 1: read by YAML as no text; put the key in quotes\n{}:2: yes: read by YAML",
        ),
        ("? {a: 1}\n: 2\n", ":1: a key: read by YAML as no text"),
        ("a: b: c\n", ":1: not YAML: mapping values are not allowed"),
        ("a:\n\t- 1\n", ":2: not YAML"),
        ("a: *b\n", ":1: not YAML: found undefined alias"),
        ("a: !!python/name:os.system x\n", ":1: not YAML: could not determine a constructor"),
        ("a: \x01\n", ": not YAML"),
        ("- a\n", ":1: settings are a mapping of keys"),
        ("a: 1\n\ufeffb: 2\n", ":2: a byte-order mark (U+FEFF) within the text; remove it"),
    ],
)
def test_defects_are_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError) as error:
        read(path)
    assert str(error.value).startswith(f"{path}{message.replace('{}', str(path))}")


def test_what_yaml_reads_otherwise_than_people_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("\ufeffa: [1:30, -1:30:05.5, 010, .nan, 10, 1.5, 1_000, 0x1f, .inf, 0, yes]")
    assert read(path).data["a"] == [
        *("1:30", "-1:30:05.5", "010", ".nan"),
        *(10, 1.5, 1000, 31, float("inf"), 0, True),
    ]


def test_anchors_may_be_used_and_cost_no_more_than_their_text(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &x {b: 1}\nc: {<<: *x, d: 2}\n")
    assert read(path).data == {"a": {"b": 1}, "c": {"b": 1, "d": 2}}
    levels = [
        f"k{n}: &k{n} {{{', '.join(f'{c}: *k{n - 1}' for c in 'abcdefgh')}}}" for n in range(1, 30)
    ]
    path.write_text("\n".join(["k0: &k0 {a: 1}", *levels]))
    assert len(read(path).data) == 30
    path.write_text("a: &a\n  b: *a\n")
    assert read(path).line(("a", "b", "b")) == 2


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab:{}[]&*!-?|>'\"#, \n\t%@0\ufeff\x00é", max_size=40))
def test_any_text_is_settings_or_a_named_defect(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        found = read(path)
    except SettingsError as error:
        assert str(error).startswith(f"{path}:")
    else:
        assert all(isinstance(key, str) for key in found.data)
