"""Writes the schemas of the kinds that the chart uses, from Kubernetes' OpenAPI.

python deploy/helm/kinds.py FOLDER CRDS: the folder of the Go module k8s.io/kubernetes (Apache-2.0),
and that of the definitions of custom kinds, which `make control-plane` brings.
Keys that a kind does not have are errors. Descriptions are left out.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

KINDS = {
    "deployment-apps-v1": "apps.v1.Deployment",
    "cronjob-batch-v1": "batch.v1.CronJob",
    "configmap-v1": "core.v1.ConfigMap",
    "service-v1": "core.v1.Service",
    "serviceaccount-v1": "core.v1.ServiceAccount",
    "poddisruptionbudget-policy-v1": "policy.v1.PodDisruptionBudget",
    "networkpolicy-networking-v1": "networking.v1.NetworkPolicy",
}
SHARED = "_definitions.json"
CUSTOM = {  # kind: the file of its definition
    "flinkdeployment-flink-v1beta1": "flinkdeployments.yaml",
    "servicemonitor-monitoring-v1": "servicemonitors.yaml",
    "prometheusrule-monitoring-v1": "prometheusrules.yaml",
}
KEPT = ("type", "items", "required", "enum", "additionalProperties")
EITHER = {"IntOrString": ["string", "integer"], "Quantity": ["string", "number"]}


class Definitions:
    """The definitions that are reached from some kinds, as JSON Schema."""

    def __init__(self, source: dict[str, Any]):
        self._source = source
        self.found: dict[str, Any] = {}

    def reference(self, name: str) -> dict[str, str]:
        """Take a definition in, with all that it needs, and return a reference to it."""
        if name not in self.found:
            self.found[name] = {}
            kinds = EITHER.get(name.rsplit(".", 1)[1])
            made = {"type": kinds} if kinds else self._plain(self._source[name])
            self.found[name] = made | (
                {"additionalProperties": False} if "properties" in made else {}
            )
        return {"$ref": f"{SHARED}#/definitions/{name}"}

    def _plain(self, schema: Any) -> Any:
        """A schema without what is not checked."""
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            return self.reference(schema["$ref"].rsplit("/", 1)[1])
        kept = {key: self._plain(value) for key, value in schema.items() if key in KEPT}
        if "properties" in schema:
            properties = schema["properties"].items()
            kept["properties"] = {key: self._plain(value) for key, value in properties}
        return kept


def custom(schema: Any, definitions: Definitions, name: str = "") -> Any:
    """A custom kind's schema without what is not checked; keys that it does not have are errors."""
    if name == "podTemplate":
        return definitions.reference("io.k8s.api.core.v1.PodTemplateSpec")
    if name == "metadata" and "properties" not in schema:
        return definitions.reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
    kinds = ["string", "integer"] if schema.get("x-kubernetes-int-or-string") else None
    kept = {key: schema[key] for key in KEPT if key in schema} | ({"type": kinds} if kinds else {})
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = custom(kept[key], definitions)
    if "properties" in schema:
        parts = schema["properties"].items()
        kept["properties"] = {key: custom(part, definitions, key) for key, part in parts}
        kept["additionalProperties"] = False
    return kept


def main(module: Path, crds: Path, folder: Path) -> None:
    """Write the schemas."""
    openapi = (module / "api" / "openapi-spec" / "swagger.json").read_text(encoding="utf-8")
    definitions = Definitions(json.loads(openapi)["definitions"])
    for name, kind in KINDS.items():
        reference = definitions.reference(f"io.k8s.api.{kind}")
        (folder / f"{name}.json").write_text(json.dumps(reference) + "\n", encoding="utf-8")
    for name, file in CUSTOM.items():
        [version] = yaml.safe_load((crds / file).read_text(encoding="utf-8"))["spec"]["versions"]
        made = custom(version["schema"]["openAPIV3Schema"], definitions)
        made["properties"] |= {key: {"type": "string"} for key in ("apiVersion", "kind")}
        made["properties"] |= {"metadata": custom({}, definitions, "metadata")}
        text = json.dumps(made, separators=(",", ":"))
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    shared = {"definitions": dict(sorted(definitions.found.items()))}
    (folder / SHARED).write_text(json.dumps(shared, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(__file__).parent / "schemas")
