"""A test whose part is missing skips; with CI set it fails, unless CI may do without the part."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SKIPS = {
    "called": "def test_it(): require('no broker: run `make kafka`')",
    "fixture": (
        "@pytest.fixture\ndef broker(): require('no broker: run `make kafka`')\ndef"
        " test_it(broker): pass"
    ),
    "skipif": (
        "@pytest.mark.skipif(True, reason='no broker: run `make kafka`')\ndef test_it(): pass"
    ),
    "module": (
        "pytest.importorskip('no_such_package', reason='no broker: run `make kafka`')\ndef"
        " test_it(): pass"
    ),
}
LISTED = {
    name: source.replace("no broker: run `make kafka`", "vLLM: run `make llm`")
    for name, source in SKIPS.items()
}


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """The file that gets what was skipped, never the one of the run that this test is a part of."""
    return tmp_path / "noted"


@pytest.fixture
def ran(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, noted: Path):
    """Runs pytest on a file with a source: status and output."""

    def run(source: str, ci: str, *options: str) -> tuple[int, str]:
        monkeypatch.setenv("CI", ci)
        monkeypatch.setenv("COLUMNS", "400")
        monkeypatch.setenv("EVENFLOW_SKIPPED", str(noted))
        pytester.makepyfile(f"import pytest\nfrom parts import require\n{source}\n")
        done = pytester.runpytest("-p", "parts", "-p", "no:cacheprovider", "-rs", *options)
        return int(done.ret), done.stdout.str()

    return run


@pytest.mark.parametrize("how", SKIPS)
def test_without_ci_it_skips_and_says_what_brings_the_part(ran, how: str) -> None:
    status, out = ran(SKIPS[how], "")
    assert status in (0, 5) and "1 skipped" in out  # 5: no test was collected
    assert "run `make kafka`" in out


@pytest.mark.parametrize("how", SKIPS)
def test_with_ci_it_fails(ran, how: str) -> None:
    status, out = ran(SKIPS[how], "true")
    assert status not in (0, 5) and "skipped" not in out
    assert "run `make kafka`" in out


@pytest.mark.parametrize("how", LISTED)
def test_what_ci_may_miss_is_named_at_the_end(ran, how: str) -> None:
    status, out = ran(LISTED[how], "true")
    assert status in (0, 5) and "1 skipped" in out
    assert (
        "vLLM: run `make llm` (CI may do without: package indexes"
        in out.partition("short test summary")[2]
    )


def test_an_expected_failure_is_no_skip(ran) -> None:
    source = "@pytest.mark.xfail(reason='known', strict=True)\ndef test_it(): assert False"
    assert ran(source, "true")[0] == 0


@pytest.mark.parametrize(
    ("how", "options"), [*((how, ()) for how in LISTED), ("module", ("-n", "2"))]
)
def test_what_was_skipped_is_noted_and_run_when_nothing_may_miss(
    ran, monkeypatch: pytest.MonkeyPatch, noted: Path, how: str, options: tuple[str, ...]
) -> None:
    ran(f"def test_other(): pass\n{LISTED[how]}", "true", *options)
    (one,) = noted.read_text().splitlines()
    assert one.endswith(".py" if how == "module" else "::test_it")
    monkeypatch.setenv("EVENFLOW_PARTS", "all")
    status, out = ran(f"def test_other(): assert False\n{LISTED[how]}", "true", f"@{noted}")
    assert status == (2 if how == "module" else 1) and "run `make llm`" in out
    assert "test_other" not in out


def test_the_part_that_this_machine_lacks_may_miss_to_the_end(
    ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENFLOW_PARTS", "all")
    for lacks, status in (("vLLM", 0), ("image", 1)):
        monkeypatch.setenv("EVENFLOW_LACKS", lacks)
        assert ran(LISTED["fixture"], "true")[0] == status
