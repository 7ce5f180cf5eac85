"""docker/kubernetes/: valid for Kubernetes' schemas, and its container runs as it is described."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.image.container import Runner
from tests.image.engine import ROOT

FILES = sorted((ROOT / "docker" / "kubernetes").glob("*.yaml"))
VERSIONS = ("1.29", str(kubernetes_validate.latest_version()))


def documents(path: Path) -> dict[str, Any]:
    """What the file describes, by kind."""
    return {document["kind"]: document for document in yaml.safe_load_all(path.read_text())}


def test_there_are_files() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_document_is_valid(path: Path, version: str) -> None:
    for document in documents(path).values():
        kubernetes_validate.validate(document, version, strict=True)


def test_an_unknown_field_would_be_found() -> None:
    service = documents(FILES[0])["Service"]
    service["spec"]["portz"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(service, VERSIONS[-1], strict=True)


def test_names_agree_among_the_documents() -> None:
    found = documents(FILES[0])
    workload, service = found["StatefulSet"]["spec"], found["Service"]
    labels = workload["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == workload["selector"]["matchLabels"] == labels
    assert workload["serviceName"] == service["metadata"]["name"]
    pod = workload["template"]["spec"]
    volumes = {volume["name"] for volume in pod["volumes"] + [
        claim["metadata"] for claim in workload["volumeClaimTemplates"]]}  # fmt: skip
    assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == volumes


def test_its_container_runs_and_its_probes_succeed(run: Runner, tmp_path: Path) -> None:
    """The pod's security context, mounts and words, as docker's options."""
    found = documents(FILES[0])
    pod = found["StatefulSet"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    places = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    files = {"configuration": found["ConfigMap"]["data"], "password": {"password": "a"}}
    mounts = []
    for volume, texts in files.items():
        folder = tmp_path / volume
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text)
        mounts += ["-v", f"{folder}:{places[volume]}:ro"]
    tmp_path.chmod(0o755)
    for variable in container["env"]:
        mounts += ["-e", f"{variable['name']}={variable['value']}"]
    user = pod["securityContext"]["runAsUser"]
    options = ("--read-only", "--cap-drop", "ALL", "--user", f"{user}:{user}", *mounts)
    with run(*container["args"], options=options) as running:
        running.until_ready("--no-auth-warning", "-a", "a")
        assert running.cli("ping").startswith("NOAUTH")
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            checked = running.run(*container[probe]["exec"]["command"])
            assert checked.returncode == 0, checked.stderr
