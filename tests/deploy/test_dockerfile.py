"""deploy/Dockerfile as far as it can be checked without containers."""

from __future__ import annotations

import re

import yaml
from places import ROOT

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
STAGES = DOCKERFILE.split("\nFROM ")[1:]


def test_the_sources_and_the_packages_cache_stay_in_the_first_stage() -> None:
    build, last = STAGES
    assert build.partition("\n")[0].endswith(" AS build") and "COPY . ." in build
    assert build.partition(" ")[0] == last.partition("\n")[0]  # the same Python
    assert re.findall(r"^COPY (.+)$", last, re.MULTILINE) == [
        "--from=build /opt/evenflow /opt/evenflow"
    ]
    assert "pip" not in last


def test_packages_are_installed_before_the_sources_are_copied() -> None:
    """Else every change of a source installs all packages again."""
    build = STAGES[0]
    assert build.index("--require-hashes") < build.index("COPY . .")


def test_it_runs_as_the_user_of_the_chart() -> None:
    [user] = re.findall(r"^USER (\d+)$", STAGES[1], re.MULTILINE)
    assert f"--uid {user} " in STAGES[1] and user != "0"
    helpers = (ROOT / "deploy/helm/evenflow/templates/_helpers.tpl").read_text(encoding="utf-8")
    assert f"runAsUser: {user}\n" in helpers and "readOnlyRootFilesystem: true" in helpers


def test_what_may_be_written_is_a_volume() -> None:
    assert re.search(r"^VOLUME /data$", STAGES[1], re.MULTILINE) and "HOME=/tmp" in STAGES[1]
    values = yaml.safe_load((ROOT / "deploy/helm/evenflow/values.yaml").read_text("utf-8"))
    assert values["volume"]["mountPath"] == "/data"
