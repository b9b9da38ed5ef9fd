"""Prints what an installation takes: python deploy/size.py [EXTRA].

Packages are found by the metadata of what is installed here, as pip would ask for them; an extra
that another package asks for counts. Files count with their size, without compiled bytecode.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SHOWN = 12  # packages that are named


def needed(name: str, *extras: str) -> dict[str, Distribution]:
    """What a package needs with some extras, itself included."""
    found: dict[str, Distribution] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [(name, extra) for extra in ("", *extras)]
    while waiting:
        package, extra = waiting.pop()
        if (package, extra) in asked:
            continue
        asked.add((package, extra))
        try:
            own = distribution(package)
        except PackageNotFoundError:  # for another system
            continue
        found[canonicalize_name(package)] = own
        for line in own.requires or ():
            each = Requirement(line)
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(each.name), more) for more in ("", *each.extras)]
    return found


def size(own: Distribution) -> int:
    """Bytes of a distribution's files."""
    paths = [own.locate_file(each) for each in own.files or () if each.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file())  # type: ignore[attr-defined]


def sizes_with(*extras: str) -> dict[str, int]:
    """Bytes of each package that an installation with some extras brings."""
    found = needed("evenflow", *extras)
    return {name: size(own) for name, own in found.items() if name != "evenflow"}


def main() -> None:
    """Print the packages that are largest, and the sum."""
    sizes = sizes_with(*sys.argv[1:])
    largest = sorted(sizes.items(), key=lambda each: -each[1])
    for name, each in largest[:SHOWN]:
        print(f"{each / 1e6:8.1f} MB  {name}")
    print(f"{sum(sizes.values()) / 1e6:8.1f} MB  all {len(sizes)} packages")


if __name__ == "__main__":
    main()
