"""docker-compose.yml, systemd units and Kubernetes manifests: valid, complete, and alike in what they run."""

import re
import shutil
import subprocess
from configparser import ConfigParser
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.urls import reverse

from idcsched.settings import ENVIRONMENT
from tests.architecture.repository import ROOT
from tests.deploy.compose import DOCKERFILE, FILE, OWN, composed, image_command
from tests.docs.pages import blocks, page, section

UNITS = ROOT / "deploy" / "systemd"
MANIFESTS = ROOT / "deploy" / "kubernetes"
KNOWN = {variable.name for variable in ENVIRONMENT.declared}
TLS = FILE.with_name("docker-compose.tls.yml")
COPIED = re.compile(r"^COPY (?!--from)(.*)$", re.MULTILINE)
OF_THE_IMAGE = {"PYTHONUNBUFFERED", "MALLOC_ARENA_MAX"}


def words(name: str) -> list[str]:
    """Return the command of a service of docker-compose.yml, or the image's if it has none."""
    command: list[str] = composed()["services"][name].get("command") or image_command()
    return command


def objects() -> list[dict[str, Any]]:
    documents = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(MANIFESTS.glob("*.yaml"))]
    return [each for document in documents for each in document.get("items", [document])]


def pods() -> dict[str, dict[str, Any]]:
    """Return the specification of each pod by its name, without the product's."""
    return {
        each["metadata"]["name"].removeprefix("idcsched-"): each["spec"]["template"]["spec"]
        for each in objects()
        if each["kind"] in ("Deployment", "Job")
    }


@pytest.mark.parametrize("name", composed()["services"])
def test_every_reference_of_a_service_resolves(name: str) -> None:
    document, added = composed(), composed(TLS)
    service = document["services"][name]
    extra = added["services"].get(name, {})
    for part in ("secrets", "volumes"):
        document[part] |= added.get(part) or {}
    assert set(service.get("depends_on", ())) <= {*document["services"]}
    assert {*service.get("secrets", ()), *extra.get("secrets", ())} <= {*document["secrets"]}
    for mount in (*service.get("volumes", ()), *extra.get("volumes", ())):
        source = mount.partition(":")[0]
        made_by_hand = source.startswith("./secrets/")
        assert source in document["volumes"] or made_by_hand or (ROOT / source).exists(), source
    for value in service.get("environment", {}).values():
        if value.startswith("/run/secrets/"):
            assert Path(value).name in service["secrets"]


def test_every_secret_is_made_on_the_page() -> None:
    text = "\n".join(blocks(page("deploying.md"), "bash"))
    files = [each["file"] for file in (FILE, TLS) for each in composed(file)["secrets"].values()]
    assert not [file for file in files if file.removeprefix("./") not in text]


@pytest.mark.parametrize("requirements", ["base", "traces"])
def test_the_image_is_given_the_files_that_it_copies(requirements: str) -> None:
    text = DOCKERFILE.read_text(encoding="utf-8").replace("${REQUIREMENTS}", requirements)
    copied = {file for files in COPIED.findall(text) for file in files.split()[:-1]}
    excluded, *let_through = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert excluded == "*"
    assert copied
    assert not {file for file in copied if not any(fnmatch(file, pattern.removeprefix("!")) for pattern in let_through)}
    assert all((ROOT / file).exists() for file in copied)


@pytest.mark.parametrize("name", composed()["services"])
def test_containers_can_do_little(name: str) -> None:
    service = composed()["services"][name]
    assert service["read_only"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["deploy"]["resources"]["limits"]["memory"]
    assert name in ("postgresql", "redis") or service["cap_drop"] == ["ALL"]


def test_variables_are_settings() -> None:
    names = {*composed()["services"]["web"]["environment"]}
    names |= {*next(each for each in objects() if each["kind"] == "ConfigMap")["data"]}
    names |= {each["name"] for pod in pods().values() for each in pod["containers"][0]["env"]} - {"HOSTS", "POD_IP"}
    assert not {name for name in names if name.removesuffix("_FILE") not in KNOWN} - OF_THE_IMAGE


@pytest.mark.parametrize("name", [*OWN, "migrate"])
def test_every_setting_can_be_written_into_the_file_of_variables(name: str) -> None:
    """Every setting can be written there, except those by which the services find each other."""
    tried = {variable: f"{variable.lower()}-as-written" for variable in KNOWN}
    service = composed(variables=tried)["services"][name]
    fixed = {variable for variable, value in service["environment"].items() if tried.get(variable, value) not in value}
    assert service["env_file"] == [{"path": ".env", "required": False}]
    assert fixed <= {"REDIS_URL", "PORT"}


def unit(name: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None, delimiters="=", strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNITS / name, encoding="utf-8")
    return parser


@pytest.mark.parametrize("name", [*OWN, "upgrade"])
def test_units_run_what_the_services_run(name: str) -> None:
    program, *arguments = unit(f"idcsched-{name}.service")["Service"]["ExecStart"].replace("%%", "%").split()
    wanted = words(name if name in OWN else "migrate")
    assert program == f"/opt/idcsched/.venv/bin/{wanted[0]}"
    assert arguments == [word.replace("0.0.0.0", "127.0.0.1") for word in wanted[1:]]


def test_the_target_starts_every_unit() -> None:
    assert unit("idcsched.target")["Unit"]["Wants"].split() == [f"idcsched-{name}.service" for name in OWN]
    assert all(unit(f"idcsched-{name}.service")["Unit"]["PartOf"] == "idcsched.target" for name in OWN)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """systemd accepts the units in a folder that has what a reader of the page would have installed."""
    shutil.copytree("/usr/lib/systemd/system", tmp_path / "usr" / "lib" / "systemd" / "system", symlinks=True)
    (tmp_path / "lib").symlink_to("usr/lib")
    shutil.copytree(UNITS, tmp_path / "etc" / "systemd" / "system")
    for program in ("opt/idcsched/.venv/bin/python", "opt/idcsched/.venv/bin/celery", "bin/sh"):
        file = tmp_path / program
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n", encoding="ascii")
        file.chmod(0o755)
    names = [file.name for file in UNITS.glob("idcsched*.*") if file.is_file()]
    command = ["systemd-analyze", "verify", "--man=no", f"--root={tmp_path}", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("document", objects(), ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_kubernetes_takes_the_manifests(document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in objects() if each["kind"] == kind}


@pytest.mark.parametrize("part", pods())
def test_every_reference_of_a_pod_resolves(part: str) -> None:
    pod, made = pods()[part], section(page("deploying.md"), "On Kubernetes")
    (container,) = pod["containers"]
    assert {each["configMapRef"]["name"] for each in container["envFrom"]} <= {*named("ConfigMap")}
    for secret in (each["secret"] for each in pod["volumes"] if "secret" in each):
        assert secret.get("optional") or f"create secret generic {secret['secretName']} " in made
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    files = [Path(each["value"]) for each in container["env"] if each["name"].endswith("_FILE")]
    assert {str(file.parent) for file in files} == {mounts["secrets"]}
    ports = {each["containerPort"] for each in container.get("ports", ())}
    probes = [container[each] for each in ("startupProbe", "readinessProbe", "livenessProbe") if each in container]
    assert {each["httpGet"]["port"] for each in probes} <= ports


def test_what_leads_to_the_pods_finds_them() -> None:
    labels = {
        name: each["spec"]["template"]["metadata"]["labels"] for name, each in named("Deployment").items()
    }  # fmt: skip
    for name, deployment in named("Deployment").items():
        wanted = deployment["spec"]["selector"]["matchLabels"]
        assert [other for other in labels if wanted.items() <= labels[other].items()] == [name]
    service = named("Service")["idcsched"]
    (budget,) = named("PodDisruptionBudget").values()
    for wanted in (service["spec"]["selector"], budget["spec"]["selector"]["matchLabels"]):
        assert [name for name in labels if wanted.items() <= labels[name].items()] == ["idcsched-web"]
    (port,) = service["spec"]["ports"]
    assert {"containerPort": port["targetPort"]} in pods()["web"]["containers"][0]["ports"]
    (ingress,) = named("Ingress").values()
    (rule,) = ingress["spec"]["rules"]
    for path in rule["http"]["paths"]:
        led_to = path["backend"]["service"]
        assert led_to["port"]["name"] in [each["name"] for each in named("Service")[led_to["name"]]["spec"]["ports"]]
    assert led_to_from(rule, "/api/v1/schedule/") == led_to_from(rule, "/health/live/") == "idcsched"
    (tls,) = ingress["spec"]["tls"]
    assert tls["hosts"] == [rule["host"]]
    assert f"create secret tls {tls['secretName']} " in section(page("deploying.md"), "On Kubernetes")
    assert rule["host"] in named("ConfigMap")["idcsched"]["data"]["ALLOWED_HOSTS"].split(",")


def led_to_from(rule: dict[str, Any], path: str) -> str:
    """The service that an Ingress leads a path to: an exact rule goes first, then the longest prefix."""
    exact = [each for each in rule["http"]["paths"] if (each["pathType"], each["path"]) == ("Exact", path)]
    prefixes = [
        each for each in rule["http"]["paths"] if each["pathType"] == "Prefix" and path.startswith(each["path"])
    ]
    name: str = (exact or sorted(prefixes, key=lambda each: -len(each["path"])))[0]["backend"]["service"]["name"]
    return name


@pytest.mark.parametrize("page", ["metrics", "ready"])
def test_what_is_private_leads_to_no_pod(page: str) -> None:
    """A service that selects no pods and has no endpoints of its own has nobody who could answer."""
    (ingress,) = named("Ingress").values()
    (rule,) = ingress["spec"]["rules"]
    nobody = led_to_from(rule, reverse(page))

    assert "selector" not in named("Service")[nobody]["spec"]
    assert not [each for each in objects() if each["kind"] in ("Endpoints", "EndpointSlice")]


@pytest.mark.parametrize("name", [*OWN, "upgrade"])
def test_pods_run_what_the_services_run(name: str) -> None:
    (container,) = pods()[name]["containers"]
    assert container.get("args", image_command()) == words(name if name in OWN else "migrate")
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in pods()[name]["volumes"]}


def test_all_pods_are_alike_but_for_their_command() -> None:
    """The job has a file of its own, which can't share the parts that the others share."""
    own = {"name", "args", "resources", "ports", "startupProbe", "readinessProbe", "livenessProbe", "lifecycle"}

    def rest(pod: dict[str, Any]) -> Any:
        shared = {key: value for key, value in pod.items() if key in ("volumes", "securityContext")}
        return shared | {key: value for key, value in pod["containers"][0].items() if key not in own}

    first, *others = pods().values()
    assert all(rest(other) == rest(first) for other in others)


def test_the_pages_secrets_are_those_of_the_manifests() -> None:
    text = section(page("deploying.md"), "On Kubernetes")
    files = [each["value"] for each in pods()["web"]["containers"][0]["env"] if each["name"].endswith("_FILE")]
    assert files
    assert not [file for file in files if f"--from-file {Path(file).name}" not in text]
