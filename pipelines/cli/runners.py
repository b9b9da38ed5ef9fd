"""The option --runner of `evenflow run` and `evenflow stream`."""

from __future__ import annotations

import shutil
from pathlib import Path

import typer

JOB_SERVER = {"flink": "localhost:8099", "spark": "localhost:8099"}  # where Beam's own listen
SERVER_SECONDS = 60  # that a job server may take to answer; a busy one takes some
BUILT_PRISM = Path("build/services/prism/prism")  # where `make prism` puts it


def runner_options(names: list[str], workers: int = 1) -> list[str]:
    """Translate --runner to options of Beam.

    Args:
        names: prism, flink, spark, in-process, or options as Beam has them, one each; empty for
            in-process.
        workers: The processes that --workers asks for.

    Returns:
        Options of Beam; none for in-process.

    Raises:
        typer.BadParameter: A name is unknown, prism is not built, or workers are asked for beside a
            runner.
    """
    if names in ([], ["in-process"]):
        return []
    if workers > 1:
        raise typer.BadParameter(
            "a runner has workers of its own; give --workers without --runner",
            param_hint="'--workers'",
        )
    if names == ["prism"]:
        found = shutil.which("prism") or (str(BUILT_PRISM) if BUILT_PRISM.exists() else None)
        if found is None:
            raise typer.BadParameter(
                "no prism on the PATH; build it with `make prism` (Go)", param_hint="'--runner'"
            )
        return ["--runner=PrismRunner", f"--prism_location={found}", "--prism_log_level=warn"]
    if len(names) == 1 and names[0] in JOB_SERVER:
        where = [f"--job_endpoint={JOB_SERVER[names[0]]}", f"--job_server_timeout={SERVER_SECONDS}"]
        return ["--runner=PortableRunner", *where, "--environment_type=LOOPBACK"]
    if not all(name.startswith("--") for name in names):
        raise typer.BadParameter(
            "prism, flink, spark, in-process, or Beam's own options (--runner=…)",
            param_hint="'--runner'",
        )
    return names
