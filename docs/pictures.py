"""Takes the pictures of README and of these pages in Debian's Chromium.

They are of the run of `make demo`, and of word lists for the speeches that it reads. A picture is
taken again only where what it shows may have changed: the ledger, the speeches, or the templates of
the pages. Each says in its metadata what it shows.

    python docs/pictures.py build/demo docs
    python docs/pictures.py words docs
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import urljoin

ROOT = Path(__file__).resolve().parent.parent
SIGNATURE = 8 + 25  # bytes of a PNG file before its second chunk: the signature and IHDR
Picture = tuple[str, int, int, Literal["light", "dark"]]
# Name in docs/: page (a file, or below the printed address), width and height in pixels, colours
PICTURES: dict[str, Picture] = {
    "report.png": ("report.html", 1400, 1130, "light"),
    "pages/board_gates.png": ("/", 1120, 400, "light"),
    "pages/board_gate.png": ("/gate/{gate}", 1120, 944, "light"),
    "pages/board_narrow.png": ("/gate/{gate}", 400, 900, "dark"),
    "pages/board_pane.png": ("/gate/{gate}/pane/{pane}", 1120, 1100, "dark"),
}
WORDS: dict[str, Picture] = {
    "pages/word_review.png": ("", 1100, 900, "light"),
    "pages/word_review_narrow.png": ("", 420, 900, "dark"),
}
EVENFLOW = (
    sys.executable,
    "-c",
    "import sys; from evenflow.pipelines.cli.app import main; main(sys.argv[1:])",
)
CORPUS = ROOT / "tests" / "data" / "speeches.jsonl.gz"
SEEDS = ("female=she,woman,mother", "male=he,man,father")
# Yields the address of a server, and the folder of files
Served = Callable[[], AbstractContextManager[tuple[str, Path]]]


def of_run(output: Path, folder: Path) -> None:
    """Take the pictures of a run that are not of it yet."""
    status = json.loads((output / "report.json").read_text("utf-8"))
    comment = (
        f"{status['panes']:,} panes, {status['documents']:,} documents:"
        f" {status['accepted']:,} accepted, {status['quarantined']:,} in quarantine;"
        f" blocked: {', '.join(map(str, status['blocked']))}"
    )
    pane = (status["blocked"] or [status["panes"] - 1])[-1]
    pictures: dict[str, Picture] = {
        name: (path.format(gate=output.absolute().name, pane=pane), *how)
        for name, (path, *how) in PICTURES.items()
    }  # type: ignore[misc] (what is unpacked is the rest of a Picture)
    ledger = sorted((output / "ledger").glob("*.json"))
    files = [each for each in ledger if each.name != "meta.json"]  # which has times
    _take(pictures, folder, files, ("pages/report", "pages/board"), comment, lambda: _board(output))


def of_words(folder: Path) -> None:
    """Take the pictures of word lists that are not of the corpus yet; folder: where they lie."""
    rooms = ("pages/report", "lab/word_review")
    _take(WORDS, folder, [CORPUS], rooms, f"words of {CORPUS.name}", _review)


def _take(
    pictures: dict[str, Picture],
    folder: Path,
    files: Sequence[Path],
    rooms: Sequence[str],
    comment: str,
    served: Served,
) -> None:
    """Take those pictures of which the files or the rooms' templates are others than before."""
    folders = (ROOT / "gates" / "sheet", *(ROOT / "pipelines" / room for room in rooms))
    templates = [path for each in folders for path in sorted(each.glob("*.j2"))]
    digests = [sha256(each.read_bytes()).hexdigest() for each in (*files, *templates)]
    shown = sha256(json.dumps([digests, pictures]).encode()).hexdigest()
    old = [name for name in pictures if metadata(folder / name).get("Source") != shown]
    if not old:
        return
    chromium = shutil.which("chromium")
    if chromium is None:
        print(f"no chromium: run `make browser`; not taken again: {', '.join(old)}")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, served() as (address, files_at):
        # Chromium's own sandbox needs rights that containers and root do not have
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in old:
            path, width, height, scheme = pictures[name]
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            is_file = path.endswith(".html")
            page.goto((files_at / path).as_uri() if is_file else urljoin(address, path))
            if page.locator("input[name=who]").count():  # a review asks who decides
                page.locator("input[name=who]").fill("Ada")
                page.keyboard.press("Enter")
                page.locator("#decide").wait_for()
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(labelled(page.screenshot(), {"Source": shown, "Comment": comment}))
            page.close()
        browser.close()


def labelled(png: bytes, texts: dict[str, str]) -> bytes:
    """Add texts to a PNG file (PNG specification, 11.3.4.3 tEXt)."""
    out = png[:SIGNATURE]
    for key, text in texts.items():
        body = b"tEXt" + key.encode("latin-1") + b"\0" + text.encode("latin-1")
        out += (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    return out + png[SIGNATURE:]


def metadata(path: Path) -> dict[str, str]:
    """Read the texts of a PNG file that `labelled` has written; none without such a file."""
    found: dict[str, str] = {}
    png = path.read_bytes() if path.is_file() else b""
    at = SIGNATURE
    while png[at + 4 : at + 8] == b"tEXt":
        size = int.from_bytes(png[at : at + 4], "big")
        key, _, text = png[at + 8 : at + 8 + size].decode("latin-1").partition("\0")
        found[key] = text
        at += size + 12
    return found


@contextmanager
def _board(output: Path) -> Iterator[tuple[str, Path]]:
    """Serve a run's board."""
    with _serving("gate", "board", str(output), "--port", "0") as address:
        yield address, output.absolute()


@contextmanager
def _review() -> Iterator[tuple[str, Path]]:
    """Serve the review of a draft."""
    with tempfile.TemporaryDirectory() as name:
        at, corpus = Path(name), ("--corpus", str(CORPUS))
        draft = str(at / "draft.json")
        seeds = [part for each in SEEDS for part in ("--seeds", each)]
        generate = ("--attribute", "gender", "--groups", "female,male", "--top", "40")
        subprocess.run(
            [*EVENFLOW, "words", "generate", *generate, *seeds, *corpus, "-o", draft],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with _serving("words", "review", draft) as address:
            yield address, at


@contextmanager
def _serving(*words: str) -> Iterator[str]:
    """Run a command that serves a page; yields the address that it prints."""
    with subprocess.Popen([*EVENFLOW, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.terminate()


if __name__ == "__main__":
    if sys.argv[1] == "words":
        of_words(Path(sys.argv[2]))
    else:
        of_run(Path(sys.argv[1]), Path(sys.argv[2]))
