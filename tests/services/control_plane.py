"""A control plane of Kubernetes for tests: kube-apiserver and etcd, from what `make control-plane`
builds. It has no nodes and no controllers: it says whether it would take what is applied.
"""

from __future__ import annotations

import json
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml
from services.kafka_broker import ROOT, free_port

FOLDER = ROOT / "build" / "services" / "kubernetes"
CRDS = FOLDER / "crds"
TOKEN = "not-a-secret-of-anybody"
START_SECONDS = 300.0


def installed() -> str | None:
    """None if it can be started; else what is missing and the line that brings it."""
    for name in ("kube-apiserver", "etcd", "crds"):
        if not (FOLDER / name).exists():
            return f"control plane: no {name}; run `make control-plane` (Go 1.26, a JDK, Maven)"
    return None


class ControlPlane:
    """Both on free ports of the loopback interface, with their data in a folder.

    kubeconfig: the file with which clients reach it, as its administrator.
    """

    def __init__(self, folder: Path):
        store, peers, port = free_port(), free_port(), free_port()
        self.address = f"https://127.0.0.1:{port}"
        self.kubeconfig = folder / "kubeconfig"
        self._folder, self._processes = folder, list[subprocess.Popen[bytes]]()
        folder.mkdir(parents=True, exist_ok=True)
        key = folder / "accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        (folder / "tokens.csv").write_text(f"{TOKEN},admin,1,system:masters\n")
        here = "http://127.0.0.1"
        self._commands = {
            "etcd": [
                f"--data-dir={folder / 'etcd'}",
                f"--listen-client-urls={here}:{store}",
                f"--advertise-client-urls={here}:{store}",
                f"--listen-peer-urls={here}:{peers}",
                f"--initial-advertise-peer-urls={here}:{peers}",
                f"--initial-cluster=default={here}:{peers}",
            ],
            "kube-apiserver": [
                f"--etcd-servers={here}:{store}",
                f"--cert-dir={folder / 'certificates'}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                "--service-account-issuer=https://localhost",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--authorization-mode=RBAC",
                f"--token-auth-file={folder / 'tokens.csv'}",
                # A controller would make the accounts
                "--disable-admission-plugins=ServiceAccount",
            ],
        }
        cluster = {"server": self.address, "insecure-skip-tls-verify": True}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def start(self) -> None:
        """Start both, and make the custom kinds known. Raises RuntimeError with a log's end."""
        for name, words in self._commands.items():
            with (self._folder / f"{name}.log").open("wb") as log:
                self._processes.append(
                    subprocess.Popen([FOLDER / name, *words], stdout=log, stderr=log)
                )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline or any(
                each.poll() is not None for each in self._processes
            ):
                log = (self._folder / "kube-apiserver.log").read_text(errors="replace")
                raise RuntimeError(f"the control plane did not come up:\n{log[-3000:]}")
            time.sleep(0.2)
        kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for path in sorted(CRDS.iterdir()):
            self.ask(kinds, yaml.safe_load(path.read_text(encoding="utf-8")))

    def _is_ready(self) -> bool:
        try:
            self.ask("/api/v1/namespaces/default")
            return self.ask("/readyz") == "ok"
        except (OSError, RuntimeError):
            return False

    def ask(self, path: str, given: Any = None) -> Any:
        """An answer, as JSON where it is; with `given`, which is created. Raises RuntimeError."""
        data = None if given is None else json.dumps(given).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}{path}", data, headers)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:2000]}") from error
        return json.loads(text) if text.startswith("{") else text

    def stop(self) -> None:
        """End both."""
        for process in reversed(self._processes):
            process.kill()
            process.wait(20)
