"""Takes the pictures of README and of these pages: of the run of `make demo`, in Debian's Chromium.

A picture is taken again only where what it shows may have changed: the ledger, or the templates of
the pages. Each says in its metadata which run it shows.

    python docs/pictures.py build/demo docs
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
SIGNATURE = 8 + 25  # bytes of a PNG file before its second chunk: the signature and IHDR
Scheme = Literal["light", "dark"]
# Name in docs/: page (of the report, or of the board), width and height in pixels, colours
PICTURES: dict[str, tuple[str, int, int, Scheme]] = {
    "report.png": ("report.html", 1400, 1130, "light"),
    "pages/board_gates.png": ("/", 1120, 400, "light"),
    "pages/board_gate.png": ("/gate/{gate}", 1120, 944, "light"),
    "pages/board_narrow.png": ("/gate/{gate}", 400, 900, "dark"),
    "pages/board_pane.png": ("/gate/{gate}/pane/{pane}", 1120, 1100, "dark"),
}


def main(output: Path, folder: Path) -> None:
    """Take the pictures that are not of this run.

    Args:
        output: The output of the run.
        folder: Where the pictures lie.
    """
    status = json.loads((output / "report.json").read_text("utf-8"))
    shown = _shown(output)
    comment = (
        f"{status['panes']:,} panes, {status['documents']:,} documents:"
        f" {status['accepted']:,} accepted, {status['quarantined']:,} in quarantine;"
        f" blocked: {', '.join(map(str, status['blocked']))}"
    )
    old = [name for name in PICTURES if metadata(folder / name).get("Source") != shown]
    if not old:
        return
    chromium = shutil.which("chromium")
    if chromium is None:
        print(f"no chromium: run `make browser`; not taken again: {', '.join(old)}")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, _board(output) as address:
        # Chromium's own sandbox needs rights that containers and root do not have
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in old:
            place, width, height, scheme = PICTURES[name]
            pane = (status["blocked"] or [status["panes"] - 1])[-1]
            path = place.format(gate=output.absolute().name, pane=pane)
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            of_report = place == "report.html"
            page.goto((output / place).absolute().as_uri() if of_report else address + path)
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


def _shown(output: Path) -> str:
    """A digest of what the pictures depend on."""
    files: list[Path] = [
        *sorted((output / "ledger").glob("*.json")),
        *(
            path
            for room in ("report", "board")
            for path in sorted((ROOT / "pipelines" / room).rglob("*.j2"))
        ),
    ]
    read = [each.read_bytes() for each in files if each.name != "meta.json"]  # which has times
    digests = [sha256(each).hexdigest() for each in read]
    return sha256(json.dumps([digests, PICTURES]).encode()).hexdigest()


@contextmanager
def _board(output: Path) -> Iterator[str]:
    """Serve the run's board; yields its address without the slash."""
    code = "import sys; from evenflow.pipelines.cli.app import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "board", str(output), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1].rstrip("/")
        finally:
            process.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
