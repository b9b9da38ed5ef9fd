"""Lets no Python process of a command out of this machine, and notes who tried."""

from __future__ import annotations

import os
from pathlib import Path

# Python reads a file of this name on PYTHONPATH as it starts, in each process. An audit hook sees
# every socket that Python code uses, whatever the library.
HOOK = """
import ipaddress, os, sys

def outside(host):
    if host in (None, "", "localhost", b"localhost", os.uname().nodename):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback and host != "0.0.0.0"
    except ValueError:
        return True  # a name, which a server elsewhere would have to resolve

def hook(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if outside(host):
        with open({log!r}, "a") as file:
            print(event, host, file=file)
        raise OSError(f"{{event}}: this machine may not reach {{host}}")

sys.addaudithook(hook)
"""


def environment(folder: Path) -> dict[str, str]:
    """The environment of such a command; what it tries is in the file `tried` of the folder."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HOOK.format(log=str(folder / "tried")))
    own = {name: value for name, value in os.environ.items() if not name.startswith("GX_")}
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {**own, "PYTHONPATH": path, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}


def tried(folder: Path) -> list[str]:
    """What was tried: a line with the call and the host."""
    path = folder / "tried"
    return path.read_text().splitlines() if path.exists() else []
