"""deploy/Dockerfile as far as it can be checked without containers."""

from __future__ import annotations

import re

import yaml
from places import ROOT

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
STAGES = {
    stage.partition("\n")[0].partition(" AS ")[2]: stage
    for stage in DOCKERFILE.split("\nFROM ")[1:]
}  # the last one, which has no name, is the gate
BUILT = "--from=build /opt/evenflow /opt/evenflow"


def copied(stage: str) -> list[str]:
    """What a stage copies."""
    return re.findall(r"^COPY (.+)$", STAGES[stage], re.MULTILINE)


def test_the_sources_and_the_packages_cache_stay_in_the_first_stage() -> None:
    assert list(STAGES) == ["build", "beam", "distribution", "flink", ""]
    assert copied("build")[-1] == ". ." and copied("") == [BUILT]
    assert [words for words in copied("flink") if not words.startswith("--from=")] == [
        "deploy/flink/evenflow-on-flink /usr/local/bin/"
    ]
    for stage in ("flink", ""):  # with the Python that the packages were installed for
        assert BUILT in copied(stage) and "pip" not in STAGES[stage]
        assert STAGES[stage].split()[0] == STAGES["build"].split()[0]


def test_packages_are_installed_before_the_sources_are_copied() -> None:
    """Else every change of a source installs all packages again."""
    build = STAGES["build"]
    assert build.index("--require-hashes") < build.index("COPY . .")


def test_they_run_as_the_user_of_the_chart() -> None:
    helpers = (ROOT / "deploy/helm/evenflow/templates/_helpers.tpl").read_text(encoding="utf-8")
    for stage in ("flink", ""):
        [user] = re.findall(r"^USER (\d+)$", STAGES[stage], re.MULTILINE)
        assert f"--uid {user} " in STAGES[stage] and user != "0"
        assert f"runAsUser: {user}\n" in helpers
    assert "readOnlyRootFilesystem: true" in helpers


def test_what_may_be_written_is_a_volume() -> None:
    assert re.search(r"^VOLUME /data$", STAGES[""], re.MULTILINE) and "HOME=/tmp" in STAGES[""]
    values = yaml.safe_load((ROOT / "deploy/helm/evenflow/values.yaml").read_text("utf-8"))
    assert values["volume"]["mountPath"] == "/data"


def test_flinks_image_has_the_versions_that_tests_run_with() -> None:
    """Flink, Beam's job service and Beam's workers speak with each other in fitting versions only.
    That Python's Beam is the same in all images follows from their one stage of packages.
    """
    sums = (ROOT / "deploy/flink/SHA256SUMS").read_text(encoding="utf-8")
    [flink] = re.findall(r" flink-core-([\d.]+)\.jar$", sums, re.MULTILINE)
    [beam] = re.findall(r" beam-runners-flink-[\d.]+-([\d.]+)\.jar$", sums, re.MULTILINE)
    minor = flink.rpartition(".")[0]
    assert STAGES["distribution"].startswith(f"flink:{flink}-scala_2.12-java17 ")
    assert STAGES["beam"].startswith(f"apache/beam_flink{minor}_job_server:{beam} ")
    values = yaml.safe_load((ROOT / "deploy/helm/evenflow/values.yaml").read_text("utf-8"))
    assert values["flink"]["version"] == "v" + minor.replace(".", "_")
    named = re.findall(r"--tag (\S+)", DOCKERFILE)
    assert values["flink"]["image"] in named
    assert f"{values['image']['repository']}:{values['image']['tag']}" in named
