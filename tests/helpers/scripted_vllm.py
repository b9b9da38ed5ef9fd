"""A program that takes vLLM's arguments and answers as the scripted server does: `python
scripted_vllm.py --port N …`.

The first word of the model's name says what is wrong with it: `broken` ends at once, `silent` never
listens. It writes its process id and that of its child into the file that SCRIPTED_PIDS names, a
line a start.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from pathlib import Path

from scripted_llm import ScriptedLLM, Turn


def main() -> None:
    """Serve until a signal."""
    parser = argparse.ArgumentParser()
    for name in ("--model", "--served-model-name", "--host", "--structured-outputs-config"):
        parser.add_argument(name, required=True)
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    kind = given.model.split("-")[0]
    # A child, as vLLM has them: it must not outlive the server.
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with Path(os.environ["SCRIPTED_PIDS"]).open("a") as file:
        print(os.getpid(), child.pid, file=file)
    if kind == "broken":
        print("no such model", file=sys.stderr)
        os._exit(1)

    if kind != "silent":
        ScriptedLLM(
            lambda _: Turn(), given.served_model_name, os.environ["VLLM_API_KEY"], port=given.port
        )
    threading.Event().wait()


if __name__ == "__main__":
    main()
