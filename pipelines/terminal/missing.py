"""Says how to install a package that is missing."""

from __future__ import annotations

import json
import re
from importlib.metadata import distributions

FOR_WORK = ("test", "bench")  # extras of those who work on the package, which repeat the others


def installing(module: str) -> str:
    """Say how to install a package that is missing.

    Args:
        module: The module that could not be imported.

    Returns:
        The whole command, with the extra that has the package where one has it. It is right for an
        installation from an index, and for one from a checkout.
    """
    own = list(distributions(name="evenflow"))  # in a checkout there are two
    wanted = module.replace("_", "-").lower()
    extras = [
        extra[1]
        for found in own
        for each in found.requires or ()
        if re.split(r"[^\w.-]", each)[0].lower().removesuffix("-python") == wanted
        and (extra := re.search(r"extra == ['\"]([\w-]+)", each))
    ]
    extra = next((each for each in extras if each not in FOR_WORK), None)
    if extra is None:
        return "install it, or reinstall evenflow"
    sources = [json.loads(each.read_text("direct_url.json") or "{}").get("url", "") for each in own]
    folders = [each.removeprefix("file://") for each in sources if each.startswith("file://")]
    return f"install it: pip install '{(folders or ['evenflow'])[0]}[{extra}]'"
