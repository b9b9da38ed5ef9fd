"""Makes what a release consists of, into build/release/VERSION: `make release`.

The same commit gives the same bytes: wheel and sdist have the time of the commit.

    evenflow-VERSION-py3-none-any.whl, evenflow-VERSION.tar.gz   what is published
    evenflow-VERSION.cdx.json   the software bill of materials (CycloneDX), from the image's lock
    LICENCES.txt                licences of these packages, with their texts
    CHANGES.md                  what is new, from the changelog
    SHA256SUMS                  digests of all of these

`python deploy/release.py changelog VERSION DAY` moves the fragments of docs/changes into the
changelog, below the version.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = ROOT / "docs" / "pages" / "changelog.md"
FRAGMENTS = ROOT / "docs" / "changes"
LOCK = ROOT / "deploy" / "locks" / "image.txt"


def commit_time(root: Path = ROOT) -> int:
    """The time of the last commit, in seconds since 1970."""
    return int(_said("git", "log", "-1", "--format=%ct", cwd=root))


def build(source: Path, folder: Path, epoch: int) -> tuple[Path, Path]:
    """Build sdist and wheel; the wheel is built from the sdist.

    `epoch`: Their time, in seconds since 1970.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", place, source],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        [wheel], [sdist] = Path(place).glob("*.whl"), Path(place).glob("*.tar.gz")
        shutil.copy(wheel, folder / wheel.name)
        _repack(sdist, folder / sdist.name, epoch)
    return folder / wheel.name, folder / sdist.name


def _repack(source: Path, target: Path, epoch: int) -> None:
    """Copy a .tar.gz with one time, owner and order; setuptools keeps those of the files."""
    with (
        tarfile.open(source) as old,
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=epoch, fileobj=raw) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old, key=lambda each: each.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)


def locked_names(lock: Path = LOCK) -> list[str]:
    """The packages of a lock file."""
    return re.findall(r"^([\w.-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE)


def section(text: str, version: str) -> str:
    """Return the changelog's section of a version, without its heading."""
    found = re.search(rf"^## {re.escape(version)},.*?$(.*?)(?=^## |\Z)", text, re.M | re.S)
    if found is None:
        raise ValueError(f"{CHANGELOG.name}: no section «## {version}, …»")
    return found[1].strip() + "\n"


def with_fragments(text: str, fragments: list[str], version: str, day: str) -> str:
    """Put fragments into a changelog, at the top of a version's section.

    `day`: The day of its release, or «not released yet».
    """
    heading, added = f"## {version}, {day}", "\n".join(each.strip() for each in fragments)
    waiting = re.compile(rf"^## {re.escape(version)}, not released yet\n*", re.M)
    body = f"{heading}\n\n{added}\n" if added else f"{heading}\n\n"
    if waiting.search(text):
        return waiting.sub(lambda _: body, text, count=1)
    title, mark, rest = text.partition("\n## ")
    return f"{title.rstrip()}\n\n{body.rstrip()}\n{mark}{rest}"


def _changelog(version: str, day: str) -> None:
    """Move the fragments into the changelog."""
    paths = sorted(FRAGMENTS.glob("*.md"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    old = CHANGELOG.read_text(encoding="utf-8")
    CHANGELOG.write_text(with_fragments(old, texts, version, day), encoding="utf-8")
    for path in paths:
        path.unlink()


def _release(python: str) -> Path:
    """Make all files of a release; packages are looked up in another environment's Python."""
    if _said("git", "status", "--porcelain", cwd=ROOT):
        raise SystemExit("release: commit first; the files would not be those of the commit")
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    [version] = re.findall(r'^    version="(.+)",$', setup, re.MULTILINE)
    folder = ROOT / "build" / "release" / version
    shutil.rmtree(folder, ignore_errors=True)
    build(ROOT, folder, commit_time())
    bill = folder / f"evenflow-{version}.cdx.json"
    _said("cyclonedx-py", "requirements", "--output-reproducible", "--of", "JSON", "-o", bill, LOCK)
    licences = _said(
        "pip-licenses", "--python", python, "--format", "plain-vertical", "--from", "mixed",
        "--with-urls", "--with-license-file", "--no-license-path", "--packages", *locked_names(),
    )  # fmt: skip
    (folder / "LICENCES.txt").write_text(licences, encoding="utf-8")
    news = section(CHANGELOG.read_text(encoding="utf-8"), version)
    (folder / "CHANGES.md").write_text(news, encoding="utf-8")
    sums = [f"{_digest(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return folder


def _digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _said(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command prints; a tool of this environment goes before one of the PATH."""
    first = Path(sys.executable).parent / command[0]
    words = [first if first.exists() else command[0], *command[1:]]
    return subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if sys.argv[1:2] == ["changelog"]:
        _changelog(*sys.argv[2:4])
    else:
        print(_release(sys.argv[1]))
